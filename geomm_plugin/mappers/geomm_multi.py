"""GeoMM for many languages: one rotation for each, and one metric that all dictionaries share.

    min over U_i orthogonal, B positive definite of
        sum over dictionaries (i, j) of 1/|Omega| ||X_i U_i B U_j' X_j' - Y_ij||^2 + lambda ||B||^2

Jawanpuria, Balgovind, Kunchukuttan, Mishra: "Learning Multilingual Word Embeddings in Latent Metric
Space: A Geometric Approach", TACL 2019, the multilingual problem. The dictionaries form a connected
graph, with or without cycles. Each language is mapped by A_i = U_i B^(1/2).

lambda is on the scale of the 1/|Omega| loss: for two languages it is that of `geomm` divided by
|Omega|, and the solutions agree. With "auto" the bilingual problems choose it: for a dictionary's
own closed-form map at c |Omega|, the c that translates held-out words best, on average over all
dictionaries; all of them share one metric, so lambda = c times their number.

The problem is not convex. The search starts from the bilingual closed forms, along a spanning tree
of the largest dictionaries, and ends on relative progress.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.factorization import eigh, few_threads
from geomm_plugin.fit_report import ALL_DICTIONARIES, FitReport
from geomm_plugin.fitting.held_out import MapsOf
from geomm_plugin.fitting.hub import Edge, edges_of
from geomm_plugin.fitting.joint_problem import JointProblem
from geomm_plugin.fitting.latent import latent_maps
from geomm_plugin.fitting.moments import Moments
from geomm_plugin.fitting.quasi_newton import JointSolution, minimize_jointly
from geomm_plugin.fitting.regularized import Regularization, Regularized
from geomm_plugin.fitting.riemannian import joint_maps, minimize
from geomm_plugin.mapper import Pairs, Vectors
from geomm_plugin.mappers.geomm import ClosedForm
from geomm_plugin.registry.parameters import AtLeast
from geomm_plugin.work import each_part


@dataclass(kw_only=True, eq=False, repr=False)
class GeoMMMulti(Regularized):
    """Learn a rotation for each of many languages and one metric for all, jointly."""

    name: ClassVar[str] = "geomm_multi"
    joint: ClassVar[bool] = True
    candidates: ClassVar[tuple[float, ...]] = (3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1, 3)
    default: ClassVar[float] = 0.1

    regularization: Regularization = "auto"  # lambda, or by validation
    solver: Literal["quasi-newton", "riemannian"] = (
        "quasi-newton"  # the paper's conjugate gradient is the other, many times slower
    )
    tolerance: Annotated[float, AtLeast(0)] = 1e-3  # of relative progress in ten iterations
    max_iterations: Annotated[int, AtLeast(1)] = 1000
    seed: Annotated[int, AtLeast(0)] = 0  # of the held-out words

    def learn(self, vectors: Vectors, pairs: Pairs, report: FitReport) -> dict[str, Matrix]:
        """Return A_i = U_i B^(1/2) of each language."""
        edges = edges_of(vectors, pairs)
        moments = {(edge.source, edge.target): edge.moments() for edge in edges}
        regularization = self.choose_regularization(edges, report)
        problem = JointProblem(list(vectors), moments, regularization)
        solution = self._solve(problem)
        report.solver[ALL_DICTIONARIES] = solution.run(self.solver)
        return joint_maps(vectors, problem.languages, solution)

    def _solve(self, problem: JointProblem) -> JointSolution:
        with few_threads():
            share = max(problem.regularization / len(problem.edges), 1e-6)
            found = each_part("Dictionary", _closed_form, (share,), problem.edges, in_memory=True)
            maps = {(i, j): W for (i, j, _), W in zip(problem.edges, found, strict=True)}
            rotations, metric = problem.start(maps)
        search = minimize_jointly if self.solver == "quasi-newton" else riemannian_solution
        return search(
            problem,
            rotations,
            metric,
            tolerance=self.tolerance,
            max_iterations=self.max_iterations,
        )

    def maps_of(self, edge: Edge) -> MapsOf:
        """Return the bilingual maps of a dictionary, by lambda on the scale of 1/|Omega|."""
        return bilingual_maps(edge)


def bilingual_maps(edge: Edge) -> MapsOf:
    """Return a function from lambda / |Omega| to the two maps of the closed form."""
    form = ClosedForm(edge.moments())
    return lambda share: latent_maps(form.W(share * len(edge.pairs)))


def riemannian_solution(
    problem: JointProblem, rotations: Matrix, metric: Matrix, **limits: Any
) -> JointSolution:
    """Minimize on the product of the manifolds by conjugate gradient, as the paper did."""
    values, basis = eigh(metric)
    positive = np.maximum(values, max(float(values.max()) * 1e-3, 1e-12))

    def cost(*point: Matrix) -> float:
        return problem.cost(point[:-1], point[-1])

    def gradient(*point: Matrix) -> list[Matrix]:
        in_rotations, in_metric = problem.euclidean_gradient(point[:-1], point[-1])
        return [*in_rotations, in_metric]

    label = "GeoMM_multi by conjugate gradient"
    start = (basis * positive) @ basis.T
    solution = minimize(cost, gradient, list(rotations), start, label=label, **limits)
    return replace(solution, cost=solution.cost + problem.zero_cost)


def _closed_form(share: float, edge: tuple[int, int, Moments]) -> Matrix:
    """Return the bilingual map of one dictionary at lambda = share |Omega|."""
    _, _, moments = edge
    return ClosedForm(moments).W(share * moments.pairs)
