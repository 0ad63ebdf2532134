"""A folder that align() wrote is one argument: a space, and a mapper."""

import json
import shutil

import numpy as np
import pytest
from click.testing import CliRunner

from geomm_plugin import align, formats, load_mapper, read_embeddings, read_space, save_mapper
from geomm_plugin.alignment import aligned_space
from geomm_plugin.alignment import space as space_module
from geomm_plugin.cli import forms, group
from geomm_plugin.errors import FileError, LanguagesError, UnknownNameError
from geomm_plugin.files import disk
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


def made(folder, seed=0):
    """Align languages whose mapper tells of the same seed as its vectors."""
    toy = make_toy(words=30, dimension=3, seed=seed)
    align(toy.embeddings, toy.dictionaries, "procrustes", output=folder)
    mapper = load_mapper(folder)
    mapper.reranking_ = {("en", "es"): {"letters": float(seed)}}
    save_mapper(mapper, folder / "mapper")
    return np.asarray(read_embeddings(folder / "en.vec").vectors).tobytes()


def test_vectors_and_weights_are_of_one_version(tmp_path, monkeypatch):
    made(tmp_path / "new", seed=1)
    expected = made(tmp_path / "aligned"), made(tmp_path / "new", seed=1)

    def replaced_once(*arguments, **settings):
        monkeypatch.undo()
        read = formats.read_languages(*arguments, **settings)
        for name in ("mapper", "en.vec", "es.vec", "align.json"):  # as a run does
            replace(tmp_path / "new" / name, tmp_path / "aligned" / name)
        return read

    monkeypatch.setattr(space_module, "read_languages", replaced_once)
    space = read_space(tmp_path / "aligned")
    seed = space.reranking["en", "es"]["letters"]
    assert np.asarray(space["en"].vectors).tobytes() == expected[int(seed)]


def replace(new, old):
    if old.is_dir():
        shutil.rmtree(old)
    new.replace(old)


def test_commands_take_the_weights_of_that_folder_and_of_no_other(tmp_path, monkeypatch):
    """Not those beside the folder that the command is run in."""
    (tmp_path / "here").mkdir()
    made(tmp_path / "here" / "aligned", seed=2)
    made(tmp_path, seed=3)
    monkeypatch.chdir(tmp_path / "here")
    files = forms.language_files(["aligned"])
    assert aligned_space(formats.read_languages(files)).reranking["en", "es"] == {"letters": 2.0}


def test_files_replaced_before_their_weights_are_read_are_a_sentence(tmp_path):
    made(tmp_path / "aligned")
    read = formats.read_languages({name: tmp_path / f"aligned/{name}.vec" for name in ("en", "es")})
    made(tmp_path / "aligned", seed=1)
    with pytest.raises(FileError, match="replaced while they were read"):
        aligned_space(read)


def test_weights_of_another_user_are_not_used(tmp_path, monkeypatch):
    made(tmp_path / "aligned", seed=2)
    owner_of = disk.owner_of
    monkeypatch.setattr(disk, "owner_of", lambda path: owner_of(path) + ("mapper" in path.parts))
    read = formats.read_languages({name: tmp_path / f"aligned/{name}.vec" for name in ("en", "es")})
    with pytest.warns(UserWarning, match="belongs to another user"):
        assert aligned_space(read).reranking == {}
