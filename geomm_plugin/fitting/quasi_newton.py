"""[fit] Quasi-Newton search over rotations and a positive semi-definite metric, for many languages.

The point is (U_1, ..., U_L, S) with B = S^2, positive semi-definite whatever the symmetric S is.
Rotations form a group: a direction is U_i Omega_i with Omega_i skew-symmetric, a step is the Cayley
map U_i (I - Omega_i/2)^-1 (I + Omega_i/2), and directions at different points are compared by their
Omega as they are. So L-BFGS (Nocedal and Wright, "Numerical Optimization", algorithm 7.4) needs no
projection and no transport.

What makes it fast is its first guess of the inverse Hessian. In a rotation, the Gauss-Newton
Hessian is a sum over its dictionaries (n = |Omega_e|):

    Omega -> 2 (A~ Omega K + K Omega A~),   A~ = U_i' A U_i / sqrt n,  K = B (U_j' C U_j / sqrt n) B

For means of A~ and K over the dictionaries it is inverted exactly: with X' A~ X = diag(a) and
X' K X = I (the generalized eigenproblem of the pair) by  R -> X [ (X'RX)_pq / 2(a_p + a_q) ] X'.
The same holds for the metric. lambda enters as sqrt(4 lambda / dictionaries), added to both
covariances; rotations of directions where the metric is weak are damped by a multiple of its mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import Matrix, Vector
from geomm_plugin.factorization import eigh, few_threads, generalized_eigh, solve, spectral_norm
from geomm_plugin.fit_report import SolverRun
from geomm_plugin.fitting.joint_problem import JointProblem, symmetric

MEMORY = 8  # pairs of steps and gradient changes that L-BFGS remembers
REFRESH = 10  # iterations after which the first guess of the inverse Hessian is made anew
PATIENCE = 10  # iterations over which progress is measured
DAMPING = 2.0  # of rotations where the metric is weak, in units of its mean
LARGEST_TURN = 0.5  # the largest entry of Omega in one step
ENOUGH_DESCENT = 1e-4  # Armijo's condition

# A tangent vector: an (L + 1) x d x d array with Omega_1, ..., Omega_L and the change of S.
Tangent: TypeAlias = Matrix


@dataclass(frozen=True)
class JointSolution:
    """Where the search ended, and why; the cost is the loss of the joint problem."""

    rotations: Matrix | Sequence[Matrix]
    metric: Matrix
    cost: float
    iterations: int
    reason: str

    def run(self, solver: str) -> SolverRun:
        """Return the record of the search, without the point."""
        return SolverRun(solver, self.iterations, self.reason, self.cost)


@dataclass(frozen=True)
class _Point:
    rotations: Matrix
    root: Matrix
    cost: float
    gradient: Tangent


def minimize_jointly(
    problem: JointProblem,
    rotations: Matrix,
    metric: Matrix,
    *,
    tolerance: float,
    max_iterations: int,
) -> JointSolution:
    """Minimize the joint cost from a start; ends when the cost hardly falls any more.

    Parameters
    ----------
    metric
        Symmetric; where it is not positive, it starts from a tenth of its median eigenvalue.
    tolerance
        The search ends when PATIENCE iterations lower the cost by less than this part of what all
        iterations and the start gained over the zero map.
    """
    import scipy.linalg  # noqa: F401  # its BLAS must be there before threads are limited

    with progress.task("GeoMM_multi", total=max_iterations) as advance, few_threads():
        point = _at(problem, rotations, _root(metric))
        costs = [point.cost]
        memory: list[tuple[Tangent, Tangent, float]] = []
        reason = f"The limit of {max_iterations} iterations was reached."
        for iteration in range(max_iterations):
            if iteration % REFRESH == 0:
                precondition = preconditioner(problem, point.rotations, point.root)
            if iteration >= PATIENCE:
                if costs[-1 - PATIENCE] - costs[-1] <= tolerance * abs(costs[-1]):
                    reason = (
                        f"The cost fell by less than {tolerance:g} (relative) in {PATIENCE} "
                        "iterations."
                    )
                    break
            direction = -_inverse_hessian(memory, precondition, point.gradient)
            if _inner(direction, point.gradient) >= 0:  # rounding, or a curvature that misled
                memory.clear()
                direction = -precondition(point.gradient)
            move = _search_along(problem, point, direction)
            if move is None and memory:  # the remembered steps may mislead; the gradient does not
                memory.clear()
                move = _search_along(problem, point, -precondition(point.gradient))
            if move is None:
                reason = "No step lowers the cost any further."
                break
            step, after = move
            change = after.gradient - point.gradient
            curvature = _inner(step, change)
            if curvature > 1e-10 * np.sqrt(_inner(step, step) * _inner(change, change)):
                memory.append((step, change, 1 / curvature))
                del memory[:-MEMORY]
            point = after
            costs.append(point.cost)
            advance(1, note=f"cost {point.cost + problem.zero_cost:.6g}")
    return JointSolution(
        point.rotations,
        point.root @ point.root,
        point.cost + problem.zero_cost,
        len(costs) - 1,
        reason,
    )


def _root(metric: Matrix) -> Matrix:
    """Return S with S^2 = B, where B is first made positive definite."""
    values, basis = eigh(metric)
    floor = 0.1 * max(float(np.median(values)), float(values.max()) * 1e-3, 1e-12)
    root: Matrix = (basis * np.sqrt(np.maximum(values, floor))) @ basis.T
    return root


def _at(problem: JointProblem, rotations: Matrix, root: Matrix) -> _Point:
    metric = root @ root
    latent = problem.latent_gradient(rotations, metric)
    gradient = np.empty((len(rotations) + 1, *root.shape))
    turned = latent.rotations @ metric
    gradient[:-1] = turned - turned.transpose(0, 2, 1)
    gradient[-1] = 2 * symmetric(root @ latent.metric)
    return _Point(rotations, root, latent.cost, gradient)


def _moved(point: _Point, step: Tangent) -> tuple[Matrix, Matrix]:
    half, identity = step[:-1] / 2, np.eye(step.shape[1])
    turns = solve(identity - half, identity + half)
    return point.rotations @ turns, point.root + step[-1]


def _inner(a: Tangent, b: Tangent) -> float:
    """Return the inner product; each entry of a skew-symmetric matrix stands there twice."""
    return float(np.vdot(a[:-1], b[:-1]) / 2 + np.vdot(a[-1], b[-1]))


def _search_along(
    problem: JointProblem, point: _Point, direction: Tangent
) -> tuple[Tangent, _Point] | None:
    """Return the first step that lowers the cost enough: 1, or shorter by interpolation."""
    slope = _inner(direction, point.gradient)
    length = min(1.0, LARGEST_TURN / max(float(np.abs(direction[:-1]).max()), 1e-300))
    while length > 1e-10:
        step = length * direction
        after = _at(problem, *_moved(point, step))
        excess = after.cost - point.cost - length * slope
        if excess <= (ENOUGH_DESCENT - 1) * length * slope:
            return step, after
        length *= float(np.clip(-length * slope / (2 * excess), 0.1, 0.5))
    return None


def _inverse_hessian(
    memory: list[tuple[Tangent, Tangent, float]],
    precondition: Callable[[Tangent], Tangent],
    gradient: Tangent,
) -> Tangent:
    """Apply the L-BFGS inverse Hessian: two loops over the remembered steps."""
    result = gradient.copy()
    weights = []
    for step, change, scale in reversed(memory):
        weights.append(scale * _inner(step, result))
        result -= weights[-1] * change
    result = precondition(result)
    for (step, change, scale), weight in zip(memory, reversed(weights), strict=True):
        result += (weight - scale * _inner(change, result)) * step
    return result


def preconditioner(
    problem: JointProblem, rotations: Matrix, root: Matrix
) -> Callable[[Tangent], Tangent]:
    """Return a function that applies the inverse Gauss-Newton Hessian, language by language."""
    metric, identity = root @ root, np.eye(len(root))
    damped = metric + DAMPING * np.trace(metric) / len(root) * identity
    own = np.zeros_like(rotations)
    others = np.zeros_like(rotations)
    count = np.zeros(len(rotations))
    shift = np.sqrt(4 * problem.regularization / len(problem.edges))
    for i, j, moments in problem.edges:
        scale = 1 / np.sqrt(moments.pairs)
        source = _raised(scale * rotations[i].T @ moments.source @ rotations[i], shift)
        target = _raised(scale * rotations[j].T @ moments.target @ rotations[j], shift)
        own[i] += source
        others[i] += target
        own[j] += target
        others[j] += source
        count[[i, j]] += 1
    inverses = [
        PairInverse(mine / n, damped @ theirs @ damped)
        for mine, theirs, n in zip(own, others, count, strict=True)
    ]
    mean = own.sum(axis=0) / count.sum()
    of_metric = PairInverse(mean, len(problem.edges) * mean)
    # B = S^2: a change T of S changes B by S T + T S, at most 2 ||S|| T; damped like the rotations.
    slowest = (2 * DAMPING) ** 2 * max(spectral_norm(metric), 1e-300)

    def precondition(gradient: Tangent) -> Tangent:
        result = np.empty_like(gradient)
        for number, inverse in enumerate(inverses):
            result[number] = inverse(gradient[number]) / 2
        result[-1] = symmetric(of_metric(gradient[-1])) / slowest
        return result

    return precondition


def _raised(covariance: Matrix, shift: float) -> Matrix:
    """Add a number to all eigenvalues: the one given, but at least a thousandth of their mean."""
    least = max(shift, 1e-3 * float(np.trace(covariance)) / len(covariance))
    raised: Matrix = covariance + least * np.eye(len(covariance))
    return raised


class PairInverse:
    """The inverse of  Omega -> A Omega K + K Omega A  for positive definite A and K."""

    def __init__(self, a: Matrix, k: Matrix):
        floor = 1e-10 * np.eye(len(a))
        values: Vector
        values, self.basis = generalized_eigh(
            a + np.trace(a) / len(a) * floor, k + max(np.trace(k) / len(k), 1e-300) * floor
        )
        self.sums = values[:, None] + values

    def __call__(self, rhs: Matrix) -> Matrix:
        """Return Omega with A Omega K + K Omega A = rhs."""
        inner = (self.basis.T @ rhs @ self.basis) / self.sums
        solution: Matrix = self.basis @ inner @ self.basis.T
        return solution
