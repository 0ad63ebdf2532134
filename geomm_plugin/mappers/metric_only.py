"""GeoMM without the rotations (ablation 2 of the paper): U_s = U_t = I, W = B.

    min over B positive semi-definite of
    sum over dictionaries of ||X B Z' - Y||^2  +  lambda ||B||^2

One metric for all languages, A_L = B^(1/2). The spaces are not aligned, so results are poor: that
is what the ablation shows. Solved in B = L L' by L-BFGS, which has no other minima for a full L.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from geomm_plugin.arrays import Matrix, Vector
from geomm_plugin.errors import LanguagesError
from geomm_plugin.factorization import eigh, few_threads
from geomm_plugin.fit_report import ALL_DICTIONARIES, FitReport, SolverRun
from geomm_plugin.fitting.moments import Moments
from geomm_plugin.mapper import LinearMapper, Pairs, Vectors
from geomm_plugin.mappers.geomm import cost_of
from geomm_plugin.registry.parameters import AtLeast


@dataclass(kw_only=True, eq=False, repr=False)
class MetricOnly(LinearMapper):
    """Learn only a metric, by classification (ablation 2): shows what the rotations are worth."""

    name: ClassVar[str] = "metric_only"

    regularization: Annotated[float, AtLeast(0)] = 100.0  # lambda
    max_iterations: Annotated[int, AtLeast(1)] = 500

    def learn(self, vectors: Vectors, pairs: Pairs, report: FitReport) -> dict[str, Matrix]:
        """Return the root of B for every language."""
        from scipy.optimize import minimize

        dimensions = {language: view.shape[1] for language, view in vectors.items()}
        if len(set(dimensions.values())) > 1:
            shown = ", ".join(f"{name} {size}" for name, size in dimensions.items())
            raise LanguagesError(
                f"metric_only needs languages of one dimension; these differ: {shown}. "
                "Use geomm, procrustes, unconstrained or regression."
            )
        d = next(iter(dimensions.values()))
        moments = [Moments.of(vectors[s], vectors[t], own) for (s, t), own in pairs.items()]
        # In units of `scale` the factor L is of order one, whatever the size of the dictionary.
        scale = np.sqrt(sum(np.trace(m.source) * np.trace(m.target) for m in moments)) / d or 1.0

        def loss(flat: Vector) -> tuple[float, Vector]:
            factor = flat.reshape(d, d)
            metric = factor @ factor.T / scale
            cost = self.regularization * float(np.vdot(metric, metric))
            slope = 2 * self.regularization * metric
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
        report.solver[ALL_DICTIONARIES] = SolverRun(
            "L-BFGS", int(minimum.nit), str(minimum.message), float(minimum.fun)
        )
        values, basis = eigh(factor @ factor.T / scale)
        root = basis * np.sqrt(values)
        return dict.fromkeys(vectors, root)
