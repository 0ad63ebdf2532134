"""The interface of a retrieval."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from geomm_plugin.arrays import Matrix, RowIndices
from geomm_plugin.parameters import changed_parameters
from geomm_plugin.retrieval.unit_rows import Rows


@dataclass(frozen=True)
class Neighbors:
    """For each query (row) its best targets, best first; of equal ones the lower row first."""

    indices: RowIndices
    scores: Matrix


class Index(ABC):
    """Answers questions about one source and one target vocabulary.

    It is cheap to make: work is done when it is asked for, and what was learnt is kept.
    """

    @abstractmethod
    def search(self, queries: Rows, k: int) -> Neighbors:
        """Return the k best targets of each query (all of them, if there are fewer)."""

    @abstractmethod
    def ranks(
        self, queries: Rows, gold: Sequence[RowIndices], depth: int | None = None
    ) -> RowIndices:
        """Return the rank of each query's best gold target: 1 + the wrong ones that score >= it.

        Parameters
        ----------
        gold
            For each query the rows of its correct targets, at least one.
        depth
            Ranks past this one need not be told apart: they come back as depth + 1. Most words
            are found near the top, so that a small depth saves most of the work.
        """


class Retrieval(ABC):
    """A score that ranks target words; what its constructor takes are its parameters."""

    name: ClassVar[str]

    @property
    def label(self) -> str:
        """The name, and the parameters that are not the default: "csls", "csls(k=5)"."""
        changed = ", ".join(f"{name}={value!r}" for name, value in changed_parameters(self).items())
        return f"{self.name}({changed})" if changed else self.name

    @abstractmethod
    def index(self, source: Rows, target: Rows) -> Index:
        """Prepare to search target rows for source rows.

        A shared space gives `UnitRows`: rows of length 1 that are mapped when they are asked for,
        and their words. Arrays of unit rows are welcome, too: `as_unit_rows(source, "source")`
        takes both.
        """
