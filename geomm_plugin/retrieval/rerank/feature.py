"""The interface of a feature: numbers of (source word, target word) that a re-ranker may use."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from geomm_plugin.arrays import Matrix, RowIndices, Vector
from geomm_plugin.errors import ParameterError
from geomm_plugin.retrieval.interface import Index, Retrieval
from geomm_plugin.retrieval.unit_rows import UnitRows


@dataclass(frozen=True)
class Proposals:
    """Pairs (query, target) that a feature wants looked at, and what it adds to their scores."""

    rows: RowIndices
    columns: RowIndices
    bonus: Vector


@dataclass(frozen=True, eq=False)
class Base:
    """What is re-ranked: a retrieval, and its index of the two languages."""

    retrieval: Retrieval
    index: Index


class Feature(ABC):
    """Numbers of pairs of words; made once for two languages, then asked about many pairs.

    Write `values`; a feature that finds candidates by itself writes `propose`, too. Of the two
    languages take what you need: mapped rows are made when they are asked for.

    Parameters
    ----------
    source, target
        The two languages: `words`, and unit rows by `rows(numbers)` or `all()`.
    base
        The retrieval whose best answers are re-ranked, and its index.
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


def words_of(rows: UnitRows, what: str) -> Sequence[str]:
    """Return the words of unit rows, which a feature reads."""
    if rows.words is None:
        raise ParameterError(
            f"The {what} vectors came without their words, which this retrieval reads. Translate "
            "through a SharedSpace, or give UnitRows(vectors, words)."
        )
    return rows.words
