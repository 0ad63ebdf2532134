"""Numberbatch and other text of several languages: each language equals a file of its own."""

import gzip
import warnings

import numpy as np
import pytest
from click.testing import CliRunner

from geomm_adapters import FastTextVec, MultilingualText
from geomm_plugin import Embeddings, SharedSpace, evaluate, read_embeddings, read_space
from geomm_plugin.cli import group
from geomm_plugin.errors import FormatError, ParameterError, UnknownNameError
from geomm_plugin.testing import check_format

WORDS = {
    "de": ["Hund", "Katze"],
    "en": ["0", "cat", "dog", "ice_cream"],
    "en-x": ["other"],
    "zh": ["狗", "猫"],
}


def vector(language, word):
    seed = list(f"{language}{word}".encode())
    return np.random.default_rng(seed).normal(size=5).astype(np.float32)


def text(key="/c/{}/{}", header=True):
    lines = [
        f"{key.format(language, word)} {' '.join(map(str, vector(language, word).tolist()))}\n"
        for language, words in WORDS.items()
        for word in words
    ]
    first = f"{len(lines)} 5\n" if header else ""
    return (first + "".join(lines)).encode()


@pytest.fixture(params=["numberbatch.txt", "numberbatch.txt.gz", "numberbatch.vec"])
def path(request, tmp_path):
    content = text()
    path = tmp_path / request.param
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def same(embeddings, language):
    assert list(embeddings.words) == WORDS[language]
    expected = [vector(language, word) for word in WORDS[language]]
    assert np.array_equal(embeddings.vectors, expected)


def test_each_language_is_read_by_itself(path):
    for language in WORDS:
        same(read_embeddings(path, language=language), language)
    space = read_space(path)
    assert isinstance(space, SharedSpace) and list(space) == list(WORDS)
    same(read_space(path, ["en"])["en"], "en")
    with pytest.raises(FormatError, match="words of several languages. Say which: language='en'"):
        read_embeddings(path)
    with pytest.raises(UnknownNameError, match="no word that begins with '/c/fr/'"):
        read_embeddings(path, language="fr")
    with pytest.warns(UserWarning, match="order of the alphabet"):
        assert list(read_embeddings(path, language="en", max_words=2).words) == WORDS["en"][:2]


def test_files_without_a_header_and_keys_of_another_form(tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes(text(header=False))
    same(read_embeddings(path, language="zh"), "zh")
    path.write_bytes(text("{}:{}"))
    form = MultilingualText(prefix="{}:")
    same(read_embeddings(path, language="en", format=form), "en")
    assert form.languages(path) == list(WORDS)
    with pytest.raises(ParameterError, match="must hold {} once"):
        MultilingualText(prefix="/c/en/")


def test_ordinary_text_is_read_as_before(tmp_path):
    path = tmp_path / "x.vec"
    path.write_bytes(text("{}:{}"))
    assert len(read_embeddings(path)) == 9
    assert not MultilingualText.recognizes(path) and FastTextVec.recognizes(path)
    path.write_bytes(text())
    assert read_embeddings(path, format="vec").words[0] == "/c/de/Hund"


def test_what_is_cut_off_is_refused(tmp_path):
    whole = text()
    path = tmp_path / "x.txt"
    path.write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 1])
    with pytest.raises(FormatError, match="promises 9 words, but the file holds 8"):
        read_embeddings(path, language="en")
    path = tmp_path / "x.txt.gz"
    path.write_bytes(gzip.compress(whole)[:-20])
    with pytest.raises(FormatError):
        read_embeddings(path, language="en")


def test_lines_longer_than_what_is_read_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr("geomm_adapters.text.multilingual_text._CHUNK", 7)
    path = tmp_path / "x.txt"
    path.write_bytes(text()[:-1])  # the last line has no end
    for language in WORDS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            same(read_embeddings(path, language=language, format=MultilingualText()), language)


def test_numberbatch_is_scored_from_python_and_the_command_line(path, tmp_path):
    space = read_space(path, ["en", "de"])
    pairs = [("dog", "Hund"), ("cat", "Katze")]
    scores = evaluate(space, "en", "de", pairs, "cosine")
    (tmp_path / "en-de.tsv").write_text("".join("\t".join(pair) + "\n" for pair in pairs))
    line = ["evaluate", f"en={path}", f"de={path}", "-t", f"en-de={tmp_path / 'en-de.tsv'}"]
    answer = CliRunner().invoke(group, [*line, "-r", "cosine", "--json"])
    assert answer.exit_code == 0, answer.output
    assert f'"mrr": {scores.row()["mrr"]}' in answer.stdout


def test_contract(tmp_path):
    class German(MultilingualText):
        """The German part."""

        def __init__(self):
            super().__init__("de")

    (tmp_path / "sample.txt").write_bytes(text())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_format(German, sample=tmp_path / "sample.txt")


def test_embeddings_are_not_written_so():
    with pytest.raises(FormatError, match="can be read, but not written"):
        MultilingualText("en").write("x", Embeddings(["a"], [[1.0]]))
