"""GeoMM without the metric (ablation 3 of the paper): B = I.

    min over R'R = I of   ||X_s R X_t' - Y||^2  =  tr(A R C R') - 2 tr(R'M) + |Omega|

A classification loss cannot be met by a rotation alone (wrong pairs score too high), so
results are poor: that is what the ablation shows. Conjugate gradient from the Procrustes rotation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from geomm_plugin.arrays import Matrix
from geomm_plugin.factorization import polar
from geomm_plugin.fit_report import FitReport
from geomm_plugin.fitting.edge import Edge
from geomm_plugin.fitting.hub import HubMapper
from geomm_plugin.fitting.riemannian import minimize
from geomm_plugin.mappers.geomm import cost_of


@dataclass(kw_only=True, eq=False, repr=False)
class RotationOnly(HubMapper):
    """Learn only a rotation, by classification (ablation 3): shows what the metric is worth."""

    name: ClassVar[str] = "rotation_only"

    def learn_edge(self, edge: Edge, report: FitReport) -> Matrix:
        """Return the rotation R."""
        from pymanopt.manifolds import Stiefel

        moments = edge.moments()
        start = polar(moments.cross)
        wide = start.shape[0] < start.shape[1]  # Stiefel's matrices are tall
        if wide:
            moments, start = moments.transpose(), start.T

        def cost(rotation: Matrix) -> float:
            return cost_of(moments, rotation, 0.0)

        def gradient(rotation: Matrix) -> tuple[Matrix]:
            return (2 * (moments.source @ rotation @ moments.target - moments.cross),)

        minimum = minimize(
            Stiefel(*start.shape),
            cost,
            gradient,
            (start,),
            tolerance=1e-4,
            max_iterations=200,  # the ablation is poor wherever it stops
            label="Rotating",
        )
        report.solver[str(edge)] = minimum.run()
        rotation = minimum.point[0]
        return rotation.T if wide else rotation
