"""[fit] Choosing a parameter by how well held-out words of the dictionary are translated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import Mask, Matrix, RowIndices, Vector
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.fit_report import Choice
from geomm_plugin.normalize import unit
from geomm_plugin.work import each_part

POOL_WORDS = 1500  # translations are searched among so many frequent words and the held-out ones
ENOUGH_WORDS = 500  # held-out words, in all folds together, that tell candidates apart
MOST_WORDS = 1000  # held-out words of one fold: more cost time and change nothing
FEWEST_WORDS = 10  # of a dictionary; below, nothing can be held out
NEIGHBORS = 10  # of CSLS

# From a candidate to (A_source, A_target); what all candidates share is computed before.
MapsOf: TypeAlias = Callable[[float], tuple[Matrix, Matrix]]


def folds(pairs: RowPairs, seed: int = 0) -> list[tuple[RowPairs, RowPairs]]:
    """Divide pairs by source word into (train, held out), 80/20, one to five times.

    Small dictionaries are divided more often, so that enough words are held out in all. The order
    of the pairs does not matter. Induced pairs are the model's own output, so they are never held
    out, and what was induced for held-out words is left out of the training.
    """
    words = np.unique(pairs.given().source)
    if len(words) < FEWEST_WORDS:
        return []
    fold_of = np.empty(len(words), np.intp)
    fold_of[np.random.default_rng(seed).permutation(len(words))] = np.arange(len(words)) % 5
    place = np.minimum(np.searchsorted(words, pairs.source), len(words) - 1)
    fold_of_pair = np.where(words[place] == pairs.source, fold_of[place], -1)
    count = int(np.clip(np.ceil(5 * ENOUGH_WORDS / len(words)), 1, 5))
    divided = [(fold_of_pair != number, fold_of_pair == number) for number in range(count)]
    return [
        (pairs.take(np.flatnonzero(a)), pairs.take(np.flatnonzero(b)).given()) for a, b in divided
    ]


@dataclass(frozen=True)
class Trial:
    """What was fitted on training pairs, for any candidate, and the words held out of it."""

    maps_of: MapsOf
    pool: Pool


def choose(candidates: Sequence[float], trials: Sequence[Trial], *, default: float) -> Choice:
    """Return the candidate whose maps translate held-out words best, on average over the trials.

    Every second candidate (they are in increasing order) is tried, then the neighbours of the best
    one. Without trials, since there are too few words to hold any out, it is the default.
    """
    if not trials:
        return Choice(default, {})
    scores: dict[float, float] = {}
    with progress.task("Choosing", total=len(candidates) // 2 + 3) as advance:

        def best_of(tried: Sequence[float]) -> float:
            new = [candidate for candidate in tried if candidate not in scores]
            both = [(trial, candidate) for candidate in new for trial in trials]
            found = each_part("Choosing", _precision, (), both, in_memory=True)
            for candidate in new:
                scores[candidate] = float(np.mean([next(found) for _ in trials]))
                advance(1, note=f"{candidate:g}: P@1 {scores[candidate]:.3f}")
            return max(scores, key=lambda candidate: scores[candidate])

        at = list(candidates).index(best_of(candidates[::2]))
        best = best_of(candidates[max(at - 1, 0) : at + 2])
    return Choice(best, dict(sorted(scores.items())))


def _precision(tried: tuple[Trial, float]) -> float:
    trial, candidate = tried
    return trial.pool.precision(*trial.maps_of(candidate))


class Pool:
    """Held-out words, and the frequent words among which they look for their translations."""

    def __init__(self, source: Any, target: Any, held_out: RowPairs):
        used = np.isin(held_out.source, np.unique(held_out.source)[:MOST_WORDS])
        held_out = held_out.take(np.flatnonzero(used))
        source_rows, self.source_places = _pool_rows(len(source), held_out.source)
        target_rows, self.target_places = _pool_rows(len(target), held_out.target)
        self.source, self.target = source[source_rows], target[target_rows]

    def precision(self, source_map: Matrix, target_map: Matrix) -> float:
        """Return P@1 by CSLS, averaged over both directions."""
        there, back = self.correct(source_map, target_map)
        return float(there.mean() + back.mean()) / 2

    def correct(self, source_map: Matrix, target_map: Matrix) -> tuple[Mask, Mask]:
        """Say which held-out words have a gold one as their best by CSLS, in both directions."""
        x = unit(self.source @ source_map.astype(self.source.dtype))
        z = unit(self.target @ target_map.astype(self.target.dtype))
        cosines = x @ z.T
        if not np.isfinite(cosines).all():
            counts = (len(np.unique(rows)) for rows in (self.source_places, self.target_places))
            there, back = (np.zeros(count, bool) for count in counts)
            return there, back
        turned = np.ascontiguousarray(cosines.T)
        r_target, r_source = _neighborhood(cosines), _neighborhood(turned)
        return (
            _is_correct(cosines, r_source, self.source_places, self.target_places),
            _is_correct(turned, r_target, self.target_places, self.source_places),
        )


def _pool_rows(vocabulary: int, needed: RowIndices) -> tuple[RowIndices, RowIndices]:
    """Return the rows of a pool, and where in it the needed rows stand."""
    rows = np.union1d(np.arange(min(POOL_WORDS, vocabulary)), needed)
    return rows, np.searchsorted(rows, needed)


def _neighborhood(cosines: Matrix) -> Vector:
    """Return the mean of each row's largest cosines."""
    k = min(NEIGHBORS, cosines.shape[1])
    means: Vector = np.partition(cosines, -k, axis=1)[:, -k:].mean(axis=1)
    return means


def _is_correct(cosines: Matrix, hubness: Vector, queries: RowIndices, gold: RowIndices) -> Mask:
    """Say for each query word whether its best target by CSLS is a gold one."""
    words, word_of_pair = np.unique(queries, return_inverse=True)
    best = (2 * cosines[words] - hubness).argmax(axis=1)
    is_correct = np.zeros(len(words), bool)
    np.logical_or.at(is_correct, word_of_pair, best[word_of_pair] == gold)
    return is_correct
