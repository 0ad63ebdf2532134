"""[fit] Words of dictionaries that are held out: to choose a parameter by, and to judge a method.

A parameter is chosen on `splits`, by what each candidate's maps translate in a `Pool` of frequent
words. A method is judged by cross-fitting: for each fold of `divide` it is fitted to the others,
and to induced pairs that share no word with the fold; then it translates the words of the fold. So
every word of a dictionary judges, and two methods are compared word by word.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import Mask, Matrix, RowIndices, Vector
from geomm_plugin.dictionary import RowPairs, folds
from geomm_plugin.fit_report import Choice, FitReport, HeldOut
from geomm_plugin.fitting.hub import Edge
from geomm_plugin.mapper import LinearMapper, Pairs, Vectors
from geomm_plugin.normalize import unit
from geomm_plugin.work import each_part

POOL_WORDS = 1500  # translations are searched among these frequent words and those held out
ENOUGH_WORDS = 500  # held-out words, in all folds together, by which candidates differ
MOST_WORDS = 1000  # held-out words of one fold: more cost time and change nothing
FEWEST_WORDS = 10  # of a dictionary; below, nothing can be held out
NEIGHBORS = 10  # of CSLS
SPARE_WORDS = 500  # source words that a dictionary must have before it is cross-fitted
MOST_FOLDS = 5  # of cross-fitting
CHOOSING = "Choosing lambda"
PATIENCE = 5  # steps of a descent without a better held-out P@1 after which no more are tried

# From a candidate to (A_source, A_target); what all candidates share is computed before.
MapsOf: TypeAlias = Callable[[float], tuple[Matrix, Matrix]]
Trial: TypeAlias = "tuple[MapsOf, Pool]"  # what was fitted, and the words held out of it


def splits(pairs: RowPairs, seed: int = 0) -> list[tuple[RowPairs, RowPairs]]:
    """Divide pairs by source word into (train, held out), 80/20, one to five times.

    Small dictionaries are divided more often, so that enough words are held out in all. The order
    of the pairs does not matter. Induced pairs are the model's own output, so they are never held
    out, and what was induced for held-out words is left out of the training.
    """
    words = np.unique(pairs.given().source)
    if len(words) < FEWEST_WORDS:
        return []
    count = int(np.clip(np.ceil(5 * ENOUGH_WORDS / len(words)), 1, 5))
    divided = [np.isin(pairs.source, part) for part in folds(words.tolist(), 5, seed)[:count]]
    return [
        (pairs.take(np.flatnonzero(~aside)), pairs.take(np.flatnonzero(aside)).given())
        for aside in divided
    ]


def choose(candidates: Sequence[float], trials: Sequence[Trial], *, default: float) -> Choice:
    """Return the candidate whose maps translate held-out words best, on average over the trials.

    Every second candidate (they are in increasing order) is tried, then the neighbours of the best
    one. Without trials, since there are too few words to hold any out, it is the default.
    """
    if not trials:
        return Choice(default, {})
    scores: dict[float, float] = {}
    with progress.task(CHOOSING, total=len(candidates) // 2 + 3, unit="candidates") as advance:

        def best_of(tried: Sequence[float]) -> float:
            new = [candidate for candidate in tried if candidate not in scores]
            parts = [(*trial, candidate) for candidate in new for trial in trials]
            found = each_part(CHOOSING, _precision, (), parts, in_memory=True)
            for candidate in new:
                scores[candidate] = float(np.mean([next(found) for _ in trials]))
                advance(1, note=f"{candidate:g}: P@1 {scores[candidate]:.3f}")
            return max(scores, key=lambda candidate: scores[candidate])

        at = list(candidates).index(best_of(candidates[::2]))
        best = best_of(candidates[max(at - 1, 0) : at + 2])
    return Choice(best, dict(sorted(scores.items())))


def _precision(tried: tuple[MapsOf, Pool, float]) -> float:
    maps_of, pool, candidate = tried
    return pool.precision(*maps_of(candidate))


class Pool:
    """Held-out words, and the frequent words among which they look for their translations."""

    def __init__(self, source: Any, target: Any, held_out: RowPairs):
        used = np.isin(held_out.source, np.unique(held_out.source)[:MOST_WORDS])
        held_out = held_out.take(np.flatnonzero(used))
        self.words = len(np.unique(held_out.source))
        source_rows, self.source_places = _pool_rows(len(source), held_out.source)
        target_rows, self.target_places = _pool_rows(len(target), held_out.target)
        self.source, self.target = source[source_rows], target[target_rows]

    def precision(self, source_map: Matrix, target_map: Matrix) -> float:
        """Return P@1 by CSLS, averaged over both directions."""
        there, back = self.correct(source_map, target_map)
        return float(there.mean() + back.mean()) / 2

    def correct(self, source_map: Matrix, target_map: Matrix) -> tuple[Mask, Mask]:
        """Say which held-out words have a gold one as their best by CSLS, in both directions."""
        cosines = self._cosines(source_map, target_map)
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

    def ranks(self, source_map: Matrix, target_map: Matrix) -> tuple[Vector, Vector]:
        """Return the rank of each held-out pair by CSLS, in both directions, and the last ranks."""
        cosines = self._cosines(source_map, target_map)
        last: Vector = np.repeat(cosines.shape[::-1], len(self.source_places))
        if not np.isfinite(cosines).all():
            return last, last
        there = _ranks(cosines, self.source_places, self.target_places)
        back = _ranks(cosines.T, self.target_places, self.source_places)
        return np.concatenate([there, back]), last

    def _cosines(self, source_map: Matrix, target_map: Matrix) -> Matrix:
        x = unit(self.source @ source_map.astype(self.source.dtype))
        z = unit(self.target @ target_map.astype(self.target.dtype))
        cosines: Matrix = x @ z.T
        return cosines


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
    return by_word(queries, best[word_of_pair] == gold)


def _ranks(cosines: Matrix, queries: RowIndices, gold: RowIndices) -> Vector:
    """Return for each pair how many words are at least as near to the query as its translation."""
    scores = 2 * cosines[queries] - _neighborhood(cosines.T)
    own = scores[np.arange(len(queries)), gold]
    ranks: Vector = (scores >= own[:, None]).sum(axis=1)
    return ranks


def by_word(words: RowIndices, is_right: Mask) -> Mask:
    """Say for each different word of some pairs whether one of its pairs is right."""
    different, word_of_pair = np.unique(words, return_inverse=True)
    found = np.zeros(len(different), bool)
    np.logical_or.at(found, word_of_pair, is_right)
    return found


class Descending(LinearMapper):
    """Write descent(); the number of steps is given, or chosen on held-out words."""

    iterations: int | Literal["auto"]
    max_iterations: int  # of which "auto" chooses
    seed: int  # of the held-out words

    @abstractmethod
    def descent(self, edge: Edge, report: FitReport, count: int) -> Iterator[tuple[Any, float]]:
        """Yield the start and what up to `count` steps reach, each with its loss."""

    def descend(
        self,
        edge: Edge,
        report: FitReport,
        maps_of: Callable[[Any], tuple[Matrix, Matrix]],
        otherwise: int,
    ) -> Any:
        """Return what the given number of steps reaches, or the best on held-out words.

        Parameters
        ----------
        maps_of
            The maps of both sides, from what the descent yields.
        otherwise
            The number of steps where too few words are there to hold any out.
        """
        story = report.extras.setdefault("descent", {}).setdefault(str(edge), {})
        count = 0 if self.iterations == "auto" else self.iterations
        if self.iterations == "auto":
            curve: list[float] = []
            for train, held_out in splits(edge.pairs, self.seed)[:1]:
                pool, part = Pool(edge.x, edge.z, held_out), replace(edge, pairs=train)
                most, label = self.max_iterations, f"Choosing iterations of {edge}"
                with progress.task(label, most, "steps") as advance:
                    for state, _ in self.descent(part, FitReport(), most):
                        curve.append(pool.precision(*maps_of(state)))
                        advance(1)
                        if len(curve) - 1 - int(np.argmax(curve)) >= PATIENCE:
                            break
                report.held_out[str(edge)] = HeldOut(max(curve), pool.words)
            count = int(np.argmax(curve)) if curve else otherwise
            story["held-out p@1"] = curve
        losses: list[float] = []
        with progress.task(f"{type(self).__name__} {edge}", count + 1, "steps") as advance:
            for step in self.descent(edge, report, count):
                state, loss = step
                losses.append(loss)
                advance(1, f"loss {loss:.4f}")
        story["iterations"], story["losses"] = len(losses) - 1, losses
        return state


@dataclass(frozen=True)
class Fold:
    """Pairs to train on, and pairs of other source words that are held out."""

    train: Pairs
    held_out: Pairs

    def without_held_out(self, induced: Pairs) -> Pairs:
        """Leave out induced pairs that share a word with what is held out."""
        apart = dict(induced)
        for edge, aside in self.held_out.items():
            own = induced[edge]
            shares = np.isin(own.source, aside.source) | np.isin(own.target, aside.target)
            apart[edge] = own.take(np.flatnonzero(~shares))
        return apart


@dataclass(frozen=True)
class HeldOutHits:
    """Which held-out words are translated, by dictionary and direction."""

    is_correct: Sequence[Mask]

    @property
    def precision(self) -> float:
        """P@1: the mean over dictionaries and directions."""
        return float(np.mean([words.mean() for words in self.is_correct]))

    def summary(self) -> HeldOut:
        """Return P@1 and how many source words there are; directions share their words."""
        return HeldOut(self.precision, sum(map(len, self.is_correct[::2])))

    def gain(self, other: HeldOutHits) -> tuple[float, float]:
        """Return how far P@1 is above another one on the same words, and its standard error.

        The directions of a dictionary share their words, so their errors are not averaged out.
        """
        both = zip(self.is_correct, other.is_correct, strict=True)
        gains = [mine.astype(float) - theirs for mine, theirs in both]
        errors = [gain.std() / np.sqrt(len(gain)) for gain in gains]
        return float(np.mean([gain.mean() for gain in gains])), float(np.mean(errors))


class CrossFit:
    """The folds of some dictionaries, each with the words that it translates."""

    def __init__(self, vectors: Vectors, folds: Sequence[Fold]):
        self.vectors = vectors
        self.folds = folds
        self._pools = [
            {(s, t): Pool(vectors[s], vectors[t], own) for (s, t), own in fold.held_out.items()}
            for fold in folds
        ]

    def hits(self, mapper: LinearMapper, training: Sequence[Pairs]) -> HeldOutHits:
        """Fit the mapper to the training pairs of each fold; return what it translates."""
        parts = []
        for pairs, pools in zip(training, self._pools, strict=True):
            maps = mapper.learn(self.vectors, pairs, FitReport())
            parts.append(
                [mask for (s, t), pool in pools.items() for mask in pool.correct(maps[s], maps[t])]
            )
        return HeldOutHits([np.concatenate(masks) for masks in zip(*parts, strict=True)])


def divide(
    pairs: Pairs, share: float, seed: int, most: int = MOST_FOLDS, spare: int = SPARE_WORDS
) -> list[Fold]:
    """Divide the source words of each dictionary that can spare them into folds.

    Parameters
    ----------
    share
        The part of a dictionary's words that a fold holds out; at least one word, if it is not 0.
    spare
        Source words that a dictionary must have before some are held out.
    """
    random = np.random.default_rng(seed)
    large = {edge: np.unique(own.given().source) for edge, own in pairs.items()}
    large = {edge: words for edge, words in large.items() if len(words) >= spare}
    if not large or not share:
        return []
    count = max(1, min(most, int(1 / share + 1e-9)))
    orders = {edge: random.permutation(words) for edge, words in large.items()}
    folds = []
    for number in range(count):
        train, held_out = dict(pairs), {}
        for edge, order in orders.items():
            size = max(1, round(share * len(order)))
            is_held_out = np.isin(pairs[edge].source, order[number * size : (number + 1) * size])
            train[edge] = pairs[edge].take(np.flatnonzero(~is_held_out))
            held_out[edge] = pairs[edge].take(np.flatnonzero(is_held_out))
        folds.append(Fold(train, held_out))
    return folds
