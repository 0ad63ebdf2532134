"""Pairs of words whose sorted similarities with their own language's words are most alike.

    profile_i = row i of (XX')^(1/2), sorted;    pairs: both ways the best CSLS of profiles

Artetxe, Labaka, Agirre: "A robust self-learning method for fully unsupervised cross-lingual
mappings of word embeddings", ACL 2018, section "Fully unsupervised initialization".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.fitting.seeds.seed import Language, Seed, weighted_pairs
from geomm_plugin.fitting.seeds.structure import factor, profiles
from geomm_plugin.registry.parameters import AtLeast, Within
from geomm_plugin.retrieval import best_neighbors


@dataclass(kw_only=True, eq=False, repr=False)
class SortedRows(Seed):
    """Pair words that have alike neighbourhoods, by the sorted rows of the root of XX'."""

    name: ClassVar[str] = "sorted_rows"

    words: Annotated[int, AtLeast(2)] = 4000  # most frequent words of each language
    power: Annotated[float, Within(0, 1)] = 0.5  # p of the kernels K^p

    def pairs(self, source: Language, target: Language) -> RowPairs:
        """Return the best by CSLS in both directions; found both ways, a pair counts twice."""
        count = min(self.words, len(source), len(target))
        x = _shape(source.frequent(count), self.power)
        z = _shape(target.frequent(count), self.power)
        best = best_neighbors(x, z)
        rows = np.concatenate([np.arange(len(best.forth)), best.back])
        columns = np.concatenate([best.forth, np.arange(len(best.back))])
        return weighted_pairs(rows, columns, np.ones(len(rows)))


def _shape(vectors: Matrix, power: float) -> Matrix:
    return profiles(factor(vectors, power), len(vectors))
