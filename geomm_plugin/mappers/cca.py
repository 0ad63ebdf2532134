"""Canonical correlation analysis: the directions along which translations vary together.

    min over A_s, A_t of ||X A_s - Z A_t||^2   such that   A_s'X'X A_s = A_t'Z'Z A_t = I

    S_x = (X'X)^(-1/2),  S_z = (Z'Z)^(-1/2),   S_x X'Z S_z = U diag(s) V'  (SVD)
    A_s = S_x U_k,   A_t = S_z V_k     with the k directions of the largest correlations s

X and Z hold one row per pair; A_s' X'Z A_t = diag(s_k), the correlations.
Faruqui, Dyer: "Improving Vector Space Word Representations Using Multilingual Correlation", EACL
2014. They tune the fraction of directions that is kept. For many languages through a hub this
is the multiCCA of Ammar et al. (2016), but that the hub's space is whitened, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from geomm_plugin.arrays import Matrix
from geomm_plugin.factorization import svd
from geomm_plugin.fit_report import FitReport
from geomm_plugin.fitting.hub import Edge, HubMapper
from geomm_plugin.fitting.latent import Inference
from geomm_plugin.fitting.moments import cross, gram
from geomm_plugin.mappers.msf import power
from geomm_plugin.registry.parameters import Within


@dataclass(kw_only=True, eq=False, repr=False)
class CCA(HubMapper):
    """Project both languages to the directions in which translations correlate most."""

    name: ClassVar[str] = "cca"
    space: ClassVar[Inference] = "latent"

    keep: Annotated[float, Within(0, 1)] = 0.6  # fraction of a dictionary's directions that is kept

    def learn_sides(self, edge: Edge, report: FitReport) -> tuple[Matrix, Matrix]:
        """Return the canonical projections; at least one direction is kept."""
        x_whitening = power(gram(edge.x, edge.pairs.source), -0.5)
        z_whitening = power(gram(edge.z, edge.pairs.target), -0.5)
        u, s, v = svd(x_whitening @ cross(edge.x, edge.z, edge.pairs) @ z_whitening)
        kept = max(1, round(self.keep * len(s)))
        report.extras.setdefault("canonical correlations", {})[str(edge)] = {
            "kept": kept,
            "first": float(s[0]),
            "last kept": float(s[kept - 1]),
        }
        return x_whitening @ u[:, :kept], z_whitening @ v[:, :kept]
