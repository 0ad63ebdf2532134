"""Pairs by iterative closest points between the principal axes of both languages.

    min over rotations R of   mean_i min_j |x_i R - z_j|^2 + mean_j min_i |x_i R - z_j|^2

x and z are the n most frequent words on their first principal axes. Each step pairs every word with
its nearest in both directions and turns by the Procrustes solution of these pairs. Axes come
without a sign and not quite in order, so there are many starts: random signs, and a small random
rotation. Bad starts are dropped early; the lowest error wins.
Hoshen and Wolf: "Non-Adversarial Unsupervised Word Translation", EMNLP 2018.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.factorization import eigh, polar
from geomm_plugin.fitting.moments import finite
from geomm_plugin.fitting.seeds.seed import Seed, frequent, mutual_best, weighted_pairs
from geomm_plugin.registry.parameters import AtLeast

TILT = 0.1  # size of the random rotation of a start, in radians a plane
ROUND_STEPS = 5  # steps after which the worse half of the starts is dropped


@dataclass(kw_only=True, eq=False, repr=False)
class ClosestPoints(Seed):
    """Turn one cloud of words onto the other from many starts; the closest fit wins."""

    name: ClassVar[str] = "icp"

    words: Annotated[int, AtLeast(2)] = 1000  # most frequent words of each language
    axes: Annotated[int, AtLeast(1)] = 40  # principal axes
    starts: Annotated[int, AtLeast(1)] = 150
    steps: Annotated[int, AtLeast(1)] = 40  # for the starts that are not dropped
    seed: Annotated[int, AtLeast(0)] = 0  # of the starts

    def pairs(self, source: Embeddings, target: Embeddings) -> RowPairs:
        """Return the words that are each other's nearest at the best rotation."""
        count = min(self.words, len(source), len(target))
        x = principal(frequent(source, count), self.axes)
        z = principal(frequent(target, count), self.axes)
        axes = min(x.shape[1], z.shape[1])
        x, z = x[:, :axes], z[:, :axes]
        rows, columns = mutual_best(nearness(x @ self.best_rotation(x, z), z))
        return weighted_pairs(rows, columns, np.ones(len(rows)))

    def best_rotation(self, x: Matrix, z: Matrix) -> Matrix:
        """Return the rotation with the lowest error of all starts."""
        random = np.random.default_rng(self.seed)
        rotations = [random_start(random, x.shape[1]) for _ in range(self.starts)]
        done = 0
        while True:
            steps = min(ROUND_STEPS, self.steps - done)
            results = [descend(x, z, rotation, steps) for rotation in rotations]
            order = np.argsort([error for _, error in results], kind="stable")
            done += steps
            if done >= self.steps:
                best: Matrix = results[order[0]][0]
                return best
            rotations = [results[place][0] for place in order[: max(1, len(order) // 2)]]


def descend(x: Matrix, z: Matrix, rotation: Matrix, steps: int) -> tuple[Matrix, float]:
    """Return the rotation after some steps, and its error before the last one."""
    error = np.inf
    everything = np.arange(len(x))
    for _ in range(steps):
        scores = nearness(x @ rotation, z)
        forth, back = scores.argmax(axis=1), scores.argmax(axis=0)
        error = -float(scores[everything, forth].mean() + scores[back, everything].mean())
        rotation = polar(x.T @ z[forth] + x[back].T @ z).astype(np.float32)
    return rotation, error


def nearness(x: Matrix, z: Matrix) -> Matrix:
    """Return -|x_i - z_j|^2 for all pairs."""
    scores: Matrix = x @ z.T
    scores *= 2
    scores -= np.einsum("ij,ij->i", z, z)
    scores -= np.einsum("ij,ij->i", x, x)[:, None]
    return scores


def principal(vectors: Matrix, axes: int) -> Matrix:
    """Return centered rows on their principal axes, the widest first, scaled to unit variance."""
    rows = vectors.astype(np.float64)
    rows = rows - rows.mean(axis=0)
    values, basis = eigh(finite(rows.T @ rows))
    widths: Matrix = rows @ basis[:, ::-1][:, :axes]
    scale = np.sqrt(values.sum() / len(rows))
    return (widths / (scale if scale > 0 else 1)).astype(np.float32)


def random_start(random: np.random.Generator, axes: int) -> Matrix:
    """Return random signs after a small random rotation."""
    tilt = TILT * random.normal(size=(axes, axes)) / 2
    rotation = polar(np.eye(axes) + tilt - tilt.T)
    signs = random.choice([-1.0, 1.0], axes)
    start: Matrix = (rotation * signs).astype(np.float32)
    return start
