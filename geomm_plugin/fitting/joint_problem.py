"""[fit] The joint problem of many languages: one rotation each, one metric for all.

    min over U_i orthogonal, B positive semi-definite of  sum_e L_e(W_e) + lambda ||B||^2,   with

    W_e = U_i B U_j',   L_e(W) = 1/|Omega_e| ||X_i W X_j' - Y_e||^2   for a dictionary e = (i, j)

By the dictionary's moments A_e, C_e, M_e (`moments`) everything is d x d, whatever its size:

    L_e(W) = 1/|Omega_e| ( tr(A_e W C_e W') - 2 tr(W' M_e) ) + 1
    G_e = 2/|Omega_e| (A_e W_e C_e - M_e),     H_e = U_i' G_e U_j  (the same in the latent space)

The zero map costs 1 a dictionary, and good maps lie only a few percent below it. Costs are
therefore counted from there (below zero), so that relative progress means something.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.factorization import polar
from geomm_plugin.fitting.moments import Moments
from geomm_plugin.work import each_part

RESIDUAL = 1e-3  # of the linear equations for the first B, relative: the search goes on from there
MOST_STEPS = 300  # of their conjugate gradient


@dataclass(frozen=True)
class LatentGradient:
    """The cost at a point, and how it changes.

    `rotations[i]` is E_i = sum of H_e (i the source) and H_e' (i the target): the derivative along
    U_i -> U_i exp(Omega) is <E_i B, Omega>. `metric` is the derivative in B.
    """

    cost: float
    rotations: Matrix
    metric: Matrix


class JointProblem:
    """The cost of rotations (one d x d matrix a language, stacked) and a metric, and its gradients.

    Parameters
    ----------
    moments
        By pair of languages; languages of fewer dimensions are padded with zeros.
    """

    def __init__(
        self,
        languages: Sequence[str],
        moments: Mapping[tuple[str, str], Moments],
        regularization: float,
    ):
        self.languages = tuple(languages)
        self.regularization = regularization
        self.dimension = max(max(each.cross.shape) for each in moments.values())
        place = {language: number for number, language in enumerate(self.languages)}
        self.edges = [
            (place[source], place[target], pad(own, self.dimension))
            for (source, target), own in moments.items()
        ]

    def latent_gradient(self, rotations: Matrix, metric: Matrix) -> LatentGradient:
        """Return the cost and its derivatives in the latent space: five products a dictionary."""
        cost = self.regularization * float(np.vdot(metric, metric))
        total = np.zeros_like(rotations)
        turned = rotations @ metric
        found = each_part(
            "Dictionary", _latent_loss, (rotations, turned), self.edges, in_memory=True
        )
        for (i, j, _), (loss, H) in zip(self.edges, found, strict=True):
            cost += loss
            total[i] += H
            total[j] += H.T
        in_metric = symmetric(total.sum(axis=0)) / 2 + 2 * self.regularization * metric
        return LatentGradient(cost, total, in_metric)

    def cost(self, rotations: Sequence[Matrix] | Matrix, metric: Matrix) -> float:
        """Return the cost alone."""
        total = self.regularization * float(np.vdot(metric, metric))
        for i, j, moments in self.edges:
            total += _loss(moments, rotations[i] @ metric @ rotations[j].T)[0]
        return total

    def euclidean_gradient(
        self, rotations: Sequence[Matrix] | Matrix, metric: Matrix
    ) -> tuple[list[Matrix], Matrix]:
        """Return the gradients in each U and in B, as functions of free matrices.

        G_e U_j B for U_i,   G_e' U_i B for U_j,   sym(U_i' G_e U_j) for B, plus 2 lambda B.
        """
        in_rotations = [np.zeros_like(metric) for _ in rotations]
        in_metric = 2 * self.regularization * metric
        for i, j, moments in self.edges:
            _, G = _loss(moments, rotations[i] @ metric @ rotations[j].T)
            in_rotations[i] += G @ rotations[j] @ metric
            in_rotations[j] += G.T @ rotations[i] @ metric
            in_metric = in_metric + symmetric(rotations[i].T @ G @ rotations[j])
        return in_rotations, in_metric

    @property
    def zero_cost(self) -> float:
        """The cost of the zero map, from which costs are counted: ||Y||^2 / |Omega| of each."""
        return sum(moments.square / moments.pairs for _, _, moments in self.edges)

    def best_metric(self, rotations: Matrix, residual: float = RESIDUAL) -> Matrix:
        """Return the symmetric B of the lowest cost at given rotations (it may be indefinite).

        With A~ = U_i' A U_i / |Omega|, C~ = U_j' C U_j and M~ = U_i' M U_j / |Omega| the equations

            sum_e sym(A~_e B C~_e) + lambda B = sum_e sym(M~_e)

        are solved by conjugate gradient, preconditioned by their diagonal.
        """
        seen = [
            (
                rotations[i].T @ moments.source @ rotations[i] / moments.pairs,
                rotations[j].T @ moments.target @ rotations[j],
                rotations[i].T @ moments.cross @ rotations[j] / moments.pairs,
            )
            for i, j, moments in self.edges
        ]
        rhs = symmetric(sum((m for _, _, m in seen), start=np.zeros(seen[0][2].shape)))
        weights = [symmetric(np.outer(np.diag(a), np.diag(c))) for a, c, _ in seen]
        diagonal = sum(weights, start=np.full(rhs.shape, self.regularization))
        diagonal = np.maximum(diagonal, diagonal.max() * 1e-12)

        def left(b: Matrix) -> Matrix:
            products = [symmetric(a @ b @ c) for a, c, _ in seen]
            return sum(products, start=self.regularization * b)

        b = rhs / diagonal
        rest = rhs - left(b)
        enough = residual * float(np.linalg.norm(rhs))
        direction = conditioned = rest / diagonal
        for _ in range(MOST_STEPS):
            if np.linalg.norm(rest) <= enough:
                break
            product = left(direction)
            before = float(np.vdot(rest, conditioned))
            step = before / float(np.vdot(direction, product))
            b = b + step * direction
            rest = rest - step * product
            conditioned = rest / diagonal
            direction = conditioned + np.vdot(rest, conditioned) / before * direction
        best: Matrix = b
        return best

    def start(self, maps: Mapping[tuple[int, int], Matrix]) -> tuple[Matrix, Matrix]:
        """Return rotations along the spanning tree of the largest dictionaries, and the best B.

        Parameters
        ----------
        maps
            A bilingual map W for each edge; its nearest rotation is U_i U_j'. So every rotation
            starts in the right part (determinant 1 or -1): a continuous search cannot change it.
        """
        by_size = sorted(self.edges, key=lambda edge: (-edge[2].pairs, edge[:2]))
        rotations = np.stack([np.eye(self.dimension)] * len(self.languages))
        reached = {by_size[0][0]}
        while len(reached) < len(self.languages):
            i, j = next((i, j) for i, j, _ in by_size if (i in reached) != (j in reached))
            turn = polar(maps[i, j])
            if i in reached:
                rotations[j] = turn.T @ rotations[i]
            else:
                rotations[i] = turn @ rotations[j]
            reached |= {i, j}
        return rotations, self.best_metric(rotations)


def _latent_loss(
    rotations: Matrix, turned: Matrix, edge: tuple[int, int, Moments]
) -> tuple[float, Matrix]:
    """Return the loss of one dictionary and its gradient in the latent space, H."""
    i, j, moments = edge
    loss, G = _loss(moments, turned[i] @ rotations[j].T)
    return loss, rotations[i].T @ G @ rotations[j]


def _loss(moments: Moments, W: Matrix) -> tuple[float, Matrix]:
    """Return the loss of one dictionary, counted from that of the zero map, and its gradient G."""
    product = moments.source @ W @ moments.target
    loss = float(np.vdot(product - 2 * moments.cross, W)) / moments.pairs
    return loss, (2 / moments.pairs) * (product - moments.cross)


def symmetric(matrix: Matrix) -> Matrix:
    """Return the symmetric part of a matrix."""
    part: Matrix = (matrix + matrix.T) / 2
    return part


def pad(moments: Moments, dimension: int) -> Moments:
    """Give both languages the same number of dimensions, the new ones empty."""

    def grown(matrix: Matrix) -> Matrix:
        return np.pad(matrix, [(0, dimension - size) for size in matrix.shape])

    if moments.cross.shape == (dimension, dimension):
        return moments
    return replace(
        moments,
        source=grown(moments.source),
        target=grown(moments.target),
        cross=grown(moments.cross),
    )
