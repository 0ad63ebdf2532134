"""[fit] Choosing a parameter by how well held-out words of the dictionary are translated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from geomm_plugin import progress
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.embeddings import Matrix, RowIndices
from geomm_plugin.normalize import unit
from geomm_plugin.retrieval import CSLS

POOL_WORDS = 3000  # translations are searched among so many frequent words and the dictionary's
ENOUGH_WORDS = 2500  # one split holds out enough words above this; below, every word has its turn
FEWEST_WORDS = 10  # below, nothing can be held out


@dataclass(frozen=True)
class Choice:
    """The best of several candidates, and the held-out P@1 of each."""

    value: float
    scores: dict[float, float]


def folds(pairs: RowPairs, seed: int = 0) -> list[tuple[RowPairs, RowPairs]]:
    """Divide pairs by source word into (train, held out): once 80/20, or five times if few.

    The order of the pairs does not matter.
    """
    words = np.unique(pairs.source)
    if len(words) < FEWEST_WORDS:
        return []
    fold_of = np.empty(len(words), np.intp)
    fold_of[np.random.default_rng(seed).permutation(len(words))] = np.arange(len(words)) % 5
    fold_of_pair = fold_of[np.searchsorted(words, pairs.source)]
    count = 1 if len(words) >= ENOUGH_WORDS else 5
    return [
        (
            pairs.take(np.flatnonzero(fold_of_pair != n)),
            pairs.take(np.flatnonzero(fold_of_pair == n)),
        )
        for n in range(count)
    ]


def choose(
    candidates: Sequence[float],
    fit: Callable[[RowPairs], Callable[[float], tuple[Matrix, Matrix]]],
    source: Any,
    target: Any,
    pairs: RowPairs,
    *,
    default: float,
    seed: int = 0,
) -> Choice:
    """Return the candidate whose maps translate held-out words best, in both directions.

    Parameters
    ----------
    fit
        Takes training pairs; returns a function from a candidate to (A_source, A_target), so that
        what all candidates share is computed once.
    source, target
        Vectors by row: arrays or NormalizedVectors.
    default
        What to return if there are too few words to hold any out.
    """
    parts = folds(pairs, seed)
    totals = dict.fromkeys(candidates, 0.0)
    with progress.task("Choosing", total=len(parts) * len(candidates)) as advance:
        for train, held_out in parts:
            solution = fit(train)
            pool = Pool(source, target, held_out)
            for candidate in candidates:
                totals[candidate] += pool.precision(*solution(candidate)) / len(parts)
                advance(1)
    if not parts:
        return Choice(default, {})
    return Choice(max(totals, key=lambda candidate: totals[candidate]), totals)


class Pool:
    """The words among which held-out words look for their translations."""

    def __init__(self, source: Any, target: Any, held_out: RowPairs):
        source_rows, self.source_pairs = _pool_rows(len(source), held_out.source)
        target_rows, self.target_pairs = _pool_rows(len(target), held_out.target)
        self.source, self.target = source[source_rows], target[target_rows]

    def precision(self, source_map: Matrix, target_map: Matrix) -> float:
        """Return P@1 by CSLS, averaged over both directions."""
        x = unit(self.source @ source_map.astype(np.float32))
        z = unit(self.target @ target_map.astype(np.float32))
        there = _precision(x, z, self.source_pairs, self.target_pairs)
        back = _precision(z, x, self.target_pairs, self.source_pairs)
        return (there + back) / 2


def _pool_rows(vocabulary: int, needed: RowIndices) -> tuple[RowIndices, RowIndices]:
    """Return the rows of a pool, and where in it the needed rows stand."""
    rows = np.union1d(np.arange(min(POOL_WORDS, vocabulary)), needed)
    return rows, np.searchsorted(rows, needed)


def _precision(x: Matrix, z: Matrix, queries: RowIndices, gold: RowIndices) -> float:
    words, first = np.unique(queries, return_inverse=True)
    best = CSLS().index(x, z).search(x[words], 1).indices[:, 0]
    right = np.zeros(len(words), bool)
    np.logical_or.at(right, first, best[first] == gold)
    return float(right.mean())
