"""Words in UTF-8, one after the other, and where each of them ends: as files hold vocabularies.

    text = b"thedogbañera",   bounds = [0, 3, 6, 13]   ->   ["the", "dog", "bañera"]

To decode a block of words at once and cut the result is several times as fast as to decode each
word. Characters are counted by the bytes that begin one.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from geomm_plugin.arrays import BLOCK_ROWS, slices

ENCODING = ("utf-8", "surrogatepass")  # any text at all, also bytes that were not UTF-8


def unpack_words(text: bytes, bounds: npt.NDArray[np.int64]) -> list[str]:
    """Return the words between each two bounds, which rise; or a UnicodeDecodeError."""
    words: list[str] = []
    for part in slices(len(bounds) - 1, BLOCK_ROWS):
        own = bounds[part.start : part.stop + 1]
        words += _unpack_block(text[own[0] : own[-1]], own - own[0])
    return words


def _unpack_block(text: bytes, bounds: npt.NDArray[np.int64]) -> list[str]:
    decoded = text.decode(*ENCODING)
    if len(decoded) < len(text):
        goes_on = (np.frombuffer(text, np.uint8) & 0xC0) == 0x80  # bytes that begin no character
        cut = np.flatnonzero(goes_on[bounds[bounds < len(text)]])
        if len(cut):
            at = int(bounds[cut[0]])
            raise UnicodeDecodeError("utf-8", text, at, at + 1, "a word begins within a character")
        bounds = bounds - np.searchsorted(np.flatnonzero(goes_on), bounds)
    return [decoded[begin:end] for begin, end in pairwise(bounds.tolist())]
