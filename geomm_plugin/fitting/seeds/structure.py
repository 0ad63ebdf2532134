"""Pairs by structure: words whose similarities within their own language are most alike.

With X the n most frequent words, centered, and K = XX':

    F = X (X'X)^((p-1)/2)      so that F F' = K^p:  p = 1 is K itself, p = 1/2 its square root
    profile of a word = its row of K^p, sorted, in few quantiles, and normalized

Translations have like profiles: a word with few near neighbours in one language has few in the
other. The root holds the strongest directions back, which frequency and topic fill. The seed
`sorted_rows` takes the best by CSLS of sorted rows of (XX')^(1/2), both ways.
Artetxe, Labaka, Agirre: "A robust self-learning method for fully unsupervised cross-lingual
mappings of word embeddings", ACL 2018, section "Fully unsupervised initialization".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.factorization import eigh
from geomm_plugin.fitting.moments import finite
from geomm_plugin.fitting.seeds.seed import Language, Seed, weighted_pairs
from geomm_plugin.normalize import unit
from geomm_plugin.registry.parameters import AtLeast, Within
from geomm_plugin.retrieval import best_neighbors

RELATIVE_RANK_TOLERANCE = 1e-10  # least weight of a direction, as a part of the heaviest
QUANTILES = 300  # numbers that a profile is cut down to


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


def factor(vectors: Matrix, power: float = 0.5, center: bool = True) -> Matrix:
    """Return F with F F' = K^power of the rows, centered or as they are, in float32."""
    rows = vectors.astype(np.float64)
    if center:
        rows = rows - rows.mean(axis=0)
    values, basis = eigh(finite(rows.T @ rows))
    largest = values.max(initial=0)
    if largest <= 0:
        return np.zeros(rows.shape, np.float32)
    scale = np.maximum(values, largest * RELATIVE_RANK_TOLERANCE) ** ((power - 1) / 2)
    factors: Matrix = (rows @ ((basis * scale) @ basis.T)).astype(np.float32)
    return factors


def profiles(factors: Matrix, quantiles: int = QUANTILES) -> Matrix:
    """Return the sorted similarities of each word with all others, cut down and normalized."""
    count = len(factors)
    edges = np.unique(np.linspace(0, count, min(quantiles, count) + 1).astype(int))
    similarities = factors @ factors.T
    similarities.sort(axis=1)
    means = np.add.reduceat(similarities, edges[:-1], axis=1)
    means /= np.diff(edges).astype(np.float32)
    rows = unit(means)
    return unit(rows - rows.mean(axis=0)).astype(np.float32)
