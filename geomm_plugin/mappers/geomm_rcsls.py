"""GeoMM, then the CSLS loss: what the GeoMM paper names as future work.

    min over W = U_s B U_t' of the relaxed CSLS loss (see `rcsls`), from the exact GeoMM solution

Every W is U_s B U_t' by its SVD, so the descent runs over W. It starts at GeoMM's closed form (at
spectral norm 1) instead of a rotation, and words are compared in the latent space. The number of
steps is chosen on held-out words; if none helps, the result *is* GeoMM.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from geomm_plugin.arrays import Matrix
from geomm_plugin.factorization import spectral_norm
from geomm_plugin.fit_report import FitReport
from geomm_plugin.fitting.hub import Edge
from geomm_plugin.fitting.regularized import Regularization
from geomm_plugin.mappers.geomm import GeoMM
from geomm_plugin.mappers.rcsls import RCSLS


@dataclass(kw_only=True, eq=False, repr=False)
class GeoMMRCSLS(RCSLS):
    """Start at GeoMM and go on by the CSLS score itself, for as long as held-out words gain."""

    name: ClassVar[str] = "geomm_rcsls"

    normalize: tuple[str, ...] | None = ("unit", "center")  # as GeoMM
    regularization: Regularization = "auto"  # lambda of GeoMM

    def start(self, edge: Edge, report: FitReport) -> Matrix:
        """Return GeoMM's W at spectral norm 1."""
        geomm = GeoMM(regularization=self.regularization, seed=self.seed)
        W = geomm.learn_edge(edge, report)
        largest = spectral_norm(W)
        return W / largest if largest > 0 else W
