"""GeoMM without the metric (ablation 3 of the paper): B = I.

    min over R'R = I of   ||X_s R X_t' - Y||^2  =  tr(A R C R') - 2 tr(R'M) + |Omega|

A classification loss cannot be met by a rotation alone (wrong pairs score too high), so
results are poor: that is what the ablation shows. There are many local minima; this is the one that
Newton's method in a trust region reaches from the Procrustes rotation. With G = 2 (A R C - M),
T = sym(R'G) and K = R'AR, a step R exp(Omega), Omega skew-symmetric, changes the loss by

    <R'G, Omega> + 1/2 <Omega, H Omega>,     H Omega = K Omega C + C Omega K - sym(T Omega)

Each step is found by conjugate gradient (Steihaug's: it ends at the region's boundary, and where
the curvature is negative), preconditioned by H without T:  X' K X = diag(k), X' C X = I, and the
inverse is  r -> X [ (X'rX)_ij / (k_i + k_j) ] X'.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from geomm_plugin.arrays import Matrix, Vector
from geomm_plugin.factorization import eigh, few_threads, generalized_eigh, polar, solve
from geomm_plugin.fit_report import FitReport, SolverRun
from geomm_plugin.fitting.hub import Edge, HubMapper
from geomm_plugin.registry.parameters import AtLeast

MOST_CG_STEPS = 50  # within one step of Newton
RIDGE = 1e-12  # of the variances that precondition, relative to their largest eigenvalue
SHRINK_BELOW, GROW_ABOVE, ACCEPT_ABOVE = 0.25, 0.75, 0.05  # parts of the promised descent


@dataclass(kw_only=True, eq=False, repr=False)
class RotationOnly(HubMapper):
    """Learn only a rotation, by classification (ablation 3): shows what the metric is worth."""

    name: ClassVar[str] = "rotation_only"

    tolerance: Annotated[float, AtLeast(0)] = 1e-6  # of the gradient, as a part of the first one
    max_iterations: Annotated[int, AtLeast(1)] = 200

    def learn_edge(self, edge: Edge, report: FitReport) -> Matrix:
        """Return the rotation R."""
        moments = edge.moments()
        rows, columns = moments.cross.shape
        size = max(rows, columns)  # the smaller side is filled up with zeros
        a, q = eigh(_padded(moments.source, size))
        c, p = eigh(_padded(moments.target, size))
        scale = float(a.max() * c.max())
        if not scale > 0:
            return polar(moments.cross)
        cross = q.T @ _padded(moments.cross, size) @ p / scale
        with few_threads():
            R, stopped, count = self._descend(a / a.max(), c / c.max(), cross, polar(cross))
        cost = _cost(a / a.max(), c / c.max(), cross, R) * scale + moments.square
        report.solver[str(edge)] = SolverRun("Newton in a trust region", count, stopped, cost)
        return (q @ R @ p.T)[:rows, :columns]

    def _descend(self, a: Vector, c: Vector, M: Matrix, R: Matrix) -> tuple[Matrix, str, int]:
        """Return the rotation, why the descent ended, and after how many steps."""
        cost, radius, first = _cost(a, c, M, R), 1.0, 0.0
        for count in range(self.max_iterations + 1):
            G = 2 * (a[:, None] * R * c - M)
            slope = _skew(R.T @ G)
            length = float(np.linalg.norm(slope))
            first = first or length
            if length <= self.tolerance * first:
                return R, f"The gradient fell to {self.tolerance:g} of its first size.", count
            if count == self.max_iterations or radius < np.finfo(float).eps:
                break
            model = _Model(R.T @ (a[:, None] * R), c, (R.T @ G + G.T @ R) / 2, slope)
            step, at_boundary = model.minimum(radius, min(0.01, length / first))
            promised = model.descent(step)
            identity = np.eye(len(R))
            tried = R @ solve(identity - step / 2, identity + step / 2)
            tried_cost = _cost(a, c, M, tried)
            kept = (cost - tried_cost) / promised if promised > 0 else 0.0
            if kept < SHRINK_BELOW:
                radius /= 4
            elif kept > GROW_ABOVE and at_boundary:
                radius *= 2
            if kept > ACCEPT_ABOVE:
                R, cost = tried, tried_cost
        left = f"the gradient was {length / first:.2g} of its first size"
        if count < self.max_iterations:
            return R, f"No step lowers the cost any more; {left}.", count
        return R, f"The limit of {self.max_iterations} steps was reached; {left}.", count


class _Model:
    """The loss of steps Omega to second order, and its minimum within a radius."""

    def __init__(self, K: Matrix, c: Vector, T: Matrix, slope: Matrix):
        self.K, self.c, self.T, self.slope = (K + K.T) / 2, c, T, slope
        ridge = RIDGE * np.eye(len(K))
        self.k, self.X = generalized_eigh(self.K + ridge, np.diag(c) + ridge)

    def hessian(self, step: Matrix) -> Matrix:
        """Return H Omega."""
        product = self.K @ (step * self.c) - self.T @ step / 2
        return product - product.T

    def descent(self, step: Matrix) -> float:
        """Return by how much a step lowers the model."""
        return -float(np.vdot(self.slope, step) + np.vdot(step, self.hessian(step)) / 2)

    def precondition(self, rest: Matrix) -> Matrix:
        """Return the step that H without T takes to the rest."""
        inner = (self.X.T @ rest @ self.X) / (self.k[:, None] + self.k)
        return _skew(self.X @ inner @ self.X.T)

    def minimum(self, radius: float, tolerance: float) -> tuple[Matrix, bool]:
        """Return the best step of conjugate gradient, and whether it ends at the boundary.

        Lengths are those of the preconditioner's inverse: |Omega|^2 = <Omega, (H + T) Omega>.
        """
        step, rest = np.zeros_like(self.slope), self.slope
        towards = -self.precondition(rest)
        size = first = -float(np.vdot(rest, towards))
        square, along, reach = 0.0, 0.0, size  # |step|^2, <step, towards>, |towards|^2
        for _ in range(MOST_CG_STEPS):
            bent = self.hessian(towards)
            curvature = float(np.vdot(towards, bent))
            rate = size / curvature if curvature > 0 else np.inf
            if not square + 2 * rate * along + rate**2 * reach < radius**2:
                rate = (np.sqrt(along**2 + reach * (radius**2 - square)) - along) / reach
                return step + rate * towards, True
            step = step + rate * towards
            square += 2 * rate * along + rate**2 * reach
            rest = rest + rate * bent
            turned = self.precondition(rest)
            last, size = size, float(np.vdot(rest, turned))
            if not size > first * tolerance**2:
                break
            along, reach = (size / last) * (along + rate * reach), size + (size / last) ** 2 * reach
            towards = (size / last) * towards - turned
        return step, False


def _cost(a: Vector, c: Vector, M: Matrix, R: Matrix) -> float:
    return float(np.vdot(a[:, None] * R, R * c) - 2 * np.vdot(R, M))


def _skew(matrix: Matrix) -> Matrix:
    half: Matrix = (matrix - matrix.T) / 2
    return half


def _padded(matrix: Matrix, size: int) -> Matrix:
    return np.pad(matrix, [(0, size - length) for length in matrix.shape])
