"""r_S(z): the mean cosine of a target z with its k nearest source words, as CSLS takes it off."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from geomm_plugin.arrays import TILES, Matrix, RowIndices, Tiles, Vector, slices
from geomm_plugin.retrieval.exact.best import MORE_THAN_ASKED, Best, best_means
from geomm_plugin.retrieval.exact.bias import Bias
from geomm_plugin.retrieval.exact.dots import rounding
from geomm_plugin.retrieval.exact.quantizer import Quantizer, cell_tiles, cost_of_probes
from geomm_plugin.retrieval.exact.sketch import QUERIES_PER_LIST, Sketch, make_sketch
from geomm_plugin.retrieval.unit_rows import Rows

MAX_BOUND_WORK_SHARE = 0.2  # bounds are made to speed exact means up if they cost less than this
MIN_SKETCHED_TARGETS = 512  # fewer targets are compared with all source words
PROBES = 6  # cells of source words in which a target's neighbours are looked for


class NeighborhoodBias(Bias):
    """bias(z) = r_S(z) / 2, since CSLS = 2 (cos(x, z) - r_S(z) / 2) - r_T(x).

    Bounded below by the mean over the k nearest words of a few cells of a quantizer.
    """

    def __init__(self, source: Rows, target: Rows, k: int, tiles: Tiles = TILES):
        super().__init__(source, target)
        self.tiles = tiles
        self.k = min(k, len(self.source))
        self.neighbors = k
        self.margin = np.float32(rounding(self.target.shape[1]))
        self._floor: npt.NDArray[np.float32] | None = None  # below each one's k-th cosine
        self._cell: RowIndices  # of the source words nearest to each target
        self._made_sketch: Sketch | None = None
        self._sketch_tried = False

    def compute(self, rows: RowIndices) -> Vector:
        """Return r_S(z) / 2."""
        share = self.cost_of_bound() / (len(rows) * len(self.source))
        if self._floor is None and share < MAX_BOUND_WORK_SHARE:
            self.bound()
        means = np.empty(len(rows))
        if self._floor is None:
            for part in self.tiles.of_rows(len(rows)):
                targets = self.target[rows[part]]
                means[part] = neighborhood_means(targets, self.source, self.k, tiles=self.tiles)
            return means / 2
        order = np.argsort(self._cell[rows], kind="stable")  # neighbours of one cell are alike
        sketch = self._sketch(rows)
        for part in slices(len(rows), self.tiles.rows if sketch is None else QUERIES_PER_LIST):
            chosen = rows[order[part]]
            targets, floor = self.target[chosen], self._floor[chosen]
            among = None if sketch is None else sketch.candidates(targets, floor, self.tiles)
            means[order[part]] = neighborhood_means(
                targets, self.source, self.k, floor, among, self.tiles
            )
        return means / 2

    def _sketch(self, rows: RowIndices) -> Sketch | None:
        """Return a sketch of the source, made once there are enough targets to be worth it."""
        if self._sketch_tried or len(rows) < MIN_SKETCHED_TARGETS:
            return self._made_sketch
        assert self._floor is not None
        self._sketch_tried = True
        chosen = rows[:: max(1, len(rows) // 2048)]
        self._made_sketch = make_sketch(self.source, self.target[chosen], self._floor[chosen])
        return self._made_sketch

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
            for rows, some in cell_tiles(targets, members, self.tiles):
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
    tiles: Tiles = TILES,
) -> Vector:
    """Return the mean of the k largest query . vector of each query, in float64.

    Parameters
    ----------
    floor
        Values known to lie below the k-th largest, with a margin for rounding; they save time.
    among
        The rows of the vectors that may be among the k nearest; by default all.
    """
    best = Best(len(queries), min(k + MORE_THAN_ASKED, len(vectors)), floor)
    for tile in tiles.of_columns(len(vectors if among is None else among)):
        rows = tile if among is None else among[tile]
        best.update(queries @ vectors[rows].T, tile.start)
    if among is not None:
        best.columns = np.where(best.columns < 0, -1, among[best.columns])
    return best_means(best, queries, vectors, k, tiles)
