"""fastText's subwords: the character n-grams of <word>, hashed to rows.

    h = 2166136261;  for each byte b:  h = (h xor b) * 16777619  (mod 2^32, b sign-extended)

Bojanowski, Grave, Joulin, Mikolov: "Enriching Word Vectors with Subword Information", TACL 2017. An
n-gram is n characters of UTF-8; < or > alone is not one. All words are hashed at once: round n
extends the n-gram that begins at each character by its n-th character.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

LONGEST_NGRAM = 100  # characters; a damaged file that claims more would take hours to hash
_OFFSET, _PRIME = 2166136261, 16777619


def ngram_hashes(
    words: Sequence[bytes], shortest: int, longest: int
) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.uint32]]]:
    """Yield (index of the word, hash) of all n-grams of a length, for each length in turn.

    Each n-gram comes as often as its word holds it.
    """
    text = np.frombuffer(b"".join(b"<%b>" % word for word in words), np.uint8)
    ends = np.cumsum([len(word) + 2 for word in words])
    starts = np.flatnonzero((text & 0xC0) != 0x80)  # the other bytes continue a character
    owner = np.searchsorted(ends, starts, side="right")
    end = ends[owner]
    is_bracket = np.append(True, np.diff(owner) > 0) | np.append(np.diff(owner) > 0, True)
    character_end = np.zeros(len(text) + 1, np.intp)  # where the character that starts here ends
    character_end[starts] = np.minimum(np.append(starts[1:], len(text)), end)
    signed = text.view(np.int8).astype(np.int32).view(np.uint32)

    hashes = np.full(len(starts), _OFFSET, np.uint32)
    position = starts.copy()
    active = np.arange(len(starts))
    for length in range(1, longest + 1):
        active = active[position[active] < end[active]]
        until = character_end[position[active]]
        growing = active
        while len(growing):
            grown = (hashes[growing] ^ signed[position[growing]]).astype(np.uint64) * _PRIME
            hashes[growing] = grown.astype(np.uint32)
            position[growing] += 1
            unfinished = position[growing] < until
            growing, until = growing[unfinished], until[unfinished]
        if length >= shortest:
            found = active[~is_bracket[active]] if length == 1 else active
            yield owner[found], hashes[found]
