"""The fast way to read lines and the careful one agree, on every line and every bit."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from geomm_adapters.text import vec_lines
from geomm_adapters.text.vec_lines import BadLineError, parse_decimal, parse_line, parse_lines

digits = st.text("0123456789", max_size=18)
numbers = st.one_of(
    st.builds("{}{}.{}".format, st.sampled_from(["", "-", "+"]), digits, digits),
    st.builds("{}.{}e{}".format, digits, digits, st.integers(-50, 50)),
    st.floats(width=32, allow_nan=False, allow_infinity=False).map(lambda x: str(np.float32(x))),
    st.floats(-10, 10).map(repr),
    st.floats(-10, 10).map("{:.5f}".format),
    st.integers().map(str),
)
json = ["-0", "true", "false", "null", "1,2", "[1]", "[1", "1]", '"1"', "{}", "1e400", "\t1", "1\t"]
anything = st.one_of(
    numbers, st.sampled_from(json), st.text('0123456789.-+eEnaif_x \r\t,[]{}"', max_size=20)
)


def test_numbers_of_all_lengths_are_what_float_gives():
    values = np.random.default_rng(2).standard_normal((400, 50))
    for form in ("{}", "{:.1f}", "{:.4f}", "{:.6f}", "{:.9f}", "{:.14f}", "{:.20f}", "{:e}"):
        rows = [[form.format(value) for value in row] for row in values.tolist()]
        text = "".join(f"w{n} {' '.join(row)}\n" for n, row in enumerate(rows))
        expected = np.array([[float(number) for number in row] for row in rows])
        found = parse_lines(text.encode(), 50).vectors
        assert np.array_equal(found.view("u4"), expected.astype(np.float32).view("u4"))


def test_ordinary_lines_are_never_read_slowly(monkeypatch):
    monkeypatch.setattr(vec_lines, "parse_line", None)
    forms = ("0.25", "-1.5", "1e-05", "-0.0", "0", "-12", "123456789012345678901234567890")
    read = parse_lines(b"".join(f"w{form} {form} 1\n".encode() for form in forms), 2)
    assert np.array_equal(read.vectors[:, 0], np.array(forms, np.float64).astype(np.float32))


def test_a_byte_that_is_no_digit_is_never_taken_for_one():
    number = b"-1.12e-1"
    for place in range(len(number)):
        for byte in set(range(256)) - {10}:
            token = number[:place] + bytes([byte]) + number[place + 1 :]
            line = b"a 0.5 " + token
            value = parse_decimal(token)
            is_number = value is not None and abs(value) < vec_lines.TOO_LARGE
            try:
                found = parse_lines(line + b"\n", 2)
            except BadLineError:
                assert not is_number
            else:
                word, values = parse_line(line, 2)
                assert (word, list(map(np.float32, values))) == (
                    found.words[0],
                    found.vectors[0].tolist(),
                )


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
@example(([b"w -0 1", b"w 0 -0 \r", b"w 0 0"], 2))
@example(([b"w 1,2 3"], 3))
@example(([b"w true 1", b"w 1 null"], 2))
@example(([b"w 1\t 2"], 2))
@example(([b"w 1\r 2"], 2))
@example(([b"w 3e38 3.4028235e38", b"w 1 3.4028236e38"], 2))
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
