"""Orthogonal Procrustes: the rotation that brings each source word nearest to its translation.

    min over R'R = I of ||X R - Z||^2 :     X'Z = P S V'  (SVD),     R = P V'

X and Z hold one row per pair. Schönemann (1966); for word embeddings Xing et al. (2015),
Artetxe et al. (2016), Smith et al. (2017). Where dimensions differ, R is
semi-orthogonal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from geomm_plugin.arrays import Matrix
from geomm_plugin.factorization import polar
from geomm_plugin.fit_report import FitReport
from geomm_plugin.fitting.hub import Edge, HubMapper
from geomm_plugin.fitting.moments import cross


@dataclass(kw_only=True, eq=False, repr=False)
class Procrustes(HubMapper):
    """Rotate the source onto the target: fast, exact, keeps all distances within a language."""

    name: ClassVar[str] = "procrustes"

    def learn_pair(self, x: Matrix, z: Matrix) -> Matrix:
        """Return R from paired rows."""
        return polar(x.T.astype("float64") @ z.astype("float64"))

    def learn_edge(self, edge: Edge, report: FitReport) -> Matrix:
        """Return R from X'Z alone."""
        return polar(cross(edge.x, edge.z, edge.pairs))
