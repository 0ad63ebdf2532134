"""Pairs by Wasserstein-Procrustes: a coupling and a rotation of the words, in turns.

    min over rotations Q and couplings P of   ||X Q - P Z||^2

Start: the convex relaxation  min over couplings P of ||K_x P - P K_z||^2  by Frank-Wolfe on the
most frequent words, with K = (XX') o (XX'), the squared cosines; Q = polar(X'PZ). (With K = XX' the
uniform coupling would be a minimum.) Then, at each step, some words of each language are drawn,
P = Sinkhorn(X Q Z' / eps), and Q moves towards X'PZ: Q = polar((1 - rate) Q + rate polar(X'PZ)),
with a rate that falls. Grave, Joulin, Berthet: "Unsupervised Alignment of Embeddings with
Wasserstein Procrustes", AISTATS 2019.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.factorization import polar
from geomm_plugin.fitting.seeds.seed import Seed, frequent, weighted_pairs
from geomm_plugin.fitting.seeds.structure import in_deviations, sinkhorn
from geomm_plugin.normalize import unit
from geomm_plugin.registry.parameters import AtLeast
from geomm_plugin.retrieval import mutual_neighbors

RELAXED_WORDS = 1000  # of the convex relaxation
RELAXED_STEPS = 30
SHARPNESS = 10.0  # of the linear steps of Frank-Wolfe, in deviations of the gradient
SWEEPS = 5  # of Sinkhorn, for each drawn coupling


@dataclass(kw_only=True, eq=False, repr=False)
class Wasserstein(Seed):
    """Couple drawn words and turn one language onto the other, in turns."""

    name: ClassVar[str] = "wasserstein"

    words: Annotated[int, AtLeast(2)] = 2000  # most frequent words of each language to draw from
    batch: Annotated[int, AtLeast(2)] = 1000  # words drawn at each step
    steps: Annotated[int, AtLeast(0)] = 200
    eps: Annotated[float, AtLeast(1e-3)] = 0.05  # entropy of the couplings
    seed: Annotated[int, AtLeast(0)] = 0  # of the words drawn

    def pairs(self, source: Embeddings, target: Embeddings) -> RowPairs:
        """Return the mutual best by CSLS after the last rotation."""
        x, z = unit(frequent(source, self.words)), unit(frequent(target, self.words))
        rotation = self.rotate(x, z, relaxed_rotation(x, z))
        rows, columns, scores = mutual_neighbors(unit(x @ rotation), z)
        return weighted_pairs(rows, columns, np.maximum(scores, 0))

    def rotate(self, x: Matrix, z: Matrix, rotation: Matrix) -> Matrix:
        """Return the rotation after all stochastic steps."""
        random = np.random.default_rng(self.seed)
        count = min(self.batch, len(x), len(z))
        for step in range(self.steps):
            some_x = x[np.sort(random.permutation(len(x))[:count])]
            some_z = z[np.sort(random.permutation(len(z))[:count])]
            scores = (some_x @ rotation) @ some_z.T
            scores /= np.float32(self.eps)
            goal = polar(some_x.T @ (sinkhorn(scores, SWEEPS) @ some_z))
            rate = 1 - step / self.steps
            rotation = polar((1 - rate) * rotation + rate * goal).astype(np.float32)
        return rotation


def relaxed_rotation(x: Matrix, z: Matrix) -> Matrix:
    """Return polar(X'PZ) for the coupling of the convex relaxation; rows are of unit length."""
    count = min(RELAXED_WORDS, len(x), len(z))
    K_x, K_z = (squared_cosines(rows[:count]) for rows in (x, z))
    coupling = np.full((count, count), 1 / count, np.float32)
    for step in range(RELAXED_STEPS):
        residual = K_x @ coupling - coupling @ K_z
        gradient = K_x @ residual - residual @ K_z
        corner = sinkhorn(np.float32(-SHARPNESS) * in_deviations(gradient))
        rate = np.float32(2 / (step + 2))
        coupling = (1 - rate) * coupling + rate * corner
    rotation: Matrix = polar(x[:count].T @ (coupling @ z[:count])).astype(np.float32)
    return rotation


def squared_cosines(rows: Matrix) -> Matrix:
    """Return (x_i . x_j)^2 of all pairs of rows, as a matrix of norm 1."""
    kernel: Matrix = (rows @ rows.T) ** 2
    norm = float(np.linalg.norm(kernel))
    return kernel / np.float32(norm) if norm > 0 else kernel
