"""word2vec's binary files, against gensim's reader and writer."""

import gzip

import numpy as np
import pytest

from geomm_plugin import Embeddings, read_embeddings, write_embeddings
from geomm_plugin.errors import FormatError

gensim = pytest.importorskip("gensim")
from gensim.models import KeyedVectors  # noqa: E402

WORDS = ["dog", "naïve", "日本", "a\u00a0b", "#", "x" * 300, "1", "0.5"]


@pytest.fixture
def embeddings():
    vectors = np.random.default_rng(0).standard_normal((len(WORDS), 7)).astype(np.float32)
    vectors[2] = np.frombuffer(b" \n\n " * 7, "<f4")  # bytes that could be taken for a word's end
    return Embeddings(WORDS, vectors)


@pytest.mark.parametrize("name", ["x.bin", "x.bin.gz"])
def test_gensim_reads_what_we_write(tmp_path, embeddings, name):
    write_embeddings(embeddings, tmp_path / name)
    read = KeyedVectors.load_word2vec_format(str(tmp_path / name), binary=True)
    assert read.index_to_key == WORDS
    np.testing.assert_array_equal(read.vectors, embeddings.vectors)


@pytest.mark.parametrize("name", ["x.bin", "x.bin.gz"])
def test_we_read_what_gensim_writes(tmp_path, embeddings, name):
    keyed_vectors = KeyedVectors(7)
    keyed_vectors.add_vectors(WORDS, embeddings.vectors)
    keyed_vectors.save_word2vec_format(str(tmp_path / name), binary=True)
    read = read_embeddings(tmp_path / name)
    assert read.words == keyed_vectors.index_to_key
    np.testing.assert_array_equal(read.vectors, keyed_vectors.vectors)


def test_the_line_breaks_of_word2vec_itself_are_no_part_of_words(tmp_path, embeddings):
    rows = zip(WORDS, embeddings.vectors, strict=True)
    body = b"".join(word.encode() + b" " + row.tobytes() + b"\n" for word, row in rows)
    (tmp_path / "x.bin").write_bytes(b"%d 7\n" % len(WORDS) + body)
    read = read_embeddings(tmp_path / "x.bin")
    theirs = KeyedVectors.load_word2vec_format(str(tmp_path / "x.bin"), binary=True)
    assert read.words == theirs.index_to_key == WORDS
    np.testing.assert_array_equal(read.vectors, embeddings.vectors)


def test_only_what_is_asked_for_is_read(tmp_path, embeddings):
    write_embeddings(embeddings, tmp_path / "x.bin")
    data = (tmp_path / "x.bin").read_bytes()
    (tmp_path / "x.bin").write_bytes(data[:-5])
    read = read_embeddings(tmp_path / "x.bin", max_words=3)
    assert read.words == WORDS[:3]
    np.testing.assert_array_equal(read.vectors, embeddings.vectors[:3])
    with pytest.raises(FormatError, match=r"7 of 8 words are there.*cut off"):
        read_embeddings(tmp_path / "x.bin")


def test_files_longer_than_a_chunk(tmp_path):
    count = 60_000
    words = [f"word{n}" for n in range(count)]
    vectors = np.random.default_rng(0).standard_normal((count, 25)).astype(np.float32)
    write_embeddings(Embeddings(words, vectors), tmp_path / "x.bin")
    read = read_embeddings(tmp_path / "x.bin")
    assert read.words == words
    np.testing.assert_array_equal(read.vectors, vectors)


def test_a_broken_gzip_is_refused(tmp_path, embeddings):
    write_embeddings(embeddings, tmp_path / "x.bin.gz")
    data = (tmp_path / "x.bin.gz").read_bytes()
    (tmp_path / "x.bin.gz").write_bytes(data[: len(data) // 2])
    with pytest.raises(FormatError, match="cut off"):
        read_embeddings(tmp_path / "x.bin.gz")
    assert gzip.decompress(data).startswith(b"8 7\n")


@pytest.mark.parametrize("word", ["two words", "line\nbreak", "", "\ud800"])
def test_words_that_would_not_read_back_are_refused(tmp_path, word):
    with pytest.raises(FormatError, match="cannot hold"):
        write_embeddings(Embeddings([word], np.ones((1, 2))), tmp_path / "x.bin")
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "x.bin").write_bytes(b"\x00\x01")
    with pytest.raises(FormatError, match="does not begin with a line of two numbers"):
        read_embeddings(tmp_path / "x.bin")
