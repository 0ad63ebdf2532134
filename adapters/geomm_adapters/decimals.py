"""Decimal numbers in bulk: [-]w.f with n digits after the point is (w 10^n + f) / 10^n.

Digits are read eight at a time: eight bytes are one 64-bit integer, in which neighbors are joined
by three multiplications (to pairs, to fours, to eight). Numerator and denominator are exact in
float64 up to fifteen digits, so that the one division rounds as Python's float() does, to the bit.
What has another form (an exponent, more digits, no point) is not vouched for: see parse_decimal.
"""

from __future__ import annotations

import re
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from geomm_plugin.embeddings import RowIndices

Bytes: TypeAlias = npt.NDArray[np.uint8]
Words64: TypeAlias = npt.NDArray[np.uint64]

MARGIN = 16  # bytes that must stand before the first number and after the last
MOST_DIGITS = 15  # below 2^53, whatever the digits are
NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")

_MINUS, _POINT, _NOUGHT = np.uint8(ord("-")), np.uint8(ord(".")), np.uint8(ord("0"))
_NOUGHTS = np.uint64(0x3030303030303030)
_ABOVE_NINE = np.uint64(0x7676767676767676)  # sets the high bit of every byte above nine
_HIGH_BITS = np.uint64(0x8080808080808080)
_POWERS = 10.0 ** np.arange(MOST_DIGITS + 1)


def _last_bytes(count: int) -> int:
    """Return a mask for the last `count` of eight bytes; the last one is the most significant."""
    return (1 << 64) - (1 << (64 - 8 * min(max(count, 0), 8)))


# Of the last eight bytes of a number, and of the eight before: those after the decimal point.
_LAST_EIGHT = np.array([_last_bytes(n) for n in range(MOST_DIGITS + 1)], np.uint64)
_EIGHT_BEFORE = np.array([_last_bytes(n - 8) for n in range(MOST_DIGITS + 1)], np.uint64)


def parse_decimals(
    text: Bytes, starts: RowIndices, ends: RowIndices
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return the numbers that stand at text[start:end], and which of them are vouched for.

    `text` has MARGIN bytes of anything before the first number and after the last.
    """
    negative = text.take(starts) == _MINUS
    firsts = starts + negative
    whole, points, vouched = _whole_parts(text, firsts)
    counts = ends - points - 1  # digits after the point
    vouched &= counts >= 0
    vouched &= ends - firsts <= MOST_DIGITS + 1
    before, last = _sixteen_before(text, ends)
    last ^= _NOUGHTS
    last &= _LAST_EIGHT.take(counts, mode="clip")
    others = _other_than_digits(last)
    fraction = _join_digits(last).astype(np.float64)
    if counts.max(initial=0) > 8:
        before ^= _NOUGHTS
        before &= _EIGHT_BEFORE.take(counts, mode="clip")
        others |= _other_than_digits(before)
        fraction += _join_digits(before).astype(np.float64) * 1e8
    vouched &= others == 0
    scale = _POWERS.take(counts, mode="clip")
    whole *= scale
    whole += fraction
    whole /= scale
    np.negative(whole, out=whole, where=negative)
    return whole, vouched


def parse_decimal(token: bytes) -> float | None:
    """Return one number of any form, or None if it is not one that float32 can hold."""
    if NUMBER.fullmatch(token) is None:
        return None
    value = float(token)
    return value if abs(value) < _TOO_LARGE else None


# Half way between the largest float32 and the next power of two: from here on, infinity is nearer.
_TOO_LARGE = 2.0**128 - 2.0**103


def _whole_parts(
    text: Bytes, firsts: RowIndices
) -> tuple[npt.NDArray[np.float64], RowIndices, npt.NDArray[np.bool_]]:
    """Return the numbers before the points, and where the points stand."""
    digits = text.take(firsts) - _NOUGHT
    vouched = digits <= 9
    whole = digits.astype(np.float64)
    points = firsts + 1
    longer = np.flatnonzero(text.take(points) != _POINT)  # few, as a rule
    for _ in range(5):
        if not len(longer):
            break
        at = points[longer]
        digits = text[at] - _NOUGHT
        vouched[longer] &= digits <= 9
        whole[longer] = whole[longer] * 10 + digits
        points[longer] = at + 1
        longer = longer[text[at + 1] != _POINT]
    vouched[longer] = False
    return whole, points, vouched


def _sixteen_before(text: Bytes, ends: RowIndices) -> tuple[Words64, Words64]:
    """Return the eight bytes before the last eight, and the last eight."""
    overlapping = np.ndarray(len(text) - 15, "V16", text, strides=(1,))
    pairs = overlapping[ends - 16].view("<u8").reshape(-1, 2)
    return pairs[:, 0].astype(np.uint64), pairs[:, 1].astype(np.uint64)


def _other_than_digits(digits: Words64) -> Words64:
    """Return zero where all eight bytes are 0 to 9."""
    others = digits + _ABOVE_NINE
    others |= digits
    others &= _HIGH_BITS
    return others


def _join_digits(digits: Words64) -> Words64:
    """Return d1 10^7 + ... + d8, of eight bytes 0 to 9 with the first digit in the lowest byte."""
    joined = digits * np.uint64(10 * 2**8 + 1)
    joined >>= np.uint64(8)
    joined &= np.uint64(0x00FF00FF00FF00FF)
    joined *= np.uint64(100 * 2**16 + 1)
    joined >>= np.uint64(16)
    joined &= np.uint64(0x0000FFFF0000FFFF)
    joined *= np.uint64(10_000 * 2**32 + 1)
    joined >>= np.uint64(32)
    return joined
