"""The fast way to read lines and the careful one agree, on every line and every bit."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geomm_adapters.text.decimals import MARGIN, parse_decimal, parse_decimals
from geomm_adapters.text.vec_lines import BadLineError, parse_line, parse_lines

digits = st.text("0123456789", max_size=18)
numbers = st.one_of(
    st.builds("{}{}.{}".format, st.sampled_from(["", "-", "+"]), digits, digits),
    st.builds("{}.{}e{}".format, digits, digits, st.integers(-50, 50)),
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(lambda x: str(np.float32(x))),
    st.floats(-10, 10).map(repr),
    st.floats(-10, 10).map("{:.5f}".format),
    st.integers().map(str),
)
anything = st.one_of(numbers, st.text("0123456789.-+eEnaif_x \r\t", max_size=20))


def parse_in_bulk(tokens):
    text = b"\n" * MARGIN + b" ".join(tokens) + b"\n" * MARGIN
    lengths = np.array([len(token) for token in tokens], np.intp)
    ends = MARGIN + np.cumsum(lengths + 1) - 1
    return parse_decimals(np.frombuffer(text, np.uint8), ends - lengths, ends)


@given(st.lists(anything.map(str.encode), min_size=1, max_size=20))
@example([b"0.000000000000001", b"9999999999.99999", b"0.1", b"-0.0", b"5.", b".5", b"", b"-"])
@example(
    [b"123456.123456789", b"9007199254740993.0", b"0.12345678", b"0.123456789", b"1.:", b"1./"]
)
def test_exact_numbers_are_what_float_gives(tokens):
    values, is_exact = parse_in_bulk(tokens)
    for token, value, sure in zip(tokens, values, is_exact, strict=True):
        if sure:
            assert parse_decimal(token) is not None
            assert value.hex() == float(token).hex()


def test_ordinary_numbers_are_exact():
    tokens = [
        b"%.*f" % (n, x) for n in range(1, 11) for x in (-123.456789, -0.5, 0.061, 7.25, 999.9)
    ]
    _, is_exact = parse_in_bulk(tokens)
    assert is_exact.all()


def test_a_million_numbers_agree_with_float():
    values = np.random.default_rng(2).standard_normal(100_000).astype(np.float32)
    for form in ("{}", "{:.4f}", "{:.5f}", "{:.6f}", "{:.9f}", "{:.14f}"):
        tokens = [form.format(value).encode() for value in values.tolist()]
        parsed, is_exact = parse_in_bulk(tokens)
        expected = np.array([float(token) for token in tokens])
        assert np.array_equal(parsed[is_exact].view("u8"), expected[is_exact].view("u8"))


def test_a_byte_that_is_no_digit_is_never_taken_for_one():
    number = b"1.123456789012"
    tokens = [
        number[:place] + bytes([byte]) + number[place + 1 : length]
        for length in range(2, len(number) + 1)
        for place in range(length)
        for byte in range(256)
    ]
    values, is_exact = parse_in_bulk(tokens)
    for token, value, sure in zip(tokens, values, is_exact, strict=True):
        assert not sure or parse_decimal(token) == value
    # Ten digits in every place, and the point in its own.
    assert is_exact.sum() == sum(10 * (length - 1) + 1 for length in range(2, len(number) + 1))


odd_words = st.binary(max_size=6).filter(lambda word: b"\n" not in word)
line_ends = st.sampled_from([b"", b" ", b"  ", b"   ", b"\r", b" \r", b"\r "])


@st.composite
def blocks(draw):
    """Lines that are mostly right, between plain ones, since edges are read with care anyway."""
    dimension = draw(st.integers(1, 3))
    plain = [b"plain" + b" 0.25" * dimension] * 2
    lines = plain if draw(st.booleans()) else []
    for _ in range(draw(st.integers(1, 6))):
        tokens = draw(st.lists(numbers, min_size=dimension, max_size=dimension))
        if draw(st.integers(0, 9)) == 0:
            tokens = draw(st.lists(anything, max_size=4))
        space = b"  " if draw(st.integers(0, 9)) == 0 else b" "
        line = space.join([draw(odd_words), *(token.encode() for token in tokens)])
        lines = [*lines, line + draw(line_ends)]
    return lines + plain, dimension


@given(blocks())
def test_blocks_of_lines_read_as_the_lines_one_by_one(block):
    lines, dimension = block
    expected, problem = [], None
    for number, line in enumerate(lines):
        try:
            found = parse_line(line, dimension)
        except BadLineError as error:
            problem = (number, str(error))
            break
        if found is not None:
            expected.append(found)
    whole = b"".join(line + b"\n" for line in lines)
    if problem is not None:
        with pytest.raises(BadLineError) as caught:
            parse_lines(whole, dimension)
        assert (caught.value.line, str(caught.value)) == problem
        return
    read = parse_lines(whole, dimension)
    assert read.count == len(lines)
    assert read.words == [word for word, _ in expected]
    values = np.array([numbers for _, numbers in expected]).reshape(-1, dimension)
    assert read.vectors.dtype == np.float32
    assert np.array_equal(read.vectors.view("u4"), values.astype(np.float32).view("u4"))
