"""A numpy array with a vocabulary beside it, against numpy and against pickled vocabularies."""

import pickle

import numpy as np
import pytest

from geomm_plugin import Embeddings, read_embeddings, write_embeddings
from geomm_plugin.errors import FileError, FormatError

WORDS = ["dog", "naïve", "two words", "日本", " ", "\udcff"]


@pytest.fixture
def embeddings():
    vectors = np.random.default_rng(0).standard_normal((len(WORDS), 3)).astype(np.float32)
    return Embeddings(WORDS, vectors)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", ["x.npy", "wiki.x.vectors"])
def test_numpy_reads_what_we_write_and_so_do_we(tmp_path, embeddings, dtype, name):
    written = Embeddings(WORDS, embeddings.vectors.astype(dtype))
    write_embeddings(written, tmp_path / name)
    theirs = np.load(tmp_path / name)
    ours = read_embeddings(tmp_path / name)
    assert theirs.dtype == ours.vectors.dtype == dtype
    np.testing.assert_array_equal(theirs, written.vectors)
    np.testing.assert_array_equal(ours.vectors, written.vectors)
    assert ours.words == WORDS
    assert sorted(file.suffix for file in tmp_path.iterdir()) == sorted(
        [".vocab", (tmp_path / name).suffix]
    )


def test_we_read_what_numpy_writes(tmp_path, embeddings):
    np.save(tmp_path / "x.npy", np.asfortranarray(embeddings.vectors))
    (tmp_path / "x.txt").write_bytes(b"a\r\nb\r\nc\r\nd\r\ne\r\nf")
    read = read_embeddings(tmp_path / "x.npy", max_words=4)
    assert read.words == list("abcd")
    np.testing.assert_array_equal(read.vectors, embeddings.vectors[:4])


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_pickled_vocabulary_is_read_without_running_it(tmp_path, protocol):
    words = [f"word{n}" for n in range(70_000)]  # numbers of one, two and three bytes
    with (tmp_path / "x.vectors").open("wb") as stream:
        np.save(stream, np.zeros((len(words), 1), np.float32))
    row_of = {word: row for row, word in enumerate(words)}
    shuffled = dict(sorted(row_of.items()))
    (tmp_path / "x.vocab").write_bytes(pickle.dumps(shuffled, protocol))
    assert read_embeddings(tmp_path / "x.vectors").words == words


class Calls:
    def __reduce__(self):
        return (print, ("this must not be printed",))


@pytest.mark.parametrize("content", [Calls(), {"a": Calls()}, {"a": 0.5}, ["a"], {"a": 1, "b": 2}])
def test_a_pickle_of_anything_else_is_refused_and_does_not_run(tmp_path, capsys, content):
    np.save(tmp_path / "x.npy", np.zeros((2, 1)))
    (tmp_path / "x.vocab").write_bytes(pickle.dumps(content))
    with pytest.raises(FormatError, match=r"x\.vocab"):
        read_embeddings(tmp_path / "x.npy")
    assert capsys.readouterr().out == ""


def test_what_does_not_fit_together_is_refused(tmp_path, embeddings):
    write_embeddings(embeddings, tmp_path / "x.npy")
    (tmp_path / "x.vocab").write_text("only\nthree\nwords\n")
    with pytest.raises(FormatError, match=r"shape \(6, 3\), but .* has 3 words"):
        read_embeddings(tmp_path / "x.npy")
    (tmp_path / "x.vocab").unlink()
    with pytest.raises(FileError, match="no vocabulary"):
        read_embeddings(tmp_path / "x.npy")
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY\x01\x00")
    with pytest.raises(FormatError, match="not a whole numpy array"):
        read_embeddings(tmp_path / "x.npy")
    with pytest.raises(FormatError, match="line break"):
        write_embeddings(Embeddings(["a\nb"], np.ones((1, 1))), tmp_path / "y.npy")
    assert not (tmp_path / "y.vocab").exists()


def test_an_array_of_objects_is_not_opened(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[Calls()]], object), allow_pickle=True)
    (tmp_path / "x.vocab").write_text("a\n")
    with pytest.raises(FormatError, match="not a whole numpy array"):
        read_embeddings(tmp_path / "x.npy")


def test_a_text_file_of_vectors_beside_an_array_is_no_vocabulary(tmp_path):
    np.save(tmp_path / "glove.npy", np.eye(3, 2))
    (tmp_path / "glove.txt").write_text("dog 1 0\ncat 0.5 -1e-3\n95 2 2\n")
    with pytest.raises(FormatError, match=r"glove\.txt holds vectors, not words alone"):
        read_embeddings(tmp_path / "glove.npy")
    (tmp_path / "glove.txt").write_text("dog\nroute 66\nNew York 95\n")
    assert read_embeddings(tmp_path / "glove.npy").words == ["dog", "route 66", "New York 95"]
