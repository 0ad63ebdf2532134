"""[fit] Minimization on manifolds by pymanopt's conjugate gradient, stopped on relative progress.

A gradient norm relative to the start "converges" far from the minimum; the cost itself is watched
instead: the search ends when it fell by less than `tolerance` (relative) over PATIENCE iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from geomm_plugin import progress
from geomm_plugin.arrays import Matrix
from geomm_plugin.factorization import few_threads
from geomm_plugin.fit_report import SolverRun

PATIENCE = 10
HALVINGS = 40  # of a step that does not lower the cost; after pymanopt's 10 a search is given up


@dataclass(frozen=True)
class Minimum:
    """Where a search ended, and why."""

    point: tuple[Matrix, ...]
    cost: float
    iterations: int
    reason: str

    def run(self) -> SolverRun:
        """Tell it without the point."""
        return SolverRun("conjugate gradient", self.iterations, self.reason, self.cost)


class _Converged(Exception):
    """Ends pymanopt's loop from inside a gradient evaluation."""


def minimize(
    manifold: Any,
    cost: Callable[..., float],
    gradient: Callable[..., Sequence[Matrix]],
    start: Sequence[Matrix],
    *,
    tolerance: float = 1e-9,
    max_iterations: int = 2000,
    label: str = "Fitting",
) -> Minimum:
    """Minimize a cost over a (product) manifold from a start, given its Euclidean gradient.

    Parameters
    ----------
    cost, gradient
        Functions of the point's arrays; the gradient returns one array for each.
    """
    import pymanopt
    from pymanopt.optimizers import ConjugateGradient
    from pymanopt.optimizers.line_search import AdaptiveLineSearcher

    costs: list[float] = []
    best: list[tuple[Matrix, ...]] = []

    with progress.task(label, total=None) as advance, few_threads():

        def watched_gradient(*point: Matrix) -> Sequence[Matrix] | Matrix:
            # pymanopt asks for a gradient exactly once at each iterate.
            costs.append(float(cost(*point)))
            best[:] = [point]
            advance(1, note=f"cost {costs[-1]:.6g}")
            if len(costs) > PATIENCE:
                progress_made = costs[-1 - PATIENCE] - costs[-1]
                if progress_made <= tolerance * max(abs(costs[-1]), 1e-300):
                    raise _Converged
            gradients = gradient(*point)
            return gradients if len(start) > 1 else gradients[0]

        decorate = pymanopt.function.numpy(manifold)
        problem = pymanopt.Problem(
            manifold, decorate(cost), euclidean_gradient=decorate(watched_gradient)
        )
        optimizer = ConjugateGradient(
            max_iterations=max_iterations,
            max_time=float("inf"),
            min_gradient_norm=0,
            line_searcher=AdaptiveLineSearcher(max_iterations=HALVINGS),
            verbosity=0,
        )
        initial = list(start) if len(start) > 1 else start[0]
        slope = problem.riemannian_gradient(initial)
        if not manifold.norm(initial, slope) > 0:
            return Minimum(tuple(start), costs[-1], 0, "The start is a stationary point.")
        costs.clear()
        try:
            result = optimizer.run(problem, initial_point=initial)
            # "Terminated - max iterations reached after 0.60 seconds.": without the times, which
            # no two runs share.
            reason = result.stopping_criterion.removeprefix("Terminated - ").partition(" after")[0]
            reason = f"pymanopt stopped: {reason}."
        except _Converged:
            reason = (
                f"The cost fell by less than {tolerance:g} (relative) in {PATIENCE} iterations."
            )
    return Minimum(tuple(best[0]), costs[-1], len(costs) - 1, reason)
