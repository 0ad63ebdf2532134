"""Files that belong together are read as one version, while others replace them."""

import hashlib
import os
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

from geomm_adapters.npy_vectors import NpyVectors
from geomm_plugin import Embeddings, align, load_mapper, read_embeddings, write_embeddings
from geomm_plugin.errors import FileError
from geomm_plugin.files.stamps import ATTEMPTS, Stamp, read_one_version, sha256_of, stamp
from geomm_plugin.formats import find_format, read_languages
from geomm_plugin.testing import make_toy


def version(number, words=40):
    """Return embeddings whose words and vectors both tell the same number."""
    names = [f"{number}/{row}" for row in range(words)]
    return Embeddings(names, np.full((words, 4), number, np.float32))


def check(embeddings):
    number = int(embeddings.words[0].split("/")[0])
    assert (np.asarray(embeddings.vectors) == number).all(), "words and vectors of two versions"
    return number


def readers_meet(write, read, rounds=60):
    """Read again and again while another thread writes; return what was read."""
    ended = threading.Event()

    def writing():
        try:
            for number in range(1, rounds):
                if not ended.is_set():
                    write(number)
        finally:
            ended.set()

    write(0)
    thread = threading.Thread(target=writing)
    thread.start()
    seen = set()
    try:
        while not ended.is_set():
            seen.add(read())
    finally:
        ended.set()
        thread.join()
    return seen


def test_an_array_and_its_words(tmp_path):
    path = tmp_path / "x.npy"

    def read():
        try:
            return check(read_embeddings(path))
        except FileError as error:
            # It was away for the moment, or the machine is slow: each says to try again.
            assert "There is no file" in str(error) or "times in a row" in str(error)
            return None

    seen = readers_meet(lambda number: write_embeddings(version(number), path), read)
    assert len(seen) > 2
    assert check(read_embeddings(path)) == 59


def test_what_was_missing_when_the_stamps_were_taken_is_read_again(tmp_path):
    (tmp_path / "a").write_text("old")
    asked, read = [], iter(["half", "whole"])

    def files():
        asked.append(1)
        if len(asked) == 1:
            raise FileError("away for the moment")
        return [tmp_path / "a"]

    assert read_one_version(files, lambda: next(read)) == "whole"


def test_an_array_and_its_words_that_others_replace_one_by_one(tmp_path):
    """Not by this package: two renamings, with anything between them."""
    path, words = tmp_path / "x.npy", tmp_path / "x.vocab"
    read = NpyVectors.read
    write_embeddings(version(0), path)
    write_embeddings(version(1), tmp_path / "new.npy")
    count = 0

    def replaced(self, place, *, max_words=None):
        nonlocal count
        count += 1
        if count == 1:  # the array is the old one, the words are new
            embeddings = read(self, place)
            (tmp_path / "new.npy").replace(path)
            (tmp_path / "new.vocab").replace(words)
            return Embeddings(version(1).words, embeddings.vectors)
        return read(self, place, max_words=max_words)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(NpyVectors, "read", replaced)
        assert check(read_embeddings(path)) == 1
    assert count == 2


@pytest.mark.parametrize(
    "suffix", [".safetensors", ".parquet", ".arrow", ".bin", ".word2vec.bin", ".vec", ".vec.gz"]
)
def test_a_file_that_is_replaced_while_it_is_open(tmp_path, monkeypatch, suffix):
    path, new = tmp_path / f"x{suffix}", tmp_path / f"new{suffix}"
    opened = Path.open

    def replaced(self, *arguments, **options):
        stream = opened(self, *arguments, **options)
        if self == path and new.exists():
            new.replace(path)
        return stream

    form = "fasttext_bin" if suffix == ".bin" else None
    for read in (find_format(path, form, to_write=True).read, read_embeddings):
        write_embeddings(version(0), path, format=form)
        write_embeddings(version(1, 30), new, format=form)
        monkeypatch.setattr(Path, "open", replaced)
        embeddings = read(path)
        monkeypatch.undo()
        assert not new.exists()
        assert len(embeddings) == [40, 30][check(embeddings)]
    assert check(embeddings) == 1, "what was replaced meanwhile is read again"


@pytest.mark.parametrize("what", ["inode", "date", "size"])
def test_another_inode_date_or_size_is_another_version(tmp_path, what):
    path, other = tmp_path / "file", tmp_path / "other"
    for each in (path, other):
        each.write_text("text" if each == path or what != "size" else "longer")
        os.utime(each, ns=(1, 1 + (what == "date" and each == other)))
    before = stamp(path)
    assert stamp(path) == before
    if what == "inode":
        other.replace(path)
    else:
        path.write_text(other.read_text())
        os.utime(path, ns=(1, other.stat().st_mtime_ns))
    changed = {n for n, a, b in zip(Stamp._fields, before, stamp(path), strict=True) if a != b}
    assert changed == {{"inode": "inode", "date": "modified", "size": "size"}[what]}


def test_files_that_change_all_the_time_are_a_sentence(tmp_path, monkeypatch):
    path = tmp_path / "x.npy"
    write_embeddings(version(0), path)
    read = NpyVectors.read
    count = 0

    def replaced(self, place, *, max_words=None):
        nonlocal count
        count += 1
        embeddings = read(self, place)
        os.utime(tmp_path / "x.vocab", ns=(count, count))
        return embeddings

    monkeypatch.setattr(NpyVectors, "read", replaced)
    with pytest.raises(FileError, match=f"changed while being read, {ATTEMPTS} times"):
        read_embeddings(path)
    assert count == ATTEMPTS


def test_the_files_of_a_folder_of_aligned_files(tmp_path):
    toys = [make_toy(words=30, dimension=3, seed=seed) for seed in range(2)]
    expected = {}

    def write(number):
        toy = toys[number % 2]
        made = align(toy.embeddings, toy.dictionaries, "procrustes", output=tmp_path)
        expected[number % 2] = {name: path.read_bytes() for name, path in made.paths.items()}

    paths = {name: tmp_path / f"{name}.vec" for name in ("en", "es")}
    vectors = {}

    def read():
        try:
            languages = read_languages(paths)
            mapper = load_mapper(tmp_path / "mapper")
        except FileError as error:  # told to try again
            assert "ry again" in str(error) or "There is no file" in str(error), error
            return None
        assert set(mapper.matrices_) == {"en", "es"}
        key = tuple(np.asarray(languages[name].vectors).tobytes() for name in paths)
        vectors.setdefault(key, len(vectors))
        return vectors[key]

    write(0)
    read()
    write(1)
    read()
    both = dict(vectors)
    readers_meet(write, read, rounds=24)
    assert vectors == both  # never one language of one run with the other of another


def test_a_saved_static_model_and_a_pipeline_name_their_files(tmp_path):
    from geomm_adapters import SpacyModel, StaticModelFolder

    (tmp_path / "vocab").mkdir()
    for name in ("vectors", "strings.json"):
        (tmp_path / "vocab" / name).write_text("x")
    names = [path.name for path in SpacyModel().files(tmp_path)]
    assert names == ["strings.json", "vectors"]
    shutil.rmtree(tmp_path / "vocab")
    for name in ("model.safetensors", "tokenizer.json"):
        (tmp_path / name).write_text("x")
    names = [path.name for path in StaticModelFolder().files(tmp_path)]
    assert names == ["model.safetensors", "tokenizer.json"]


@pytest.mark.parametrize("size", [0, 1, 5, 2**20 - 1, 2**20, 2**20 + 1, 3 * 2**20 + 7])
def test_hashes_are_those_of_the_bytes(tmp_path, size):
    content = np.random.default_rng(size).bytes(size)
    path = tmp_path / "file"
    path.write_bytes(content)
    assert sha256_of(path) == hashlib.sha256(content).hexdigest()


def test_what_cannot_be_hashed_is_told(tmp_path):
    with pytest.raises(FileError, match="Cannot read"):
        sha256_of(tmp_path / "missing")
