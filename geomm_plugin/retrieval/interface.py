"""The interface of a retrieval."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from geomm_plugin.arrays import Matrix, RowIndices, Vector
from geomm_plugin.registry.parameters import changed_parameters
from geomm_plugin.retrieval.unit_rows import AnyRows, UnitRows, as_unit_rows


@dataclass(frozen=True)
class Neighbors:
    """For each query (row) its best targets, best first; of equal ones the lower row first."""

    indices: RowIndices
    scores: Matrix


@dataclass(frozen=True)
class BestNeighbors:
    """The best target of each source row, its score, and the best source of each target row."""

    forth: RowIndices
    forth_scores: Vector
    back: RowIndices

    def mutual(self) -> tuple[RowIndices, RowIndices, Vector]:
        """Return the pairs that are each other's best: source rows, target rows, scores."""
        source = np.flatnonzero(self.back[self.forth] == np.arange(len(self.forth)))
        return source, self.forth[source], self.forth_scores[source]


@dataclass(frozen=True)
class PairBonus:
    """What is added to the CSLS of some pairs of rows, such as those of similar spelling."""

    source: RowIndices
    target: RowIndices
    bonus: Vector

    def within(self, sources: int, targets: int) -> PairBonus:
        """Return those among the first rows."""
        inside = (self.source < sources) & (self.target < targets)
        return PairBonus(self.source[inside], self.target[inside], self.bonus[inside])


class Index(ABC):
    """Answers questions about one source and one target vocabulary.

    It is cheap to make: work is done when it is asked for, and what was learnt is kept.
    """

    @abstractmethod
    def search(self, queries: AnyRows, k: int) -> Neighbors:
        """Return the k best targets of each query (all of them, if there are fewer)."""

    @abstractmethod
    def ranks(
        self, queries: AnyRows, gold: Sequence[RowIndices], depth: int | None = None
    ) -> RowIndices:
        """Return the rank of each query's best gold target: 1 + the wrong ones that score >= it.

        Parameters
        ----------
        gold
            For each query the rows of its correct targets, at least one.
        depth
            Deeper ranks all come back as depth + 1. Most words
            are found near the top, so that a small depth saves most of the work.
        """

    def pair_scores(
        self, queries: AnyRows, rows: RowIndices, columns: RowIndices, least: Vector | None = None
    ) -> Vector:
        """Return the scores of pairs (query, target), as search returns them.

        This one ranks all targets; an index that can score a pair by itself does so.

        Parameters
        ----------
        least
            A score that each pair should have; those of pairs that have less are not needed.
        """
        scores = np.empty(len(rows))
        every = as_unit_rows(queries, "query")
        for number in np.unique(rows):
            best = self.search(every.select(slice(number, number + 1)), int(columns.max()) + 1)
            wanted = np.flatnonzero(rows == number)
            order = np.argsort(best.indices[0])
            place = np.searchsorted(best.indices[0], columns[wanted], sorter=order)
            scores[wanted] = best.scores[0][order[place]]
        return scores


class Retrieval(ABC):
    """A score that ranks target words; what its constructor takes are its parameters."""

    name: ClassVar[str]

    @property
    def label(self) -> str:
        """The name, and the parameters that are not the default: "csls", "csls(k=5)"."""
        changed = ", ".join(f"{name}={value!r}" for name, value in changed_parameters(self).items())
        return f"{self.name}({changed})" if changed else self.name

    def with_learnt(self, weights: Mapping[str, float] | None) -> Retrieval:
        """Return this retrieval with weights learnt for two languages, if it uses any."""
        return self

    def both_ways(self, source: UnitRows, target: UnitRows, back: Retrieval) -> BestNeighbors:
        """Return the best of all rows in both directions; on the way back by another retrieval."""
        forth = self.index(source, target).search(source, 1)
        backwards = back.index(target, source).search(target, 1)
        return BestNeighbors(forth.indices[:, 0], forth.scores[:, 0], backwards.indices[:, 0])

    @abstractmethod
    def index(self, source: AnyRows, target: AnyRows) -> Index:
        """Prepare to search target rows for source rows.

        A shared space gives `UnitRows`: rows of length 1 that are mapped when they are asked for,
        and their words. Arrays of unit rows are welcome, too: `as_unit_rows(source, "source")`
        takes both.
        """
