"""A folder that align() wrote is one argument: a space, and a mapper."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from geomm_plugin import align, load_mapper, read_embeddings, read_space
from geomm_plugin.cli import group
from geomm_plugin.errors import LanguagesError, UnknownNameError
from geomm_plugin.testing import make_toy


@pytest.fixture(scope="module")
def toys():
    toy = make_toy(("en", "es.x"))
    return toy.embeddings, toy.dictionaries


@pytest.fixture(scope="module", params=[".vec", ".vec.gz", ".safetensors"])
def aligned(request, tmp_path_factory, toys):
    embeddings, dictionaries = toys
    output = tmp_path_factory.mktemp("aligned")
    align(embeddings, dictionaries, "procrustes", output=output, suffix=request.param)
    return output


def test_the_folder_is_the_space(aligned):
    space = read_space(aligned)
    assert set(space) == {"en", "es.x"}
    for language in space:
        (file,) = aligned.glob(f"{language}.[vs]*")
        expected = read_embeddings(file)
        assert space[language].words == expected.words
        assert np.array_equal(space[language].vectors, expected.vectors)
    assert list(read_space(aligned, ["en"], max_words=5)) == ["en"]
    with pytest.raises(UnknownNameError, match="holds no language 'de'"):
        read_space(aligned, ["de"])


def test_the_folder_is_the_mapper(aligned):
    mapper = load_mapper(aligned)
    assert np.array_equal(mapper.W("en", "es.x"), load_mapper(aligned / "mapper").W("en", "es.x"))


def test_commands_take_the_folder(aligned, toys):
    word = toys[0]["en"].words[3]
    files = [f"{name}={next(aligned.glob(f'{name}.[vs]*'))}" for name in ("en", "es.x")]
    answers = [
        json.loads(CliRunner().invoke(group, [*line, "en-es.x", word, "--json"]).stdout)
        for line in (["translate", str(aligned)], ["translate", *files])
    ]
    assert answers[0] == answers[1]


def test_what_names_no_languages_is_told(tmp_path):
    (tmp_path / "x.vec").write_text("1 1\na 1\n")
    with pytest.raises(LanguagesError, match="does not name the languages"):
        read_space(tmp_path / "x.vec")
