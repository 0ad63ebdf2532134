"""[fit] Rounds of fitting and pairing up, and the pairs of words that maps find by themselves.

    maps_r = fit(pairs_r),   pairs_r+1 = induce(maps_r)

Every method that learns from its own translations is a walk through `rounds`; what differs is the
fit, how pairs are found, and when it ends (often on a `Plateau` of the mean CSLS of the mutual
pairs, which says how good maps are without a dictionary).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np

from geomm_plugin.arrays import BLOCK_ROWS, Matrix, RowIndices, Vector, slices
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.fitting.seeds.seed import unit_images, weighted_pairs
from geomm_plugin.language_graph import LanguagePair
from geomm_plugin.mapper import Pairs, Vectors
from geomm_plugin.retrieval.both_ways import Shortlist, best_neighbors
from geomm_plugin.rows import Rows

MIN_LABEL = 1e-3  # CSLS that the label of an induced pair does not fall below

Induction: TypeAlias = Literal["mutual", "union"]
Maps = TypeVar("Maps")
Found = TypeVar("Found")


class Round(Generic[Maps, Found]):
    """Maps, the pairs that they were fitted to, and those that they find in turn."""

    def __init__(self, maps: Maps, pairs: Found, induce: Callable[[Maps], Found]):
        self.maps = maps
        self.pairs = pairs
        self._induce = induce

    @cached_property
    def found(self) -> Found:
        """The pairs that the maps find; searched when they are first asked for."""
        return self._induce(self.maps)


def rounds(
    pairs: Found, fit: Callable[[Found], Maps], induce: Callable[[Maps], Found]
) -> Iterator[Round[Maps, Found]]:
    """Yield rounds without end: each is fitted to what the one before it found."""
    while True:
        last = Round(fit(pairs), pairs, induce)
        yield last
        pairs = last.found


@dataclass
class Plateau:
    """A stopping rule: the mean has not risen for `patience` rounds.

    Parameters
    ----------
    min_gain
        A smaller rise above the best mean so far is none; relative to the mean, or as it is.
    """

    patience: int
    min_gain: float
    relative: bool = True
    best: float = -np.inf
    stalled: int = 0

    def is_reached(self, mean: float) -> bool:
        """Take the mean of the next round into account; True if it is time to end."""
        needed = self.min_gain * (abs(mean) if self.relative else 1)
        self.stalled = 0 if mean > self.best + needed else self.stalled + 1
        self.best = max(self.best, mean)
        return self.stalled >= self.patience


class Paired(NamedTuple):
    """Pairs that maps found, and the mean CSLS of those that are mutual."""

    pairs: RowPairs
    mean_csls: float


@dataclass(frozen=True)
class Induced:
    """The pairs that maps find by themselves, and the mean CSLS of those that are mutual."""

    pairs: Pairs
    mean_csls: float
    words: int  # most frequent words of each language that were translated
    listed: Mapping[LanguagePair, Shortlist | None]  # among which; none: among all
    best: Mapping[LanguagePair, RowIndices] = field(default_factory=dict)  # of each source word

    def __len__(self) -> int:
        return sum(len(pairs) for pairs in self.pairs.values())


def induce(
    vectors: Vectors,
    maps: Mapping[str, Matrix],
    edges: Sequence[LanguagePair],
    words: int,
    induction: Induction,
    listed: Mapping[LanguagePair, Shortlist | None] | None = None,
) -> Induced:
    """Translate the most frequent words of each pair of languages by CSLS, and pair them up.

    Candidates are shortlisted (`geomm_plugin.retrieval.both_ways`): the few pairs that a list
    misses are missed in one round of many.

    Parameters
    ----------
    induction
        "mutual": words that are each other's best; what the maps are sure of counts more. "union":
        the best of every word, in both directions; a pair found twice counts twice.
    listed
        What an earlier search among the same words listed; by default they are searched anew.
    """
    languages = {language for edge in edges for language in edge}
    mapped = {name: _unit_rows(vectors[name], maps[name], words) for name in languages}
    pairs: dict[LanguagePair, RowPairs] = {}
    best_of: dict[LanguagePair, RowIndices] = {}
    means = []
    if listed is None:
        listed = {(s, t): Shortlist.search(mapped[s], mapped[t]) for s, t in edges}
    for source, target in edges:
        own, x, z = listed[source, target], mapped[source], mapped[target]
        best = best_neighbors(x, z) if own is None else own.best(x, z)
        pairs[source, target], mean = sure_pairs(*best.mutual())
        if induction == "union":
            rows = np.concatenate([np.arange(len(best.forth)), best.back])
            columns = np.concatenate([best.forth, np.arange(len(best.back))])
            pairs[source, target] = RowPairs(rows, columns)
        best_of[source, target] = best.forth
        means.append(mean)
    return Induced(pairs, float(np.mean(means)), words, listed, best_of)


def sure_pairs(rows: RowIndices, columns: RowIndices, scores: Vector) -> Paired:
    """Return mutual pairs, each labelled with its CSLS (1 on average), and their mean CSLS."""
    pairs = weighted_pairs(rows, columns, np.maximum(scores, MIN_LABEL))
    return Paired(pairs, float(scores.mean()) if len(scores) else -1.0)


def _unit_rows(vectors: Rows, matrix: Matrix, words: int) -> Matrix:
    mapped = np.empty((min(words, len(vectors)), matrix.shape[1]), np.float32)
    for part in slices(len(mapped), BLOCK_ROWS):
        mapped[part] = unit_images(vectors[part], matrix)
    return mapped


def join_mutual(dictionary: RowPairs, induced: RowPairs) -> RowPairs:
    """Return the pairs of both, each once; those of the dictionary keep their label."""
    both = join_all(dictionary, induced)
    _, first = np.unique(np.stack([both.source, both.target]), axis=1, return_index=True)
    return both.take(first)


def join_all(dictionary: RowPairs, induced: RowPairs) -> RowPairs:
    """Return the pairs of both; what is found twice counts twice."""
    parts = (dictionary, induced)
    hard = all(part.labels is None for part in parts)
    return RowPairs(
        np.concatenate([part.source for part in parts]),
        np.concatenate([part.target for part in parts]),
        labels=None if hard else np.concatenate([part.label() for part in parts]),
        induced=np.arange(len(dictionary) + len(induced)) >= len(dictionary),
    )
