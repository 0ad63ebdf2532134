"""fastText's subwords: the character n-grams of <word>, hashed to rows.

    h = 2166136261;  for each byte b:  h = (h xor b) * 16777619  (mod 2^32, b sign-extended)

Bojanowski, Grave, Joulin, Mikolov: "Enriching Word Vectors with Subword Information", TACL 2017. An
n-gram is n characters of UTF-8; < or > alone is not one. All words are hashed at once: round n
extends the n-gram that begins at each character by its n-th character.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

LONGEST_NGRAM = 100  # characters; a damaged file that claims more would take hours to hash
_OFFSET, _PRIME = 2166136261, 16777619


def ngram_hashes(
    words: Sequence[bytes], shortest: int, longest: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.uint32]]:
    """Return (index of the word, hash) of each n-gram of shortest to longest characters.

    They come word by word, as often as the word holds them.
    """
    return _hashes([b"<%b>" % word for word in words], shortest, longest)


def ngram_hashes_in_pieces(
    word: bytes, shortest: int, longest: int, at_once: int
) -> Iterator[npt.NDArray[np.uint32]]:
    """Yield the hashes of one long word: those of n-grams that begin at `at_once` characters."""
    whole = b"<%b>" % word
    starts = np.flatnonzero((np.frombuffer(whole, np.uint8) & 0xC0) != 0x80)
    for first in range(0, len(starts), at_once):
        after = (
            first + at_once + longest
        )  # one character more than needed, so that no piece seems to end the word
        end = int(starts[after]) if after < len(starts) else len(whole)
        piece = whole[int(starts[first]) : end]
        yield _hashes([piece], shortest, longest, at_once, begins=first == 0)[1]


def _hashes(
    texts: Sequence[bytes],
    shortest: int,
    longest: int,
    places: int | None = None,
    begins: bool = True,
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.uint32]]:
    """Hash the n-grams that begin at the first `places` characters of all texts together."""
    text = np.frombuffer(b"".join(texts), np.uint8)
    ends = np.cumsum([len(word) for word in texts])
    owner_of_byte = np.repeat(np.arange(len(texts)), [len(word) for word in texts])
    starts = np.flatnonzero((text & 0xC0) != 0x80)  # the other bytes continue a character
    next_start = np.append(starts[1:], len(text))
    owner = owner_of_byte[starts]
    end = ends[owner]
    begins_word = (starts == np.append(0, ends[:-1])[owner]) & begins
    signed = text.view(np.int8).astype(np.int32).view(np.uint32)
    character_end = np.zeros(len(text) + 1, np.intp)  # where the character that starts here ends
    character_end[starts] = np.minimum(next_start, end)

    hashes = np.full(len(starts), _OFFSET, np.uint32)
    position = starts.copy()
    ngram_owners: list[npt.NDArray[Any]] = []
    ngram_hash_values: list[npt.NDArray[Any]] = []
    active = np.arange(len(starts))[:places]
    for length in range(1, longest + 1):
        active = active[position[active] < end[active]]
        if not len(active):
            break
        until = character_end[position[active]]
        growing = active
        while len(growing):
            grown = (hashes[growing] ^ signed[position[growing]]).astype(np.uint64) * _PRIME
            hashes[growing] = grown.astype(np.uint32)
            position[growing] += 1
            unfinished = position[growing] < until
            growing, until = growing[unfinished], until[unfinished]
        if length >= shortest:
            bracket = (length == 1) & (begins_word[active] | (position[active] == end[active]))
            ngram_owners.append(owner[active[~bracket]])
            ngram_hash_values.append(hashes[active[~bracket]])
    if not ngram_owners:
        return np.empty(0, np.intp), np.empty(0, np.uint32)
    owners, values = np.concatenate(ngram_owners), np.concatenate(ngram_hash_values)
    order = np.argsort(owners, kind="stable")
    return owners[order], values[order]
