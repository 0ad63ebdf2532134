"""GeoMM: rotate both languages into a latent space and learn a metric there, by classification.

    min over U_s, U_t orthogonal, B positive definite of
    ||X_s U_s B U_t' X_t' - Y||^2 + lambda ||B||^2

Jawanpuria, Balgovind, Kunchukuttan, Mishra: "Learning Multilingual Word Embeddings in Latent Metric
Space: A Geometric Approach", TACL 2019, problem (1). X_s and X_t hold the unique words of the
dictionary, Y their 0/1 labels.

Every W is U_s B U_t' (by its SVD) and ||B|| = ||W||, so this is the convex problem

    min over W of   ||X_s W X_t' - Y||^2 + lambda ||W||^2

With A = X_s'X_s = Q diag(a) Q', C = X_t'X_t = R diag(c) R' and M = X_s' Y X_t its solution is

    W = Q [ (Q' M R)_ij / (a_i c_j + lambda) ] R'  =  P diag(s) V'  (SVD)
    A_s = P diag(sqrt s),     A_t = V diag(sqrt s)

For another lambda only the division and the SVD are repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.factorization import eigh, solve, svd
from geomm_plugin.fit_report import FitReport
from geomm_plugin.fitting.hub import Edge
from geomm_plugin.fitting.latent import Inference
from geomm_plugin.fitting.moments import Moments
from geomm_plugin.fitting.quasi_newton import JointSolution
from geomm_plugin.fitting.regularized import RegularizedMapper
from geomm_plugin.fitting.riemannian import minimize


@dataclass(kw_only=True, eq=False, repr=False)
class GeoMM(RegularizedMapper):
    """Learn a rotation for each language and a metric between them (the paper's method, exact)."""

    name: ClassVar[str] = "geomm"
    candidates: ClassVar[tuple[float, ...]] = (1, 3, 10, 30, 100, 300, 1e3, 3e3, 1e4)
    default: ClassVar[float] = 10.0

    solver: Literal["exact", "riemannian"] = "exact"  # the closed form, or the paper's own way
    inference: Inference = "latent"  # where words are compared (ablation 4: target)

    @property
    def space(self) -> Inference:
        """Where words are compared."""
        return self.inference

    def solutions(self, edge: Edge) -> Callable[[float], Matrix]:
        """Return the closed form for every lambda."""
        return ClosedForm(edge.moments()).W

    def solve(self, edge: Edge, regularization: float, report: FitReport) -> Matrix:
        """Return W by the chosen solver."""
        if self.solver == "exact":
            return self.solutions(edge)(regularization)
        solution = riemannian_solution(edge.moments(), regularization)
        report.solver[str(edge)] = solution.run("conjugate gradient")
        u_source, u_target = solution.rotations
        W: Matrix = u_source @ solution.metric @ u_target.T
        return W


class ClosedForm:
    """The minimum of ||X W Z' - Y||^2 + lambda ||W||^2 for any lambda, from one eigenbasis."""

    def __init__(self, moments: Moments):
        self.a, self.q = eigh(moments.source)
        self.c, self.r = eigh(moments.target)
        self.numerator = self.q.T @ moments.cross @ self.r

    def W(self, regularization: float) -> Matrix:
        """Return W; where lambda and an eigenvalue are both zero, the smallest solution."""
        denominator = np.multiply.outer(self.a, self.c) + regularization
        usable = denominator > denominator.max() * 1e-15
        quotient = np.divide(
            self.numerator, denominator, out=np.zeros_like(self.numerator), where=usable
        )
        W: Matrix = self.q @ quotient @ self.r.T
        return W


def cost_of(moments: Moments, W: Matrix, regularization: float) -> float:
    """Return ||X W Z' - Y||^2 + lambda ||W||^2, on d x d matrices only."""
    fit = np.vdot(moments.source @ W, W @ moments.target) - 2 * np.vdot(W, moments.cross)
    return float(fit + moments.square + regularization * np.vdot(W, W))


def riemannian_start(moments: Moments, regularization: float) -> tuple[Matrix, Matrix, Matrix]:
    """Return the Procrustes rotations (so the determinants are right) and the best diagonal B.

    With U_s = P, U_t = V from M = P S V', the cost in a diagonal B = diag(b) is quadratic:
    (P'AP o V'CV + lambda I) b = diag(P'MV), o the elementwise product.
    """
    p, s, v = svd(moments.cross)
    square = (p.T @ moments.source @ p) * (v.T @ moments.target @ v)
    b = solve(square + max(regularization, 1e-8) * np.eye(len(s)), s)
    return p, v, np.diag(np.maximum(b, b.max(initial=1e-8) * 1e-3))


def riemannian_solution(moments: Moments, regularization: float) -> JointSolution:
    """Minimize over Stiefel x Stiefel x positive definite matrices by conjugate gradient."""
    *rotations, metric = riemannian_start(moments, regularization)

    def cost(u_source: Matrix, u_target: Matrix, b: Matrix) -> float:
        return cost_of(moments, u_source @ b @ u_target.T, regularization)

    def gradient(u_source: Matrix, u_target: Matrix, b: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        return gradients(moments, u_source, u_target, b, regularization)

    return minimize(cost, gradient, rotations, metric, label="GeoMM by conjugate gradient")


def gradients(
    moments: Moments, u_source: Matrix, u_target: Matrix, b: Matrix, regularization: float
) -> tuple[Matrix, Matrix, Matrix]:
    """Return the Euclidean gradients in U_s, U_t and B.

    With G = 2 (A W C - M):   G U_t B,   G' U_s B,   sym(U_s' G U_t) + 2 lambda B.
    """
    W = u_source @ b @ u_target.T
    G = 2 * (moments.source @ W @ moments.target - moments.cross)
    inner = u_source.T @ G @ u_target
    return (
        G @ u_target @ b,
        G.T @ u_source @ b,
        (inner + inner.T) / 2 + 2 * regularization * b,
    )
