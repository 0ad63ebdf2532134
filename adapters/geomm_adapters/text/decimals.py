"""Decimal numbers in bulk: [-]w.f with n digits after the point is (w 10^n + f) / 10^n.

Digits are read eight at a time: eight bytes are one 64-bit integer, in which neighbors are joined
by three multiplications (to pairs, fours, eight). Numerator and denominator are exact in
float64 up to fifteen digits, so that the one division rounds as Python's float() does, to the bit.
Other forms (an exponent, more digits, no point) are not exact here: see parse_decimal.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from geomm_plugin.arrays import RowIndices

Bytes: TypeAlias = npt.NDArray[np.uint8]

MARGIN = 16  # bytes that must stand before the first number and after the last
DECIMAL_BYTES = b"0123456789.+-eE"
TOO_LARGE = 2.0**128 - 2.0**103  # half way from the largest float32 to 2^128: infinity is nearer

_MAX_DIGITS_AFTER_POINT = 12  # read as eight and four
_MAX_DIGITS_BEFORE_POINT = 3  # so that there are at most fifteen digits: always below 2^53
_MINUS, _POINT, _ZERO = np.uint8(ord("-")), np.uint8(ord(".")), np.uint8(ord("0"))
_ZEROS = np.uint64(0x3030303030303030)
_ABOVE_NINE = np.uint64(0x7676767676767676)  # sets the high bit of every byte above nine
_HIGH_BITS = np.uint64(0x8080808080808080)
_POWERS = 10.0 ** np.arange(_MAX_DIGITS_AFTER_POINT + 1)


def _masks(width: int, counts: Iterable[int]) -> list[int]:
    """Return masks of the last `count` of `width` bytes; the last byte is the highest one."""
    widths = [min(max(count, 0), width) for count in counts]
    return [(1 << 8 * width) - (1 << 8 * (width - masked)) for masked in widths]


# Masks of the digits after the point, in a number's last eight bytes and in the four before.
_LAST_EIGHT = np.array(_masks(8, range(_MAX_DIGITS_AFTER_POINT + 1)), np.uint64)
_FOUR_BEFORE = np.array(_masks(4, range(-8, _MAX_DIGITS_AFTER_POINT - 7)), np.uint32)


def parse_decimals(
    text: Bytes, starts: RowIndices, ends: RowIndices
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return the numbers that stand at text[start:end], and which of them are exact.

    `text` has MARGIN bytes of anything before the first number and after the last.
    """
    negative = text.take(starts) == _MINUS
    firsts = starts + negative
    values, points, is_exact = _whole_parts(text, firsts)
    counts = ends - points
    counts -= 1  # digits after the point
    is_exact &= (
        counts.view(np.uintp) <= _MAX_DIGITS_AFTER_POINT
    )  # a negative count wraps to a huge one
    scale = _POWERS.take(counts, mode="clip")
    values *= scale
    if (is_exact & (counts > 8)).any():
        sixteen = _bytes_before(text, ends, 16)
        eight = sixteen.view("<u8")[1::2].astype(np.uint64)
        four = sixteen.view("<u4")[1::4].astype(np.uint32)
        four ^= np.uint32(_ZEROS & 0xFFFFFFFF)
        four &= _FOUR_BEFORE.take(counts, mode="clip")
        is_exact &= _are_digits(four)
        values += _join_four(four) * 1e8
    else:
        eight = _bytes_before(text, ends, 8).view("<u8").astype(np.uint64, copy=False)
    eight ^= _ZEROS
    eight &= _LAST_EIGHT.take(counts, mode="clip")
    is_exact &= _are_digits(eight)
    values += _join_eight(eight)
    values /= scale
    bits = values.view(np.uint64)
    bits ^= negative.astype(np.uint64) << np.uint64(63)  # without a branch
    return values, is_exact


def parse_decimal(token: bytes) -> float | None:
    """Return one number of any form, or None if it is none."""
    # float() takes more than decimal numbers (nan, 1_000, other digits), but not of these bytes.
    if token.translate(None, DECIMAL_BYTES):
        return None
    try:
        return float(token)
    except ValueError:
        return None


def _whole_parts(
    text: Bytes, firsts: RowIndices
) -> tuple[npt.NDArray[np.float64], RowIndices, npt.NDArray[np.bool_]]:
    """Return the numbers before the points, the points' positions, and which are exact."""
    digits = text.take(firsts) - _ZERO
    is_exact = digits <= 9
    whole = digits.astype(np.float64)
    points = firsts + 1
    longer = np.flatnonzero(text.take(points) != _POINT)  # usually few
    for _ in range(_MAX_DIGITS_BEFORE_POINT - 1):
        if not len(longer):
            break
        at = points[longer]
        digits = text[at] - _ZERO
        is_exact[longer] &= digits <= 9
        whole[longer] = whole[longer] * 10 + digits
        points[longer] = at + 1
        longer = longer[text[at + 1] != _POINT]
    is_exact[longer] = False
    return whole, points, is_exact


def _bytes_before(text: Bytes, ends: RowIndices, width: int) -> npt.NDArray[np.void]:
    """Return the last `width` bytes before each end."""
    overlapping = np.ndarray(len(text) - width + 1, f"V{width}", text, strides=(1,))
    return overlapping[ends - width]


def _are_digits(digits: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Say where every byte is 0 to 9."""
    kind = digits.dtype.type
    other = digits + kind(_ABOVE_NINE & np.iinfo(kind).max)
    other |= digits
    other &= kind(_HIGH_BITS & np.iinfo(kind).max)
    result: npt.NDArray[np.bool_] = other == 0
    return result


def _join_eight(digits: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    """Return d1 10^7 + ... + d8, of eight bytes 0 to 9 with the first digit in the lowest byte."""
    joined = digits * np.uint64(10 * 2**8 + 1)
    joined >>= np.uint64(8)
    joined &= np.uint64(0x00FF00FF00FF00FF)
    joined *= np.uint64(100 * 2**16 + 1)
    joined >>= np.uint64(16)
    joined &= np.uint64(0x0000FFFF0000FFFF)
    joined *= np.uint64(10_000 * 2**32 + 1)
    joined >>= np.uint64(32)
    return joined.astype(np.float64)


def _join_four(digits: npt.NDArray[np.uint32]) -> npt.NDArray[np.float64]:
    """Return d1 10^3 + ... + d4, of four bytes."""
    joined = digits * np.uint32(10 * 2**8 + 1)
    joined >>= np.uint32(8)
    joined &= np.uint32(0x00FF00FF)
    joined *= np.uint32(100 * 2**16 + 1)
    joined >>= np.uint32(16)
    return joined.astype(np.float64)
