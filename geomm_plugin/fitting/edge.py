"""One dictionary of a fit, with the vectors of both its languages."""

from __future__ import annotations

from dataclasses import dataclass

from geomm_plugin.arrays import Matrix
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.fitting.moments import Moments
from geomm_plugin.rows import Rows


@dataclass(frozen=True)
class Edge:
    """One dictionary of a fit: two languages, their normalized vectors, and pairs of their rows."""

    source: str
    target: str
    x: Rows
    z: Rows
    pairs: RowPairs

    def moments(self) -> Moments:
        """Return the d x d matrices of the loss over unique words."""
        return Moments.of(self.x, self.z, self.pairs)

    def paired_rows(self) -> tuple[Matrix, Matrix]:
        """Return the vectors of both sides, one row per pair."""
        return self.x[self.pairs.source], self.z[self.pairs.target]

    def __str__(self) -> str:
        return f"{self.source}-{self.target}"
