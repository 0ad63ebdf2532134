"""The interface of a feature: numbers of (source word, target word) that a re-ranker may use."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from geomm_plugin.arrays import Matrix, RowIndices, Vector
from geomm_plugin.errors import ParameterError
from geomm_plugin.retrieval.interface import Index, Retrieval
from geomm_plugin.retrieval.unit_rows import UnitRows

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NO_PAIRS = np.empty((0, 2), np.intp)


@dataclass(frozen=True)
class Proposals:
    """Pairs (query, target) that a feature wants looked at, and what it adds to their scores."""

    rows: RowIndices
    columns: RowIndices
    bonus: Vector


@dataclass(frozen=True, eq=False)
class Base:
    """What is re-ranked: a retrieval, and its index of the two languages.

    Parameters
    ----------
    pairs
        Known translations, one per row: the number of a source word and of a target word. Features
        that learn from the training dictionary learn from these; there may be none.
    """

    retrieval: Retrieval
    index: Index
    pairs: RowIndices = field(default_factory=lambda: NO_PAIRS)
    _made: dict[str, Any] = field(default_factory=dict)

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what several features share, which the first that asks makes."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]


class Feature(ABC):
    """Numbers of pairs of words; made once for two languages, then asked about many pairs.

    Write `values`; a feature that finds candidates by itself writes `propose`, too. Of the two
    languages take what you need: mapped rows are made when they are asked for. A feature that
    learns from the training dictionary finds it in `base.pairs`: weights are learnt on words that
    are not among them.

    Parameters
    ----------
    source, target
        The two languages: `words`, and unit rows by `rows(numbers)` or `all()`.
    base
        The retrieval whose best answers are re-ranked, its index, and known translations.
    """

    name: ClassVar[str]
    fixed_weights: ClassVar[Mapping[str, float]]
    # The name of each number, and its weight where no weights were learnt.

    def __init__(self, source: UnitRows, target: UnitRows, base: Base):
        self.source = source
        self.target = target
        self.base = base

    @abstractmethod
    def values(self, queries: UnitRows, targets: RowIndices) -> Matrix:
        """Return the numbers of each query with each of its targets.

        Parameters
        ----------
        targets
            One row of target rows for each query.

        Returns
        -------
            An array (queries, targets of a query, numbers).
        """

    def propose(self, queries: UnitRows) -> Proposals:
        """Return pairs that the base may have missed; by default none."""
        return Proposals(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0))


class SparseFeature(Feature):
    """Thousands of yes-or-no numbers, few of them at once: write `table` instead of `values`.

    Their weights are learnt with the others. They count as one number of the feature's name, the
    sum of the weights of those that hold, which is 0 where nothing was learnt.
    """

    columns: ClassVar[int]  # how many there are
    weights: Vector | None = None  # of the columns, as they were learnt
    is_reversed: bool = False  # whether they were learnt in the other direction

    def learn(self, weights: Vector, is_reversed: bool) -> None:
        """Take the weights of the columns."""
        if len(weights) != self.columns:
            raise ParameterError(
                f"The feature {self.name!r} has {self.columns} columns, but {len(weights)} weights "
                "were learnt. Learn them again with this version of it."
            )
        self.weights, self.is_reversed = weights, is_reversed

    @abstractmethod
    def table(self, queries: UnitRows, targets: RowIndices) -> csr_array:
        """Return a row for each pair, query after query, with 1 in the columns that hold."""

    def values(self, queries: UnitRows, targets: RowIndices) -> Matrix:
        """Return the sum of the weights of what holds for each pair."""
        if self.weights is None:
            return np.zeros((*targets.shape, 1))
        sums: Matrix = self.table(queries, targets) @ self.weights
        return sums.reshape((*targets.shape, 1))


def words_of(rows: UnitRows, what: str) -> Sequence[str]:
    """Return the words of unit rows, which a feature reads."""
    if rows.words is None:
        raise ParameterError(
            f"The {what} vectors came without their words, which this retrieval reads. Translate "
            "through a SharedSpace, or give UnitRows(vectors, words)."
        )
    return rows.words


def evenly(pairs: RowIndices, most: int) -> RowIndices:
    """Return pairs in the order of their source words, at most so many, evenly chosen."""
    ordered = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    if len(ordered) <= most:
        return ordered
    return ordered[np.linspace(0, len(ordered) - 1, most).astype(np.intp)]
