"""r_S(z): the mean cosine of a target z with its k nearest source words, as CSLS takes it off."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from geomm_plugin.arrays import Matrix, RowIndices, Vector
from geomm_plugin.retrieval.exact.best import SPARE, Best, best_means
from geomm_plugin.retrieval.exact.bias import Bias
from geomm_plugin.retrieval.exact.dots import column_tiles, rounding
from geomm_plugin.retrieval.exact.quantizer import Quantizer, cell_tiles, cost_of_probes
from geomm_plugin.retrieval.exact.sketch import TOGETHER, Sketch, make_sketch

ROWS = 1024  # targets and source words that are compared in one matrix product: 32 MB
COLUMNS = 8192
FLOORS = 0.2  # bounds are made for the sake of exact means if they cost at most this share
SKETCHED = 512  # fewer targets are compared with all source words
PROBES = 6  # cells of source words in which a target's neighbours are looked for


class NeighborhoodBias(Bias):
    """bias(z) = r_S(z) / 2, since CSLS = 2 (cos(x, z) - r_S(z) / 2) - r_T(x).

    Bounded below by the mean over the k nearest words of a few cells of a quantizer.
    """

    def __init__(self, source: Matrix, target: Matrix, k: int):
        super().__init__(source, target)
        self.k = min(k, len(source))
        self.neighbors = k
        self.margin = np.float32(rounding(target.shape[1]))
        self._floor: npt.NDArray[np.float32] | None = None  # below each one's k-th cosine
        self._cell: RowIndices  # of the source words nearest to each target
        self._made: Sketch | None = None
        self._tried = False

    def compute(self, rows: RowIndices) -> Vector:
        """Return r_S(z) / 2."""
        if self._floor is None and self.cost_of_bound() < FLOORS * len(rows) * len(self.source):
            self.bound()
        means = np.empty(len(rows))
        if self._floor is None:
            for part in column_tiles(len(rows), ROWS):
                means[part] = neighborhood_means(self.target[rows[part]], self.source, self.k)
            return means / 2
        order = np.argsort(self._cell[rows], kind="stable")  # neighbours of one cell are alike
        sketch = self._sketch(rows)
        for part in column_tiles(len(rows), ROWS if sketch is None else TOGETHER):
            chosen = rows[order[part]]
            targets, floor = self.target[chosen], self._floor[chosen]
            among = None if sketch is None else sketch.candidates(targets, floor)
            means[order[part]] = neighborhood_means(targets, self.source, self.k, floor, among)
        return means / 2

    def _sketch(self, rows: RowIndices) -> Sketch | None:
        """Return a sketch of the source, made once there are enough targets to be worth it."""
        if self._tried or len(rows) < SKETCHED:
            return self._made
        assert self._floor is not None
        self._tried = True
        chosen = rows[:: max(1, len(rows) // 2048)]
        self._made = make_sketch(self.source, self.target[chosen], self._floor[chosen])
        return self._made

    def bound(self) -> Vector:
        """Return the bound of r_S(z) / 2 from the cells nearest to z."""
        quantizer = Quantizer(self.source)
        probed = quantizer.nearest(self.target, min(PROBES, len(quantizer)))
        self._cell = probed[:, 0].copy()
        order = np.argsort(probed, axis=None, kind="stable")
        starts = np.searchsorted(probed.ravel()[order], np.arange(len(quantizer) + 1))
        nearest = np.full((len(self.target), self.k), -1, np.float32)
        for cell in range(len(quantizer)):
            members = quantizer.members(cell)
            targets = order[starts[cell] : starts[cell + 1]] // probed.shape[1]
            for rows, some in cell_tiles(targets, members):
                cosines = self.target[rows] @ self.source[some].T
                cosines = np.concatenate([nearest[rows], cosines], axis=1)
                cosines.partition(cosines.shape[1] - self.k, axis=1)
                nearest[rows] = cosines[:, -self.k :]
        self._floor = nearest.min(axis=1) - 5 * self.margin
        bound: Vector = nearest.mean(axis=1) / 2 - self.margin
        return bound

    def cost_of_bound(self) -> float:
        """Return how many dot products the quantizer and the probes take."""
        return cost_of_probes(len(self.source), len(self.target), PROBES)

    def scores(self, gaps: Matrix, nearest: Vector) -> Matrix:
        """Return CSLS."""
        return 2 * gaps - nearest[:, None]


def neighborhood_means(
    queries: Matrix,
    vectors: Matrix,
    k: int,
    floor: Vector | None = None,
    among: RowIndices | None = None,
) -> Vector:
    """Return the mean of the k largest query . vector of each query, in float64.

    Parameters
    ----------
    floor
        Values known to lie below the k-th largest, with a margin for rounding; they save time.
    among
        The rows of the vectors that may be among the k nearest; by default all.
    """
    best = Best(len(queries), min(k + SPARE, len(vectors)), floor)
    for tile in column_tiles(len(vectors if among is None else among), COLUMNS):
        rows = tile if among is None else among[tile]
        best.update(queries @ vectors[rows].T, tile.start)
    if among is not None:
        best.columns = np.where(best.columns < 0, -1, among[best.columns])
    return best_means(best, queries, vectors, k)
