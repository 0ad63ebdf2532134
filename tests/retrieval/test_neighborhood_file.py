"""CSLS means beside aligned files: the same answers sooner, and never of other vectors."""

import shutil
import warnings

import numpy as np
import pytest
from safetensors.numpy import save

from geomm_plugin import (
    CSLS,
    Embeddings,
    SharedSpace,
    read_embeddings,
    read_space,
    write_embeddings,
    write_space,
)
from geomm_plugin.alignment import check
from geomm_plugin.errors import ParameterError
from geomm_plugin.files import disk
from geomm_plugin.files.stamps import sha256_of_arrays
from geomm_plugin.files.trust import read_arrays
from geomm_plugin.formats import read_languages
from geomm_plugin.normalize import unit
from geomm_plugin.retrieval.exact.neighborhood import NeighborhoodBias
from geomm_plugin.retrieval.neighborhood_file import FORMAT, SUFFIX, neighborhoods_path

SIZES = {"en": 120, "es": 90, "it": 70}


def vectors(seed, count):
    return unit(np.random.default_rng(seed).standard_normal((count, 12))).astype(np.float32)


def space_of(folder, suffix=".safetensors", languages=SIZES, **options):
    paths = {language: folder / f"{language}{suffix}" for language in languages}
    return SharedSpace(read_languages(paths, **options))


@pytest.fixture
def folder(tmp_path):
    """Three aligned files, with their neighbourhoods."""
    folder = tmp_path / "aligned"
    folder.mkdir()
    for seed, (language, count) in enumerate(SIZES.items()):
        words = [f"{language}{number}" for number in range(count)]
        embeddings = Embeddings(words, vectors(seed, count))
        write_embeddings(embeddings, folder / f"{language}.safetensors")
    space_of(folder).save_neighborhoods()
    return folder


@pytest.fixture
def only_saved(monkeypatch):
    """Fail where a mean is computed."""

    def refuse(*_):
        raise AssertionError("a mean was computed that is saved")

    for name in ("compute", "bound", "_bound_near"):
        monkeypatch.setattr(NeighborhoodBias, name, refuse)


def answers(space, k=10):
    return [
        space.translate([f"{source}{n}" for n in range(9)], source, target, 5, CSLS(k=k))
        for source in space
        for target in space
        if source != target
    ]


def computed_answers(folder, **options):
    """Return what a space in memory answers, which has no file."""
    read = space_of(folder, **options)
    return answers(SharedSpace({name: (e.words, np.array(e.vectors)) for name, e in read.items()}))


def test_answers_are_the_same_bit_for_bit(folder, only_saved, monkeypatch):
    saved = answers(space_of(folder))
    gold = [np.array([n]) for n in range(9)]
    space = space_of(folder)
    ranks = space.index("en", "es").ranks(space.queries([f"en{n}" for n in range(9)], "en"), gold)
    monkeypatch.undo()
    assert saved == computed_answers(folder)
    x, z = (np.array(space[language].vectors) for language in ("en", "es"))
    assert np.array_equal(ranks, CSLS().index(x, z).ranks(x[:9], gold))


def test_they_are_found_after_a_move_and_in_another_format(folder, only_saved, tmp_path):
    expected = answers(space_of(folder))
    moved = shutil.copytree(folder, tmp_path / "moved")
    assert answers(space_of(moved)) == expected
    for language in SIZES:
        vec = moved / f"{language}.vec"
        write_embeddings(read_embeddings(moved / f"{language}.safetensors"), vec)
        neighborhoods_path(moved / f"{language}.safetensors").rename(neighborhoods_path(vec))
    assert answers(space_of(moved, ".vec")) == expected


@pytest.mark.parametrize("changed", ["en", "es"])
def test_means_of_other_vectors_are_not_used(folder, changed):
    words = read_embeddings(folder / f"{changed}.safetensors").words
    other = Embeddings(words, vectors(17, len(words)))
    write_embeddings(other, folder / f"{changed}.safetensors")
    with pytest.warns(UserWarning, match="computed from other vectors"):
        found = answers(space_of(folder))
    assert found == computed_answers(folder)


def test_fewer_words_and_another_k_are_computed(folder):
    with pytest.warns(UserWarning, match="other vectors"):
        found = answers(space_of(folder, max_words=60))
    assert found == computed_answers(folder, max_words=60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert answers(space_of(folder), k=3) != answers(space_of(folder))


def test_vectors_changed_in_memory_are_noticed(folder):
    space = space_of(folder)
    read = space["es"]
    changed = Embeddings(read.words, read.vectors[::-1].copy())
    changed.file = read.file
    with pytest.warns(UserWarning, match="other vectors"):
        found = SharedSpace({"en": space["en"], "es": changed}).translate("en1", "en", "es")
    fresh = SharedSpace({"en": space["en"], "es": (read.words, read.vectors[::-1].copy())})
    assert found == fresh.translate("en1", "en", "es")


def rewrite(path, change):
    """Write the file again as somebody else would, with a checksum that fits."""
    _, arrays = read_arrays(path)
    arrays = {name: change(array) for name, array in arrays.items()}
    path.write_bytes(save(arrays, {"format": f"{FORMAT} {sha256_of_arrays(arrays)}"}))


def flip(path):
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)


def link_out(path):
    elsewhere = path.parent.parent / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


DAMAGES = {
    "flipped bit": flip,
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:-20]),
    "empty": lambda path: path.write_bytes(b""),
    "text": lambda path: path.write_text("r_S"),
    "float32": lambda path: rewrite(path, lambda array: array.astype(np.float32)),
    "not finite": lambda path: rewrite(path, lambda array: array * np.nan),
    "no cosines": lambda path: rewrite(path, lambda array: array + 1.5),
    "tables": lambda path: rewrite(path, lambda array: array[:, None]),
    "another format": lambda path: path.write_bytes(save({"x": np.zeros(3)}, {"format": "mine"})),
    "too large": lambda path: path.write_bytes(b"0" * 2_000_000),
    "a link": link_out,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_file_that_cannot_be_trusted_is_ignored_with_a_warning(folder, damage):
    for language in SIZES:
        DAMAGES[damage](neighborhoods_path(folder / f"{language}.safetensors"))
    with pytest.warns(UserWarning, match="goes on without it"):
        found = answers(space_of(folder))
    assert found == computed_answers(folder)


def test_means_of_too_few_words_are_not_used(folder):
    rewrite(neighborhoods_path(folder / "es.safetensors"), lambda array: array[:-1])
    assert answers(space_of(folder)) == computed_answers(folder)


def test_there_must_be_a_file_and_another_language(folder):
    space = space_of(folder)
    with pytest.raises(ParameterError, match="at least two languages"):
        SharedSpace({"en": space["en"]}).save_neighborhoods()
    in_memory = SharedSpace({"en": space["en"], "es": (["a"], vectors(0, 1))})
    with pytest.raises(ParameterError, match="vectors of es were not read from a file"):
        in_memory.save_neighborhoods()


def test_means_that_are_there_are_not_computed_again(folder, monkeypatch):
    from geomm_plugin.retrieval import both_ways

    monkeypatch.setattr(both_ways, "neighborhoods", None)
    assert len(space_of(folder).save_neighborhoods()) == 3
    with pytest.raises(TypeError):
        space_of(folder).save_neighborhoods(k=3)
    flip(neighborhoods_path(folder / "es.safetensors"))
    with pytest.raises(TypeError):
        space_of(folder).save_neighborhoods()


def test_links_are_replaced_and_not_followed(folder, tmp_path):
    (tmp_path / "mine").write_text("mine")
    places = {
        "en": folder / "en.safetensors",
        "es": folder / "it.safetensors",
        "it": tmp_path / "mine",
    }
    before = {path: path.read_bytes() for path in places.values()}
    for language, place in places.items():
        neighborhoods_path(folder / f"{language}.safetensors").unlink()
        neighborhoods_path(folder / f"{language}.safetensors").symlink_to(place)
    for path in space_of(folder).save_neighborhoods():
        assert path.is_file() and not path.is_symlink()
    assert {path: path.read_bytes() for path in places.values()} == before


def test_means_that_another_user_put_there_are_not_used(folder, monkeypatch):
    for language in SIZES:
        path = neighborhoods_path(folder / f"{language}.safetensors")
        rewrite(path, lambda array: -array)  # hashes and checksum fit, the numbers are wrong
    owner_of = disk.owner_of
    monkeypatch.setattr(disk, "owner_of", lambda path: owner_of(path) + (path.suffix == SUFFIX))
    with pytest.warns(UserWarning, match="belongs to another user"):
        found = answers(space_of(folder))
    assert found == computed_answers(folder)


def test_a_file_whose_name_is_as_long_as_can_be_is_searched(folder):
    long = folder / ("x" * 243 + ".safetensors")
    (folder / "es.safetensors").rename(long)
    space = SharedSpace(read_languages({"en": folder / "en.safetensors", "es": long}))
    assert len(space.translate(["en1"], "en", "es", 5)[0]) == 5
    with pytest.raises(OSError, match="File name too long"):
        space.save_neighborhoods()


def test_a_file_of_several_languages_has_one_with_all_means(folder, only_saved, tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "space.parquet"
    write_space(space_of(folder), path)
    with pytest.raises(AssertionError, match="a mean was computed that is saved"):
        answers(read_space(path))
    assert read_space(path).save_neighborhoods() == [neighborhoods_path(path)]
    assert answers(read_space(path)) == answers(space_of(folder))
    assert read_space(path).save_neighborhoods() == [neighborhoods_path(path)]
    assert [finding.problem for finding in check(path)] == [None]
