"""Dictionaries, similarity lists, analogies, word lists and rows of scores."""

import gzip
import json
import math
import re
from pathlib import Path

import pytest
from hostile import answer, anything, changed_json, fuzzed
from hypothesis import given
from hypothesis import strategies as st

from geomm_plugin import read_dictionary
from geomm_plugin.alignment.inputs import read_words
from geomm_plugin.cli.plot import _read_rows
from geomm_plugin.errors import GeommError
from geomm_plugin.evaluation.analogy import read_analogies
from geomm_plugin.evaluation.similarity import read_similarity
from geomm_plugin.views.plots import plot_scores

PAIRS = "dog perro\ncat\tgato\nthe el\nnaïve ingenuo\n日本\tJapón\n\nice cream\thelado\n".encode()
SCORES = b"dog\tperro\t4.5\ncat gato 3\nsun luna -1.5e0\n"
QUESTIONS = b": capitals\nAthens Greece Oslo Norway\nBern Swiss Cairo Egypt\n: more\na b c d\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("lists")


def check_line(found, content):
    """A text that is refused is refused for a line, which is named and is there."""
    if isinstance(found, GeommError) and "empty" not in str(found):
        (number,) = re.findall(r"line (\d+)", str(found))
        assert 1 <= int(number) <= content.count(b"\n") + 1


@fuzzed(60)
@given(content=anything(PAIRS))
def test_dictionaries(folder, content):
    path = folder / "hostile.txt"
    path.write_bytes(content)
    found = answer(lambda: read_dictionary(path), path)
    check_line(found, content)
    if isinstance(found, GeommError):
        return
    text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    lines = [line for line in text.split("\n") if line.strip()]
    assert len(found) == len(lines)
    for (source, target), line in zip(found, lines, strict=True):
        assert source and target and source != "\ufeff"
        assert re.sub("[ \t\r]+", " ", line).strip(" ").replace(" ", "") == re.sub(
            "[ \t\r]+", "", source + target
        )


@fuzzed(60)
@given(content=anything(gzip.compress(PAIRS)))
def test_compressed_dictionaries(folder, content):
    path = folder / "hostile.txt.gz"
    path.write_bytes(content)
    found = answer(lambda: read_dictionary(path), path)
    assert isinstance(found, GeommError) or all(len(pair) == 2 for pair in found)


@fuzzed(50)
@given(content=anything(SCORES))
def test_similarity_lists(folder, content):
    path = folder / "similarity.txt"
    path.write_bytes(content)
    found = answer(lambda: read_similarity(path), path)
    check_line(found, content)
    if not isinstance(found, GeommError):
        assert all(math.isfinite(score) for _, _, score in found)


@fuzzed(50)
@given(content=anything(QUESTIONS))
def test_analogies(folder, content):
    path = folder / "analogies.txt"
    path.write_bytes(content)
    found = answer(lambda: read_analogies(path), path)
    check_line(found, content)
    if not isinstance(found, GeommError):
        assert all(len(question) == 4 for part in found.values() for question in part)


@fuzzed(60)
@given(content=anything(b"dog\ncat\n\xff\n"))
def test_word_lists(folder, content):
    path = folder / "words.txt"
    path.write_bytes(content)
    found = answer(lambda: read_words(path), path)
    assert isinstance(found, GeommError) or all(found)


ROWS = [
    {"mapper": mapper, "pair": pair, "retrieval": "csls", "p@1": 0.5, "p@1_low": 0.4}
    for mapper in ("geomm", "procrustes")
    for pair in ("en-es", "es-en")
]


@fuzzed(25, share=0.3)
@given(data=st.data())
def test_rows_of_scores(folder, data):
    pytest.importorskip("matplotlib")
    text = json.dumps(ROWS).encode()
    path = Path(folder / "rows.json")
    if data.draw(st.booleans()):
        path.write_bytes(json.dumps(data.draw(changed_json(ROWS))).encode())
    else:
        path.write_bytes(data.draw(anything(text)))
    found = answer(lambda: _read_rows(path), path)
    if not isinstance(found, GeommError):
        answer(lambda: plot_scores(found), "")
