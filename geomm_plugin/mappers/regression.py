"""Regression with GeoMM's factorization (ablation 5 of the GeoMM paper).

    min over W of   ||X W - Z||^2 + lambda ||W||^2 :     W = (X'X + lambda I)^-1 X'Z = P diag(s) V'

X and Z hold one row per pair: ridge regression; then both languages are mapped into the latent
space, A_s = P sqrt(s), A_t = V sqrt(s). The unfactorized form is Mikolov et al. (2013).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.factorization import eigh
from geomm_plugin.fitting.hub import Edge
from geomm_plugin.fitting.latent import Inference
from geomm_plugin.fitting.moments import cross, gram
from geomm_plugin.fitting.regularized import RegularizedMapper


@dataclass(kw_only=True, eq=False, repr=False)
class Regression(RegularizedMapper):
    """Least squares from source to target, compared in the latent space (ablation 5)."""

    name: ClassVar[str] = "regression"
    space: ClassVar[Inference] = "latent"
    candidates: ClassVar[tuple[float, ...]] = (0.1, 1, 3, 10, 30, 100)
    default: ClassVar[float] = 1.0

    def solutions(self, edge: Edge) -> Callable[[float], Matrix]:
        """Return ridge regression for every lambda, from one eigenbasis of X'X."""
        a, q = eigh(gram(edge.x, edge.pairs.source))
        rotated = q.T @ cross(edge.x, edge.z, edge.pairs)

        def W(regularization: float) -> Matrix:
            denominator = a + regularization
            usable = denominator > denominator.max() * 1e-15
            inverse = np.divide(1.0, denominator, out=np.zeros_like(a), where=usable)
            solution: Matrix = q @ (inverse[:, None] * rotated)
            return solution

        return W
