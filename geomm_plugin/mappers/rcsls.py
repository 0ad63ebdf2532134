"""Relaxed CSLS: learn W with the very score by which words will be retrieved.

    min over W of   1/n sum over the n pairs of
    - 2 x W z' + mean of x W z_j' over the k targets z_j nearest to x W
               + mean of x_i W z' over the k source words x_i nearest to z W'

x and z are of unit length; neighbours are looked for among the most frequent words of the whole
vocabulary. A mean of the k largest of linear functions is convex, so the loss is, and over the ball
of spectral norm 1 (the convex hull of the rotations) its minimum is global. Without the ball it is
unbounded below where it is negative (double W, double the loss): then *when to stop* is the method.

Joulin, Bojanowski, Mikolov, Jégou, Grave: "Loss in Translation: Learning Bilingual Word Mapping
with a Retrieval Criterion", EMNLP 2018. Projected subgradient descent from Procrustes; a step
that raises the loss is taken back and halved. The number of steps is chosen on held-out words.

The paper compares words in the target's space. There the learnt metric weighs on the source alone;
shared by both languages (W = P diag(s) V', A_s = P sqrt s, A_t = V sqrt s, as GeoMM does) the same
W translates better in both directions on every pair we tried, so this is the default here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, TypeAlias

import numpy as np

from geomm_plugin.arrays import Matrix, RowIndices, Tiles
from geomm_plugin.factorization import polar, svd
from geomm_plugin.fit_report import FitReport
from geomm_plugin.fitting.held_out import Descending
from geomm_plugin.fitting.hub import Edge, HubMapper
from geomm_plugin.fitting.latent import Inference
from geomm_plugin.fitting.moments import cross
from geomm_plugin.registry.parameters import AtLeast
from geomm_plugin.retrieval.exact.top_k import TopK
from geomm_plugin.rows import Rows

TILES = Tiles(1024, 4096)  # dictionary words that are compared with others at a time: 16 MB
MAX_KEPT_BYTES = 128_000_000  # of a language's normalized rows; more are normalized in each pass
SMALLEST_STEP = 1e-3  # of the first one; below, the loss is as low as it gets


@dataclass(kw_only=True, eq=False, repr=False)
class RCSLS(HubMapper, Descending):
    """Learn the map by the CSLS score itself: slower, and often better than a rotation."""

    name: ClassVar[str] = "rcsls"

    normalize: tuple[str, ...] | None = ("unit", "center", "unit")
    constraint: Literal["spectral", "none"] = "none"  # convex: no singular value of W above 1
    k: Annotated[int, AtLeast(1)] = 10  # neighbours
    vocabulary: Annotated[int, AtLeast(1)] = 200_000  # most frequent words among which they are
    step: Annotated[float, AtLeast(1e-9)] = 0.03  # the first step's length, as a part of ||W||
    iterations: Annotated[int, AtLeast(0)] | Literal["auto"] = "auto"  # steps; auto by validation
    max_iterations: Annotated[int, AtLeast(1)] = 30  # of which auto chooses
    inference: Inference = "latent"  # where words are compared; target: the paper
    seed: Annotated[int, AtLeast(0)] = 0  # of the held-out words

    def start(self, edge: Edge, report: FitReport) -> Matrix:
        """Return the first W: the rotation of Procrustes."""
        return polar(cross(edge.x, edge.z, edge.pairs))

    def learn_edge(self, edge: Edge, report: FitReport) -> Matrix:
        """Return W after the given number of steps, or the best on held-out words."""
        W: Matrix = self.descend(edge, report, self.two_maps, min(10, self.max_iterations))
        return W

    def descent(self, edge: Edge, report: FitReport, count: int) -> Iterator[tuple[Matrix, float]]:
        """Yield W and its loss: the start, then up to `count` steps, each below the one before."""
        W = self.start(edge, report)
        loss_of = RelaxedCSLS(edge, self.k, self.vocabulary)
        loss, gradient = loss_of(W)
        yield W, loss
        length = np.linalg.norm(gradient)
        rate = first = self.step * np.linalg.norm(W) / length if length > 0 else 0.0
        for _ in range(count):
            while rate > SMALLEST_STEP * first:
                tried = self._project(W - rate * gradient)
                tried_loss, tried_gradient = loss_of(tried)
                if tried_loss < loss:
                    break
                rate /= 2  # W itself was not touched: the step is undone
            else:
                return
            W, loss, gradient = tried, tried_loss, tried_gradient
            yield W, loss

    @property
    def space(self) -> Inference:
        """Where words are compared."""
        return self.inference

    def _project(self, W: Matrix) -> Matrix:
        if self.constraint == "none":
            return W
        p, s, v = svd(W)
        clipped: Matrix = (p * np.minimum(s, 1)) @ v.T
        return clipped


Vectors: TypeAlias = Rows | Matrix


class RelaxedCSLS:
    """The loss of one dictionary and a subgradient of it, in W."""

    def __init__(self, edge: Edge, k: int, vocabulary: int, tiles: Tiles = TILES):
        self.x, self.z = kept_rows(edge.x, vocabulary), kept_rows(edge.z, vocabulary)
        self.k, self.vocabulary, self.tiles = k, vocabulary, tiles
        self.source_words, self.source_of = np.unique(edge.pairs.source, return_inverse=True)
        self.target_words, self.target_of = np.unique(edge.pairs.target, return_inverse=True)
        self.labels = edge.pairs.label()
        self.linear = -2 * cross(edge.x, edge.z, edge.pairs)

    def __call__(self, W: Matrix) -> tuple[float, Matrix]:
        """Return the loss and its subgradient.

        With t(x) the mean of the k targets nearest to x, s(z) of the source words nearest to z:
        n G = -2 sum of x'z + sum of x't(x) + sum of s(z)'z,   and the loss is <G, W>.
        """
        there = self._neighbor_means(self.x, self.source_words, W, self.z)
        back = self._neighbor_means(self.z, self.target_words, W.T, self.x)
        total = self.linear + self._weighted(self.x, self.source_words, self.source_of, there)
        total = total + self._weighted(self.z, self.target_words, self.target_of, back).T
        gradient: Matrix = total / self.labels.sum()
        return float(np.vdot(gradient, W)), gradient

    def _neighbor_means(self, own: Vectors, words: RowIndices, W: Matrix, other: Vectors) -> Matrix:
        """Return for each word the mean of the k vectors nearest to it after W."""
        count = min(self.vocabulary, len(other))
        best = TopK(len(words), min(self.k, count))
        mapped = own[words].astype(np.float32) @ W.astype(np.float32)
        for part in self.tiles.of_columns(count):
            columns = other[part].astype(np.float32).T
            for rows in self.tiles.of_rows(len(words)):
                best.part(rows).update(mapped[rows] @ columns, part.start)
        means = np.zeros((len(words), other.shape[1]), np.float32)
        for place in range(best.columns.shape[1]):
            means += other[best.columns[:, place]]
        return means / best.columns.shape[1]

    def _weighted(
        self, own: Vectors, words: RowIndices, word_of: RowIndices, means: Matrix
    ) -> Matrix:
        """Return the sum of x' mean(x) over pairs: a word counts with the labels of its pairs."""
        counts = np.bincount(word_of, weights=self.labels, minlength=len(words))[:, None]
        product: Matrix = (own[words] * counts).T.astype(np.float64) @ means.astype(np.float64)
        return product


def kept_rows(vectors: Rows, vocabulary: int) -> Vectors:
    """Normalize all rows once, if every pass looks at them and they need little memory."""
    size = len(vectors) * vectors.shape[1] * vectors.dtype.itemsize
    if len(vectors) > vocabulary or size > MAX_KEPT_BYTES:
        return vectors
    return np.asarray(vectors)
