"""Cross-fitting: how well a method translates words of the dictionaries that its fit never saw.

The source words of each dictionary fall into folds. For each fold, a mapper is fitted to the other
folds, and to induced pairs that share no word with the fold; then it translates the words of the
fold. So every word of a dictionary judges, and the judgement of two methods is paired word by word.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from geomm_plugin.arrays import Mask
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.fit_report import FitReport
from geomm_plugin.fitting.held_out import Pool
from geomm_plugin.language_graph import LanguagePair
from geomm_plugin.mapper import LinearMapper, Pairs, Vectors

SPARE_WORDS = 500  # source words that a dictionary must have before some are held out
MOST_FOLDS = 5


@dataclass(frozen=True)
class Fold:
    """Pairs to train on, and pairs of other source words that are held out."""

    train: Pairs
    held_out: Pairs

    def without_held_out(self, induced: Pairs) -> Pairs:
        """Leave out induced pairs that share a word with what is held out."""
        return {edge: _apart(pairs, self.held_out.get(edge)) for edge, pairs in induced.items()}


@dataclass(frozen=True)
class Judgement:
    """Which held-out words are translated, by dictionary and direction."""

    is_correct: Sequence[Mask]

    @property
    def precision(self) -> float:
        """P@1: the mean over dictionaries and directions."""
        return float(np.mean([words.mean() for words in self.is_correct]))

    def gain(self, other: Judgement) -> tuple[float, float]:
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
        self._pools = [_pools(vectors, fold.held_out) for fold in folds]

    def judge(self, mapper: LinearMapper, training: Sequence[Pairs]) -> Judgement:
        """Fit the mapper to the training pairs of each fold; say what it translates."""
        parts = []
        for pairs, pools in zip(training, self._pools, strict=True):
            maps = mapper.learn(self.vectors, pairs, FitReport())
            parts.append(
                [mask for (s, t), pool in pools.items() for mask in pool.correct(maps[s], maps[t])]
            )
        return Judgement([np.concatenate(masks) for masks in zip(*parts, strict=True)])


def divide(pairs: Pairs, share: float, seed: int, most: int = MOST_FOLDS) -> list[Fold]:
    """Divide the source words of each dictionary that can spare them into folds.

    Parameters
    ----------
    share
        The part of a dictionary's words that a fold holds out; at least one word, if it is not 0.
    """
    random = np.random.default_rng(seed)
    large = {edge: np.unique(own.given().source) for edge, own in pairs.items()}
    large = {edge: words for edge, words in large.items() if len(words) >= SPARE_WORDS}
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


def _pools(vectors: Vectors, held_out: Pairs) -> Mapping[LanguagePair, Pool]:
    return {(s, t): Pool(vectors[s], vectors[t], own) for (s, t), own in held_out.items()}


def _apart(induced: RowPairs, held_out: RowPairs | None) -> RowPairs:
    if held_out is None:
        return induced
    shares = np.isin(induced.source, held_out.source) | np.isin(induced.target, held_out.target)
    return induced.take(np.flatnonzero(~shares))
