"""GeoMM without the rotations (ablation 2 of the paper): U_s = U_t = I, W = B.

    min over B positive semi-definite of
    sum over dictionaries of ||X B Z' - Y||^2  +  lambda ||B||^2

One metric for all languages, A_L = B^(1/2). The spaces are not aligned, so results are poor: that
is what the ablation shows. Solved in B = L L' by L-BFGS, which has no other minima for a full L.
lambda is the value at which the dictionaries, each by itself, translate held-out words best on
average, times their number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from geomm_plugin.arrays import Matrix, Vector
from geomm_plugin.errors import LanguagesError
from geomm_plugin.factorization import eigh, few_threads
from geomm_plugin.fit_report import ALL_DICTIONARIES, FitReport, SolverRun
from geomm_plugin.fitting.held_out import MapsOf
from geomm_plugin.fitting.hub import Edge, edges_of
from geomm_plugin.fitting.moments import Moments
from geomm_plugin.fitting.regularized import Regularization, Regularized
from geomm_plugin.mapper import Pairs, Vectors
from geomm_plugin.mappers.geomm import cost_of
from geomm_plugin.registry.parameters import AtLeast


@dataclass(kw_only=True, eq=False, repr=False)
class MetricOnly(Regularized):
    """Learn only a metric, by classification (ablation 2): shows what the rotations are worth."""

    name: ClassVar[str] = "metric_only"
    candidates: ClassVar[tuple[float, ...]] = (1, 10, 100, 1e3, 1e4)
    default: ClassVar[float] = 100.0

    regularization: Regularization = "auto"  # lambda, or by validation
    max_iterations: Annotated[int, AtLeast(1)] = 500
    seed: Annotated[int, AtLeast(0)] = 0  # of the held-out words

    def learn(self, vectors: Vectors, pairs: Pairs, report: FitReport) -> dict[str, Matrix]:
        """Return the root of B for every language."""
        dimensions = {language: view.shape[1] for language, view in vectors.items()}
        if len(set(dimensions.values())) > 1:
            shown = ", ".join(f"{name} {size}" for name, size in dimensions.items())
            raise LanguagesError(
                f"metric_only needs languages of one dimension; these differ: {shown}. "
                "Use geomm, procrustes, unconstrained or regression."
            )
        edges = edges_of(vectors, pairs)
        moments = [edge.moments() for edge in edges]
        regularization = self.choose_regularization(edges, report)
        root, report.solver[ALL_DICTIONARIES] = self._minimize(moments, regularization)
        return dict.fromkeys(vectors, root)

    def maps_of(self, edge: Edge) -> MapsOf:
        """Return a function from lambda to the root of B, for both sides."""
        moments = [edge.moments()]
        return lambda regularization: (self._minimize(moments, regularization)[0],) * 2

    def _minimize(
        self, moments: Sequence[Moments], regularization: float
    ) -> tuple[Matrix, SolverRun]:
        """Return B^(1/2), and how the search for it ended."""
        from scipy.optimize import minimize

        d = len(moments[0].cross)
        # In units of `scale` the factor L is of order one, whatever the size of the dictionary.
        scale = np.sqrt(sum(np.trace(m.source) * np.trace(m.target) for m in moments)) / d or 1.0

        def loss(flat: Vector) -> tuple[float, Vector]:
            factor = flat.reshape(d, d)
            metric = factor @ factor.T / scale
            cost = regularization * float(np.vdot(metric, metric))
            slope = 2 * regularization * metric
            for m in moments:
                cost += cost_of(m, metric, 0.0)
                slope = slope + 2 * (m.source @ metric @ m.target - m.cross)
            return cost, ((slope + slope.T) @ factor / scale).ravel()

        with few_threads():
            minimum = minimize(
                loss,
                np.eye(d).ravel(),
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": self.max_iterations, "ftol": 1e-10, "gtol": 1e-12},
            )
        factor = minimum.x.reshape(d, d)
        values, basis = eigh(factor @ factor.T / scale)
        run = SolverRun("L-BFGS", int(minimum.nit), str(minimum.message), float(minimum.fun))
        return basis * np.sqrt(values), run
