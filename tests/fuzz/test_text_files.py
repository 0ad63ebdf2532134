"""`.vec`, `.vec.gz` and GloVe text: the fast reader against one that takes line by line."""

import gzip
import re
import sys
import zlib

import numpy as np
import pytest
from hostile import answer, anything, check_embeddings, damaged, fuzzed, same_bits
from hypothesis import given
from hypothesis import strategies as st

from geomm_adapters.text import vec_reader
from geomm_adapters.text.decimals import parse_decimal
from geomm_adapters.text.vec_lines import BadLineError, ends_in_returns, parse_line
from geomm_plugin import read_embeddings
from geomm_plugin.errors import GeommError

RANDOM = np.random.default_rng(0)
LINES = b"".join(
    word.encode() + b" " + b" ".join(b"%.*f" % (digits, x) for x in RANDOM.normal(size=3)) + b"\n"
    for digits in (4, 5, 9)
    for word in ("dog", "the", "naïve", "日本", "don't", "windows 95", "...", "x" * 20)
    for word in (f"{word}{digits}",)
)
VEC = b"24 3\n" + LINES
CRLF = VEC.replace(b"\n", b"\r\n")
GOOD = st.sampled_from([VEC, LINES, CRLF, b"\xef\xbb\xbf" + VEC, VEC.replace(b"\n", b" \n")])


class Refused(Exception):
    pass


def line_by_line(content, max_words):
    """Read as simply as possible, with the careful parser of one line; Refused names the line."""
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if not b"".join(lines).strip():
        raise Refused
    lines = lines if lines[-1] else lines[:-1]
    if ends_in_returns(lines[0].rstrip(b" \r")):
        raise Refused(1)
    columns = lines[0].rstrip(b" \r").split(b" ")
    promised = None
    if len(columns) == 2 and all(column.isdigit() for column in columns):
        promised, dimension = (int(column[:19]) for column in columns)
        begin = 1
    else:
        begin = dimension = 0
        for column in reversed(columns[1:]):
            if parse_decimal(column) is None:
                break
            dimension += 1
    if not 0 < dimension < 2**26:
        raise Refused(1)
    rows, entries = {}, 0
    for number, line in enumerate(lines[begin:], start=begin + 1):
        if len(rows) == max_words:
            return rows, dimension
        if entries == promised:
            entries += sum(1 for rest in lines[number - 1 :] if rest.strip(b" \r"))
            break
        try:
            found = parse_line(line, dimension)
        except BadLineError:
            raise Refused(number) from None
        if found is not None:
            entries += 1
            rows.setdefault(found[0], np.array(found[1], np.float64).astype(np.float32))
    if promised not in (None, entries) and len(rows) != max_words:
        raise Refused
    return rows, dimension


def check(content, found, max_words, line_known=True):
    """The answer is that of the simple reader: words, bits, or the line of the first fault."""
    try:
        rows, dimension = line_by_line(content, max_words)
    except Refused as refused:
        assert isinstance(found, GeommError)
        if refused.args and line_known:
            assert re.search(rf"line {refused.args[0]}\b", str(found)), str(found)
        return
    assert not isinstance(found, GeommError), found
    check_embeddings(found)
    assert found.words == list(rows)
    expected = np.array(list(rows.values()), np.float32).reshape(len(rows), dimension)
    assert same_bits(found.vectors, expected)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("text")


@pytest.fixture(params=["as it is", "in small pieces"])
def pieces(request, monkeypatch):
    """Reads of a few bytes: each line may stand at the edge of a block."""
    if request.param == "in small pieces":
        monkeypatch.setattr(vec_reader, "_FIRST_READ", 90)
        monkeypatch.setattr(vec_reader, "_READ", 150)


max_words = st.sampled_from([None, None, 1, 5, 23, 24, 1000])


@fuzzed(50)
@given(content=anything(GOOD), count=max_words, suffix=st.sampled_from([".vec", ".glove", ".txt"]))
def test_text(folder, pieces, content, count, suffix):
    if content[:2] == b"\x1f\x8b":  # which is gzip, whatever it is called
        return
    path = folder / f"hostile{suffix}"
    path.write_bytes(content)
    check(content, answer(lambda: read_embeddings(path, max_words=count), path), count)


@fuzzed(60)
@given(content=damaged(GOOD), count=max_words, flip=st.none() | st.integers(0, 10**6))
@pytest.mark.parametrize("fast", [True, False])
def test_compressed_text(folder, monkeypatch, pieces, fast, content, count, flip):
    if not fast:
        monkeypatch.setitem(sys.modules, "isal", None)
    packed = bytearray(gzip.compress(content, 1))
    if flip is not None:
        packed[flip // 8 % len(packed)] ^= 1 << flip % 8
    if packed[:2] != b"\x1f\x8b":
        return
    path = folder / "hostile.vec.gz"
    path.write_bytes(packed)
    found = answer(lambda: read_embeddings(path, max_words=count), path)
    try:
        unpacked = gzip.decompress(packed)
    except (OSError, EOFError, zlib.error):
        assert count is not None or isinstance(found, GeommError)
    else:
        check(unpacked, found, count)


@fuzzed()
@given(packed=anything(gzip.compress(VEC)), count=max_words)
def test_damaged_gzip(folder, packed, count):
    path = folder / "damaged.vec.gz"
    path.write_bytes(packed)
    found = answer(lambda: read_embeddings(path, max_words=count), path)
    if not isinstance(found, GeommError):
        check_embeddings(found)


numbers = st.one_of(
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(lambda x: str(np.float32(x))),
    st.floats(-1e-44, 1e-44).map(repr),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(["1e400", "nan", "0x1p3", "1e-400", "-0.0", "3.4028235e38", "3.4028236e38"]),
    st.integers(-(10**20), 10**20).map(str),
)


@fuzzed(50)
@given(
    rows=st.lists(st.tuples(st.binary(max_size=5), st.lists(numbers, min_size=1, max_size=3))),
    header=st.booleans(),
    end=st.sampled_from([b"\n", b"\r\n", b" \n"]),
)
def test_files_of_odd_words_and_numbers(folder, pieces, rows, header, end):
    """Mixed dimensions, empty and repeated words, denormals, numbers that are too large."""
    lines = [word + b" " + " ".join(values).encode() + end for word, values in rows]
    content = (b"%d 2\n" % len(lines) if header else b"") + b"".join(lines)
    if content[:2] == b"\x1f\x8b":
        return
    path = folder / "odd.vec"
    path.write_bytes(content)
    check(content, answer(lambda: read_embeddings(path), path), None)
