"""`.vec` files: what is written reads back as it was, and a bad file says what is wrong with it."""

import gzip
import os
import struct
import sys
import threading
import tracemalloc
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from geomm_adapters.text import vec_reader
from geomm_adapters.text.fasttext_vec import FastTextVec
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FormatError, ParameterError
from geomm_plugin.formats import read_embeddings, write_embeddings
from geomm_plugin.mappers.procrustes import Procrustes

ODD_WORDS = [
    "dog",
    "</s>",
    "no\u00a0break",
    "line\u2028separator",
    "next\u0085line",
    'quo"ted',
    "it's",
    "tab\tbed",
    "carriage\rreturn",
    "new york",
    " leading",
    "trailing ",
    "two  spaces",
    "windows 95",
    "3.14",
    "1e5",
    "nan",
    "\udcff\udc80 not utf-8",
    "\ufeffmark",
    "\x00",
    "",
    "犬",
    "😀",
]


def write_text(folder, text, name="toy.vec"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def traced_peak(work):
    """Return the memory that is held at the peak, in bytes."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def same_bits(a, b):
    return a.dtype == b.dtype == np.float32 and np.array_equal(a.view("u4"), b.view("u4"))


def check_round_trip(folder, embeddings, name="toy.vec"):
    FastTextVec().write(folder / name, embeddings)
    read = FastTextVec().read(folder / name)
    assert read.words == list(embeddings.words)
    assert same_bits(read.vectors, embeddings.vectors)


@pytest.mark.parametrize("name", ["toy.vec", "toy.vec.gz"])
def test_odd_words_and_every_bit_survive_a_round_trip(tmp_path, name):
    bits = np.random.default_rng(0).integers(0, 2**32, (len(ODD_WORDS), 7), np.uint32)
    vectors = bits.view(np.float32)
    vectors[~np.isfinite(vectors)] = np.finfo(np.float32).smallest_subnormal
    vectors[0] = [0.0, -0.0, 1.0, -1e-7, np.finfo(np.float32).max, 16777216.0, 0.1]
    check_round_trip(tmp_path, Embeddings(ODD_WORDS, vectors), name)


@given(
    words=st.lists(
        st.binary(max_size=8).map(lambda b: b.decode("utf-8", "surrogateescape")),
        unique=True,
        min_size=1,
        max_size=6,
    ),
    dimension=st.integers(1, 4),
    data=st.data(),
)
def test_any_bytes_as_words_survive_or_are_refused(tmp_path_factory, words, dimension, data):
    finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
    vectors = data.draw(arrays(np.float32, (len(words), dimension), elements=finite))
    folder = tmp_path_factory.mktemp("any")
    try:
        check_round_trip(folder, Embeddings(words, vectors))
    except FormatError as error:
        assert "cannot hold" in str(error)
        assert any("\n" in word or " " in word for word in words)


@pytest.mark.parametrize("word", ["a\nb", "version 2.0", "x 1e5", "\ud800"])
def test_a_word_that_would_not_read_back_is_refused(tmp_path, word):
    with pytest.raises(FormatError, match=r"cannot hold.*\.safetensors"):
        FastTextVec().write(tmp_path / "toy.vec", Embeddings([word], np.ones((1, 2), np.float32)))


@pytest.mark.parametrize("number", [np.nan, -np.inf, 1e39])
def test_what_float32_cannot_hold_is_not_written(tmp_path, number):
    vectors = np.array([[1.0, 2.0], [1.0, number]])
    with pytest.raises(FormatError, match="The vector of 'cat'"):
        FastTextVec().write(tmp_path / "toy.vec", Embeddings(["dog", "cat"], vectors))


@pytest.mark.parametrize("precision", [1, 3, 5])
def test_precision_makes_files_small_and_stays_within_half_a_digit(tmp_path, precision):
    vectors = np.random.default_rng(1).standard_normal((50, 20)).astype(np.float32)
    embeddings = Embeddings([f"w{i}" for i in range(50)], vectors)
    FastTextVec(precision=precision).write(tmp_path / "toy.vec", embeddings)
    read = FastTextVec().read(tmp_path / "toy.vec")
    assert np.abs(read.vectors - vectors).max() <= 0.5 * 10.0**-precision + 1e-7
    text = (tmp_path / "toy.vec").read_text().split("\n", 1)[1]
    decimals = [len(token.partition(".")[2]) for token in text.split() if "." in token]
    assert max(decimals) == precision


def test_precision_is_checked():
    with pytest.raises(ParameterError, match="precision"):
        FastTextVec(precision=0)


def test_the_file_is_what_fasttext_writes(tmp_path):
    vectors = np.array([[0.5, -1.25], [3.0, 0.1]], np.float32)
    FastTextVec().write(tmp_path / "toy.vec", Embeddings(["dog", "犬"], vectors))
    assert (tmp_path / "toy.vec").read_text("utf-8") == "2 2\ndog 0.5 -1.25\n犬 3.0 0.1\n"


def test_equal_vectors_make_equal_gzip_files(tmp_path):
    embeddings = Embeddings(["dog"], np.ones((1, 2), np.float32))
    for name in ("a.vec.gz", "b.vec.gz"):
        FastTextVec().write(tmp_path / name, embeddings)
    assert (tmp_path / "a.vec.gz").read_bytes() == (tmp_path / "b.vec.gz").read_bytes()


@pytest.mark.parametrize(
    "text",
    [
        "2 2\ndog 1.5 2\ncat -3 4e0\n",
        "2 2\ndog 1.5 2\ncat -3 4e0",  # no line feed at the end
        "2 2 \ndog 1.5 2 \ncat -3 4e0 \n",  # as fastText itself writes
        "2 2\r\ndog 1.5 2\r\ncat -3 4e0\r\n",
        "2 2 \r\ndog 1.5 2 \r\ncat -3 4e0  \r\n",
        "2 2\n\ndog 1.5 2\n\n \ncat -3 4e0\n\n",
        "\ufeff2 2\ndog 1.5 2\ncat -3 4e0\n",
        "2 2\ndog  1.5  +2.\ncat    -3  4e0\n".replace("dog  ", "dog ").replace("cat    ", "cat "),
        "dog 1.5 2\ncat -3 4e0\n",  # GloVe has no header
    ],
)
@pytest.mark.parametrize("compress", [False, True])
def test_white_space_and_a_missing_header_do_not_matter(tmp_path, text, compress):
    content = gzip.compress(text.encode()) if compress else text.encode()
    read = FastTextVec().read(write_text(tmp_path, content))
    assert read.words == ["dog", "cat"]
    assert read.vectors.tolist() == [[1.5, 2], [-3, 4]]


def test_a_repeated_word_keeps_its_first_vector_and_is_counted(tmp_path):
    path = write_text(tmp_path, "4 1\ndog 1\ncat 2\ndog 3\ncat 4\n")
    with pytest.warns(UserWarning, match="2 lines repeat a word.*'dog'"):
        read = FastTextVec().read(path)
    assert read.words == ["dog", "cat"]
    assert read.vectors.tolist() == [[1], [2]]


def test_max_words_counts_words_not_lines_and_reads_no_further(tmp_path):
    path = write_text(tmp_path, "9 1\ndog 1\ndog 2\n\ncat 3\nbroken line\n")
    with pytest.warns(UserWarning, match="1 lines repeat"):
        read = FastTextVec().read(path, max_words=2)
    assert read.words == ["dog", "cat"]


def test_max_words_reads_little_of_a_large_file(tmp_path):
    header, line = b"100000 50\n", b"word%06d " + b"0.12345 " * 50 + b"\n"
    path = write_text(tmp_path, header + b"".join(line % number for number in range(100_000)))
    with path.open("rb") as file:
        from geomm_adapters.text.vec_reader import VecReader

        reader = VecReader(path, file, 10)
        assert sum(len(words) for words, _ in reader) == 10
        assert file.tell() < path.stat().st_size / 50


@pytest.mark.parametrize("lines", [1, 50_000])
@pytest.mark.parametrize("dimension", [100_000, 10**7])
def test_what_a_header_claims_takes_no_memory(tmp_path, lines, dimension):
    text = f"{10**15} {dimension}\n\n" + "dog 1 2\n" * lines
    path = write_text(tmp_path, text)

    def read():
        with pytest.raises(FormatError, match=rf"line 3: expected {dimension} numbers, found 2"):
            FastTextVec().read(path)

    assert traced_peak(read) < 20 * len(text) + 2**20


BAD_FILES = {
    "empty": (b"", "is empty; expected the first line 'words dimension'"),
    "blank": (b" \n\n", "is empty"),
    "no vectors": (b"dog\ncat\n", "line 1: expected the first line .* found 'dog'"),
    "zero dimensions": (b"2 0\ndog\ncat\n", "line 1: expected"),
    "absurd dimensions": (b"0 %d\n\n" % (10**30), "line 1: expected"),
    "no words and blank lines": (b"2 2\n\n\n", "promises 2 words, but the file holds 0"),
    "fewer words": (b"3 1\ndog 1\ncat 2\n", "promises 3 words, but the file holds 2.*max_words=2"),
    "more words": (b"1 1\ndog 1\ncat 2\n", "promises 1 words, but the file holds 2.*'2 1'"),
    "no words": (b"3 1\n", "promises 3 words, but the file holds 0"),
    "short line": (b"2 2\ndog 1\ncat 1 2\n", "line 2: expected 2 numbers, found 1. Line 1 says 2"),
    "short in the middle": (b"3 2\ndog 1 2\ncat 1\nrat 1 2\n", "line 3: .*found 1. Fix the line"),
    "short, and more lines than line 1 promises": (
        b"2 2\ndog 1 2\ncat 1\nrat 1 2\n",
        "line 3: .*found 1. Fix the line",
    ),
    "cut off": (
        b"2 2\ndog 1 2\ncat 1",
        "line 3: expected 2 numbers, found 1. The file seems cut off",
    ),
    "long line": (b"1 2\ndog 0.5 0.5 0.5\n", "line 2: expected 2 numbers, found 3"),
    "long line of integers": (b"1 2\ndog 1 2 3 4\n", "line 2: expected 2 numbers, found 4"),
    "long line of signs": (b"1 2\ndog 1 -2 3\n", "line 2: expected 2 numbers, found 3"),
    "text": (b"2 2\ndog 1 2\ncat 1 two\n", r"line 3: .*'two' \(number 2 of 2\) is not a number"),
    "underscore": (b"1 1\ndog 1_0\n", "'1_0'"),
    "two points": (b"1 1\ndog 1.2.3\n", "'1.2.3'"),
    "hexadecimal": (b"1 1\ndog 0x10\n", "'0x10'"),
    "other digits": ("1 1\ndog ١\n".encode(), "'١'"),
    "nan": (b"1 2\ndog 1 nan\n", r"line 2: 'nan' \(number 2 of 2\) is not finite"),
    "infinity": (b"1 2\ndog -inf 1\n", "'-inf' .* is not finite"),
    "too large": (b"1 1\ndog 1e39\n", "'1e39' .* is too large for float32"),
    "tabs": (b"1 2\ndog\t1\t2\n", "expected 2 numbers, found 0.*tabs"),
    "zip": (b"PK\3\4\0\0\0\n1 2\n", "zip archive; unpack"),
    "word2vec binary": (b"1 2\ndog " + struct.pack("ff", 1, 0) + b"\n", "binary, not text"),
    "not gzip": (b"\x1f\x8b no, it is not", "compressed data are cut off"),
    "truncated gzip": (gzip.compress(b"1 1\ndog 1\n" * 99)[:-20], "compressed data are cut off"),
}


@pytest.mark.parametrize("content, message", BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_file_says_what_is_wrong_and_where(tmp_path, content, message):
    path = write_text(tmp_path, content)
    with pytest.raises(FormatError, match=message) as caught:
        FastTextVec().read(path)
    assert str(path) in str(caught.value)
    assert str(caught.value).endswith((".", "'"))


def test_the_line_number_is_right_deep_in_a_file(tmp_path):
    lines = [b"w%d " % number + b"0.25 " * 30 + b"\n" for number in range(60_000)]
    lines[51_234] = b"w 0.25 oops" + b" 0.25" * 28 + b"\n"
    path = write_text(tmp_path, b"60000 30\n" + b"".join(lines))
    with pytest.raises(FormatError, match="line 51236: "):
        FastTextVec().read(path)
    assert len(FastTextVec().read(path, max_words=51_234)) == 51_234


def test_a_truncated_gzip_gives_its_first_words(tmp_path):
    rows = b"".join(b"w%d %f\n" % (number, number / 7) for number in range(400_000))
    content = gzip.compress(b"400000 1\n" + rows)
    path = write_text(tmp_path, content[: len(content) // 2], "toy.vec.gz")
    with pytest.raises(FormatError, match="cut off"):
        FastTextVec().read(path)
    assert len(FastTextVec().read(path, max_words=1000)) == 1000


def test_reading_and_writing_without_isal_is_the_same(tmp_path, monkeypatch):
    embeddings = Embeddings(["dog", "cat"], np.array([[0.1], [0.2]], np.float32))
    check_round_trip(tmp_path, embeddings, "with.vec.gz")
    monkeypatch.setitem(sys.modules, "isal", None)
    check_round_trip(tmp_path, embeddings, "without.vec.gz")
    assert same_bits(FastTextVec().read(tmp_path / "with.vec.gz").vectors, embeddings.vectors)
    for content in (b"\x1f\x8b no, it is not", gzip.compress(b"1 1\ndog 1\n" * 99)[:-20]):
        with pytest.raises(FormatError, match="compressed data are cut off or damaged"):
            FastTextVec().read(write_text(tmp_path, content))


def test_a_pipe_is_read_too(tmp_path):
    pipe = tmp_path / "pipe.vec"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"1 2\ndog 0.5 1.5\n",), daemon=True)
    writer.start()
    assert FastTextVec().read(pipe).vectors.tolist() == [[0.5, 1.5]]
    writer.join()


def test_reading_warns_of_nothing_else(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FastTextVec().read(write_text(tmp_path, "1 1\ndog 99999999999999999999.5\n"))


def test_the_demo_data_read_as_a_plain_loop_reads_them():
    import geomm_plugin

    path = Path(geomm_plugin.__file__).parent / "demo" / "data" / "en.vec.gz"
    read = FastTextVec().read(path)
    lines = gzip.decompress(path.read_bytes()).decode().split("\n")[1:-1]
    assert read.words == [line.split(" ")[0] for line in lines]
    expected = np.array([[float(t) for t in line.split(" ")[1:]] for line in lines])
    assert same_bits(read.vectors, expected.astype(np.float32))


@pytest.mark.parametrize("name", ["large.vec", "large.vec.gz"])
def test_memory_follows_the_rows_and_not_the_text(tmp_path, monkeypatch, name):
    monkeypatch.setattr(vec_reader, "_FIRST_READ", 2**16)
    monkeypatch.setattr(vec_reader, "_READ", 2**16)
    with suppress(ImportError):  # isal is not everywhere
        monkeypatch.setattr("isal.igzip.READ_BUFFER_SIZE", 2**16)
    vectors = np.random.default_rng(3).standard_normal((8000, 100)).astype(np.float32)
    embeddings = Embeddings([f"w{number}" for number in range(8000)], vectors)
    vocabulary = traced_peak(lambda: (set(words := [f"x{n}" for n in range(8000)]), words))
    written = traced_peak(lambda: FastTextVec().write(tmp_path / name, embeddings))
    assert written < vectors.nbytes / 2
    read = traced_peak(lambda: FastTextVec().read(tmp_path / name))
    assert read < vectors.nbytes * 9 / 8 + vocabulary + 2**20


@pytest.mark.parametrize("name", ["mapped.vec", "mapped.safetensors"])
def test_a_mapped_vocabulary_is_exported_without_being_held(tmp_path, name):
    vectors = np.random.default_rng(4).standard_normal((80_000, 20)).astype(np.float32)
    embeddings = Embeddings([f"w{number}" for number in range(80_000)], vectors)
    mapper = Procrustes().fit(
        {"en": embeddings, "es": embeddings},
        {("en", "es"): [(f"w{n}", f"w{n}") for n in range(50)]},
    )
    mapped = mapper.map({"en": embeddings})["en"]
    words = traced_peak(lambda: "".join(embeddings.words).encode() + b"8" * 8 * len(embeddings))
    peak = traced_peak(lambda: write_embeddings(mapped, tmp_path / name))
    assert peak < vectors.nbytes / 2 + words
    assert np.array_equal(read_embeddings(tmp_path / name).vectors, mapped.vectors)


@given(
    st.lists(
        st.sampled_from(
            [b"2", b"3", b"dog", b"0.5", b"-1e-3", b"nan", b" ", b" ", b" ", b"\n", b"\n", b"\r\n",
             b"\t", b"\0", b"\xff", b"\x1f\x8b", b"\xef\xbb\xbf", b"1e999", b".", b"\xc2\xa0"]
        )
    ).map(b"".join),
    st.sampled_from([None, 1, 2, 3]),
)  # fmt: skip
def test_any_file_reads_or_says_why_not(tmp_path_factory, content, max_words):
    path = write_text(tmp_path_factory.getbasetemp(), content, "any.vec")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # repeated words
        try:
            read = FastTextVec().read(path, max_words=max_words)
        except FormatError as error:
            assert str(path) in str(error)
        else:
            assert len(read) == len(read.vectors) == len(set(read.words))
            assert len(read) <= (max_words or len(read))
            assert np.isfinite(read.vectors).all()


@pytest.mark.parametrize("text", ["2 2\rdog 1 2\rcat 3 4\r", "dog 1 -2.5e-3\rcat 3 4"])
def test_carriage_returns_alone_end_no_line(tmp_path, text):
    with pytest.raises(FormatError, match="lines end in carriage returns alone.*tr "):
        FastTextVec().read(write_text(tmp_path, text))
