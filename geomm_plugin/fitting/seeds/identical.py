"""Pairs of words that are spelt alike in both languages: names, numbers, loan words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from geomm_plugin.dictionary import RowPairs
from geomm_plugin.fitting.seeds.seed import Language, Seed, weighted_pairs


@dataclass(kw_only=True, eq=False, repr=False)
class Identical(Seed):
    """Pair words that both vocabularies hold, letter for letter."""

    name: ClassVar[str] = "identical"
    by_spelling: ClassVar[bool] = True

    def pairs(self, source: Language, target: Language) -> RowPairs:
        """Return every word of both vocabularies, paired with itself."""
        return shared_words(source.words, target.words)


def shared_words(source: Sequence[str], target: Sequence[str]) -> RowPairs:
    """Return the rows of the words that both lists hold; empty words are left out."""
    row_of: dict[str, int] = {}
    for row, word in enumerate(target):
        row_of.setdefault(word, row)
    seen: set[str] = {""}
    pairs: list[tuple[int, int]] = []
    for row, word in enumerate(source):
        if word in row_of and word not in seen:
            seen.add(word)
            pairs.append((row, row_of[word]))
    table = np.array(pairs, np.intp).reshape(-1, 2)
    return weighted_pairs(table[:, 0], table[:, 1], np.ones(len(table)))
