"""The multi-step framework: whiten, rotate, re-weight, de-whiten, reduce.

With X and Z one row per pair, and (.)^(-1/2) of symmetric matrices:

    whiten      S_x = (X'X)^(-1/2)                   S_z = (Z'Z)^(-1/2)            (or I)
    rotate      S_x X'Z S_z = U diag(s) V'  (SVD):   X S_x U                       Z S_z V
                (min over rotations of ||X S_x U - Z S_z V||^2)
    re-weight   columns times s^p                    p for the source              p for the target
    de-whiten   times U' S_x^-1 U                    times V' S_z^-1 V             (or I)
    reduce      the first columns only

    A_s = S_x U diag(s^p) U' S_x^-1 U,     A_t = S_z V diag(s^p) V' S_z^-1 V

Artetxe, Labaka, Agirre: "Generalizing and Improving Bilingual Word Embedding Mappings with a
Multi-Step Framework of Linear Transformations", AAAI 2018. Their tables re-weight one side only,
(p, p) = (1, 0) or (0, 1); (0.5, 0.5) treats both languages alike. Without whitening and
re-weighting it is Procrustes; with whitening, without re-weighting and de-whitening it is CCA.

Retrieved by inverted softmax, this is the system MSF-ISF of the GeoMM paper; by CSLS, MSF.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.factorization import eigh, svd
from geomm_plugin.fit_report import FitReport
from geomm_plugin.fitting.hub import RELATIVE_RANK_TOLERANCE, Edge, HubMapper
from geomm_plugin.fitting.latent import Inference
from geomm_plugin.fitting.moments import cross, gram
from geomm_plugin.registry.parameters import AtLeast


@dataclass(kw_only=True, eq=False, repr=False)
class MSF(HubMapper):
    """Whiten both languages, rotate, weigh directions by their correlation, de-whiten."""

    name: ClassVar[str] = "msf"
    space: ClassVar[Inference] = "latent"

    normalize: tuple[str, ...] | None = ("unit", "center", "unit")
    whiten: bool = True  # make the dictionary's directions alike before the rotation
    source_power: Annotated[float, AtLeast(0)] = 0.5  # p of the source; 0 leaves it as it is
    target_power: Annotated[float, AtLeast(0)] = 0.5  # p of the target
    dewhiten: bool = True  # give each language its own variances back; nothing without whitening
    dimension: Annotated[int, AtLeast(1)] | None = None  # of the shared space; None keeps all

    @property
    def width(self) -> int | None:
        """The dimension asked for."""
        return self.dimension

    def learn_sides(self, edge: Edge, report: FitReport) -> tuple[Matrix, Matrix]:
        """Return both maps by the steps above."""
        covariance = cross(edge.x, edge.z, edge.pairs)
        if not self.whiten:
            u, s, v = svd(covariance)
            return self._reduce(u * s**self.source_power, v * s**self.target_power)
        x_variance = gram(edge.x, edge.pairs.source)
        z_variance = gram(edge.z, edge.pairs.target)
        x_whitening, z_whitening = power(x_variance, -0.5), power(z_variance, -0.5)
        u, s, v = svd(x_whitening @ covariance @ z_whitening)
        source = x_whitening @ u * s**self.source_power
        target = z_whitening @ v * s**self.target_power
        if self.dewhiten:
            source = source @ u.T @ power(x_variance, 0.5) @ u
            target = target @ v.T @ power(z_variance, 0.5) @ v
        return self._reduce(source, target)

    def _reduce(self, source: Matrix, target: Matrix) -> tuple[Matrix, Matrix]:
        return source[:, : self.dimension], target[:, : self.dimension]


def power(variance: Matrix, exponent: float) -> Matrix:
    """Return a power of a positive semi-definite matrix, on its range (so 0 stays 0)."""
    values, basis = eigh(variance)
    kept = values > values.max(initial=0) * RELATIVE_RANK_TOLERANCE
    powers = np.power(values, exponent, out=np.zeros_like(values), where=kept)
    result: Matrix = (basis * powers) @ basis.T
    return result
