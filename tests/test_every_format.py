"""Every registered format keeps the contract; and what breaks it is told."""

import mmap
import warnings

import numpy as np
import pytest

from geomm_plugin import (
    Embeddings,
    Format,
    read_embeddings,
    registry,
    write_embeddings,
)
from geomm_plugin.errors import FileError, FormatError, ParameterError
from geomm_plugin.testing import check_format

WRITTEN = [name for name, known in registry.formats.items() if known.write is not Format.write]
NEEDS = {"spacy": "spacy", "parquet": "pyarrow", "arrow": "pyarrow"}


@pytest.mark.parametrize("name", WRITTEN)
def test_formats_that_are_written(name):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    check_format(registry.formats[name])


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("value", [np.nan, -np.inf, 1e300])
def test_no_format_is_written_with_numbers_that_it_cannot_hold(tmp_path, name, value):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    vectors = np.ones((3, 2), np.float64 if name != "npy" or np.isnan(value) else np.float16)
    with np.errstate(over="ignore"):
        vectors[1, 1] = value
    with pytest.raises(FormatError, match="vector of 'cat' holds NaN, infinity or a number too"):
        write_embeddings(Embeddings(["dog", "cat", "cow"], vectors), tmp_path / "x", format=name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize(
    "word", ["x\ud800", "\ufeffdog", "\ufeff", "\udc80dog", "a 1\rb", "\r", "1 1\rdog 1 2\rcat"]
)
def test_a_first_word_comes_back_or_is_refused_by_name(tmp_path, name, word):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    suffix = (*registry.formats[name].suffixes, "")[0]
    path = tmp_path / f"x{suffix}"
    try:
        write_embeddings(Embeddings([word, "after"], np.eye(2)), path, format=name)
    except FormatError as error:
        assert repr(word) in str(error)
        assert not list(tmp_path.iterdir())
    else:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".* not UTF-8", UserWarning)
            assert list(read_embeddings(path, format=name).words) == [word, "after"]


@pytest.mark.parametrize("name", ["vec", "glove", "word2vec_bin", "npy"])
def test_words_in_another_encoding_are_read_by_its_name(tmp_path, name):
    path = tmp_path / f"x{registry.formats[name].suffixes[0]}"
    words = ["año", "naïve", "dog"]
    raw = [word.encode("latin-1").decode("utf-8", "surrogateescape") for word in words]
    write_embeddings((raw, np.eye(3)), path, format=name)
    assert list(read_embeddings(path, format=name, encoding="latin-1").words) == words
    if name in ("vec", "glove"):
        with pytest.warns(UserWarning, match=r"2 of 3 words are not UTF-8.*a\\udcf1o.*'año'"):
            assert list(read_embeddings(path, format=name).words) == raw
    with pytest.raises(FormatError, match="not in the encoding 'ascii'"):
        read_embeddings(path, format=name, encoding="ascii")


@pytest.mark.parametrize("name", [name for name in WRITTEN if registry.formats[name].suffixes])
def test_repeated_words_keep_their_first_vector_and_are_counted(tmp_path, name):
    path = tmp_path / f"x{registry.formats[name].suffixes[0]}"
    words = ["dog", "cat", "dog", "cow", "cat", "dog"]
    vectors = np.arange(12, dtype=np.float32).reshape(6, 2)
    write_embeddings(Embeddings(words, vectors), path)
    with pytest.warns(UserWarning, match="3 (lines|words) repeat .*'dog'") as told:
        read = read_embeddings(path)
    assert [warning.filename for warning in told] == [__file__]
    assert read.words == ["dog", "cat", "cow"]
    assert read.vectors.tolist() == [[0, 1], [2, 3], [6, 7]]


@pytest.mark.parametrize("name", ["npy", "safetensors"])
def test_mapped_vectors_without_repeated_words_stay_mapped(tmp_path, name):
    path = tmp_path / f"x{registry.formats[name].suffixes[0]}"
    write_embeddings({"dog": [1.0, 2.0], "cat": [3.0, 4.0]}, path)
    vectors = read_embeddings(path).vectors
    while not isinstance(vectors, mmap.mmap):
        vectors = vectors.obj if isinstance(vectors, memoryview) else vectors.base


@pytest.mark.parametrize("name", ["a\0b.vec", "folder\0/b.vec", "a\ud800.vec"])
def test_a_name_that_no_file_can_have(tmp_path, name):
    with pytest.raises(FileError, match="is no name of a file"):
        read_embeddings(tmp_path / name)
    with pytest.raises(FileError, match="is no name of a file"):
        write_embeddings({"a": [1.0]}, tmp_path / name)


@pytest.mark.parametrize("count", [0, -1, 10.5, "3"])
def test_max_words_is_a_whole_number(tmp_path, count):
    write_embeddings({"a": [1.0]}, tmp_path / "x.npy")
    with pytest.raises(ParameterError, match="max_words must be a whole number"):
        read_embeddings(tmp_path / "x.npy", max_words=count)
    assert len(read_embeddings(tmp_path / "x.npy", max_words=np.int64(1))) == 1


def test_formats_that_are_only_read():
    assert set(registry.formats) - set(WRITTEN) == {"multilingual_text"}
    utils = pytest.importorskip("gensim.test.utils")
    check_format(registry.formats["fasttext_bin"], sample=utils.datapath("lee_fasttext_new.bin"))


class Plain(Format):
    """Words by line, numbers in npy."""

    name = "plain"
    suffixes = (".plain",)

    def read(self, path, *, max_words=None):
        try:
            words = path.with_suffix(".w").read_text("utf-8", "surrogateescape").split("\n")[:-1]
            with path.open("rb") as stream:
                return Embeddings(words[:max_words], np.load(stream)[:max_words])
        except (OSError, ValueError, EOFError) as error:
            raise FormatError(str(error)) from error

    def write(self, path, embeddings):
        for word in embeddings.words:
            if "\n" in word or "\r" in word:
                raise FormatError(f"Not {word!r}.")
        text = "".join(f"{word}\n" for word in embeddings.words)
        path.with_suffix(".w").write_text(text, "utf-8", "surrogateescape")
        with path.open("wb") as stream:
            np.save(stream, embeddings.vectors)


class Rounds(Plain):
    """Changes numbers."""

    def write(self, path, embeddings):
        super().write(path, Embeddings(embeddings.words, np.round(embeddings.vectors, 3)))


class Lowers(Plain):
    """Changes words."""

    def read(self, path, *, max_words=None):
        read = super().read(path, max_words=max_words)
        return Embeddings([word.strip() for word in read.words], read.vectors)


class IgnoresMaxWords(Plain):
    """Reads everything."""

    def read(self, path, *, max_words=None):
        return super().read(path)


class Raises(Plain):
    """Lets numpy's errors out."""

    def read(self, path, *, max_words=None):
        with path.open("rb") as stream:
            vectors = np.load(stream)
        return Embeddings(super().read(path).words[:max_words], vectors[:max_words])


class Scales(Plain):
    """Changes what it was given."""

    def write(self, path, embeddings):
        super().write(path, embeddings)
        vectors = embeddings.vectors
        vectors *= 2


class OnlyReads(Format):
    """Cannot be written."""

    name = "only_reads"
    suffixes = (".x",)

    def read(self, path, *, max_words=None):
        raise FormatError("no")


def test_a_format_that_keeps_the_contract():
    check_format(Plain)
    check_format(Rounds, tolerance=1e-3)


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (Rounds, "Numbers changed"),
        (Lowers, "another one is read"),
        (IgnoresMaxWords, "max_words gives other words"),
        (Scales, "changed its argument"),
        (OnlyReads, "needs a sample"),
    ],
)
def test_a_broken_contract_is_told(broken, told):
    with pytest.raises(AssertionError, match=told):
        check_format(broken)


def test_errors_of_other_libraries_are_not_the_format_s():
    with pytest.raises((ValueError, EOFError)) as caught:
        check_format(Raises)
    assert not isinstance(caught.value, FormatError)


@pytest.mark.parametrize("counts", [[1.5, 1.0], [np.nan, 1.0], [2**62, 2**62], [2, -3], ["a", "b"]])
def test_counts_that_a_fasttext_model_cannot_hold_are_a_sentence(counts, tmp_path):
    embeddings = Embeddings(["dog", "cat"], np.eye(2), {"count": np.array(counts)})
    with pytest.raises(FormatError, match="how often each word occurs, as whole numbers"):
        write_embeddings(embeddings, tmp_path / "x.bin", format="fasttext_bin")
    assert list(tmp_path.iterdir()) == []
