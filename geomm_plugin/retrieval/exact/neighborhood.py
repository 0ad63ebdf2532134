"""r_S(z): the mean cosine of a target z with its k nearest source words, as CSLS takes it off.

r_S(z) is the largest mean over k source words, so that any k of them give a bound:

    r_S(z)  >=  mean over x in K of cos(x, z)  =  m_K . z,    m_K the mean of the k rows of K

For few queries, K are the neighbours of the targets nearest to them: one product with all targets
bounds those that may win, and the rest stays unknown. For many, cells of a quantizer give K.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from geomm_plugin.arrays import TILES, Matrix, RowIndices, Tiles, Vector
from geomm_plugin.retrieval.exact.bias import FLOAT32_LOSS, POLICY, Bias, SearchPolicy
from geomm_plugin.retrieval.exact.bounds import Quantizer, Sketch, cost_of_probes, make_sketch
from geomm_plugin.retrieval.exact.dots import rounding
from geomm_plugin.retrieval.exact.top_k import MORE_THAN_ASKED, TopK, best_means
from geomm_plugin.retrieval.unit_rows import AnyRows
from geomm_plugin.work import each_part

MAX_BOUND_WORK_SHARE = 0.2  # bounds are made to speed exact means up if they cost less than this
MAX_SKETCH_WORK_SHARE = 0.7  # a sketch must save at least 30 % of the work
MIN_SKETCHED_TARGETS = 512  # fewer targets are compared with all source words
PROBES = 6  # cells of source words in which a target's neighbours are looked for
MAX_KNOWN_SHARE = 0.3  # of the targets in front, above which their neighbours were looked at before
MAX_NEAR_WORK_SHARE = 0.5  # of the work that bounds for all targets take


class NeighborhoodBias(Bias):
    """bias(z) = r_S(z) / 2, since CSLS = 2 (cos(x, z) - r_S(z) / 2) - r_T(x).

    Bounded below by the mean over the k nearest words of a few cells of a quantizer.
    """

    is_exact = True

    def __init__(
        self,
        source: AnyRows,
        target: AnyRows,
        k: int,
        policy: SearchPolicy = POLICY,
        means: Vector | None = None,
    ):
        super().__init__(source, target, policy)
        self.tiles = policy.tiles
        self.k = min(k, len(source))
        self.neighbors = k
        self.margin = np.float32(rounding(self.target.shape[1]))
        self._floor: npt.NDArray[np.float32] | None = None  # below each one's k-th cosine
        self._cell: RowIndices  # of the source words nearest to each target
        self._made_sketch: Sketch | None = None
        self._sketch_tried = False
        if means is not None:
            self._values[:] = means / 2
            self.lower[:] = self._values - FLOAT32_LOSS

    def prepare(self, questions: int, queries: Matrix | None = None) -> None:
        """Bound the targets near few queries; for many, bound all or compute all."""
        if questions and queries is not None and self._near_is_cheap(len(queries)):
            self._bound_near(queries)
        else:
            super().prepare(questions)

    def _near_is_cheap(self, queries: int) -> bool:
        """Whether bounds from the neighbours of leading targets cost less than any others."""
        if self._bounded or self.is_known:
            return False
        if self.policy.near is not None:
            return self.policy.near
        leading = queries * self.policy.near_targets
        every = min(self.cost_of_bound(), float(len(self.source) * len(self.target)))
        return leading * (len(self.source) + len(self.target)) <= MAX_NEAR_WORK_SHARE * every

    def _bound_near(self, queries: Matrix) -> None:
        """Bound all targets by the neighbours of those that are best by the bounds so far."""
        leading = TopK(len(queries), min(self.policy.near_targets, len(self.target)))
        for tile in self.tiles.of_columns(len(self.target)):
            gaps = queries @ self.target[tile].T - np.maximum(self.lower[tile], -1)
            leading.update(gaps, tile.start)
        rows = np.unique(leading.columns)
        known = ~np.isnan(self._values[rows])
        if known.mean() > MAX_KNOWN_SHARE:  # the queries, or some near them, were asked before
            return
        rows = rows[~known]
        for part in self.tiles.of_rows(len(rows)):
            some = rows[part]
            targets = self.target[some]
            best = nearest_of(targets, self.source, self.k, tiles=self.tiles)
            self._values[some] = best_means(best, targets, self.source, self.k, self.tiles) / 2
            self.lower[some] = self._values[some] - FLOAT32_LOSS
            means = self._list_means(best)
            for tile in self.tiles.of_columns(len(self.target)):
                bound = (self.target[tile] @ means.T).max(axis=1) / 2 - self.margin
                self.lower[tile] = np.fmax(self.lower[tile], bound)

    def _list_means(self, best: TopK) -> Matrix:
        """Return the mean row of the k source words at the head of each list."""
        order = np.argsort(-best.values, axis=1, kind="stable")[:, : self.k]
        columns = np.take_along_axis(best.columns, order, axis=1)
        means = np.zeros((len(columns), self.source.shape[1]), np.float32)
        for place in range(self.k):
            means += self.source[columns[:, place]]
        return means / np.float32(self.k)

    def compute(self, rows: RowIndices) -> Vector:
        """Return r_S(z) / 2."""
        share = self.cost_of_bound() / (len(rows) * len(self.source))
        is_cheap = share < MAX_BOUND_WORK_SHARE and self.policy.bounds is not False
        if self._floor is None and (is_cheap or self.policy.sketch):
            self.bound()
        sketch, order = None, np.arange(len(rows))
        if self._floor is not None:
            order = np.argsort(self._cell[rows], kind="stable")  # neighbours of one cell are alike
            sketch = self._sketch(rows)
        parts = [rows[order[part]] for part in self.tiles.of_rows(len(rows))]
        given = (self.target, self.source, self.k, self._floor, sketch, self.tiles)
        means = np.empty(len(rows))
        means[order] = np.concatenate(
            list(each_part("Comparing neighbourhoods", means_of_rows, given, parts))
        )
        return means / 2

    def _sketch(self, rows: RowIndices) -> Sketch | None:
        """Return a sketch of the source, made once there are enough targets to be worth it."""
        wanted = self.policy.sketch
        if wanted is None:
            wanted = len(rows) >= MIN_SKETCHED_TARGETS
        if wanted and not self._sketch_tried:
            assert self._floor is not None
            self._sketch_tried = True
            chosen = rows[:: max(1, len(rows) // 2048)]
            self._made_sketch = make_sketch(
                self.source,
                self.target[chosen],
                self._floor[chosen],
                self.policy.directions,
                np.inf if self.policy.sketch else MAX_SKETCH_WORK_SHARE,
            )
        return self._made_sketch

    def bound(self) -> Vector:
        """Return the bound of r_S(z) / 2 from the cells nearest to z."""
        quantizer = Quantizer(self.source)
        probed = quantizer.nearest(self.target, min(PROBES, len(quantizer)))
        self._cell = probed[:, 0].copy()
        nearest = np.full((len(self.target), self.k), -1, np.float32)
        for rows, members in quantizer.probes(probed, self.tiles):
            cosines = self.target[rows] @ self.source[members].T
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


def means_of_rows(
    target: Matrix,
    source: Matrix,
    k: int,
    floor: Vector | None,
    sketch: Sketch | None,
    tiles: Tiles,
    rows: RowIndices,
) -> Vector:
    """Return the mean of the k largest products of some targets with the source rows."""
    targets, floors = target[rows], None if floor is None else floor[rows]
    if sketch is None or floors is None:
        best = nearest_of(targets, source, k, floors, tiles=tiles)
        return best_means(best, targets, source, k, tiles)
    means = np.empty(len(rows))
    for part, among in sketch.candidates(targets, floors):
        best = nearest_of(targets[part], source, k, floors[part], among, tiles)
        means[part] = best_means(best, targets[part], source, k, tiles)
    return means


def nearest_of(
    queries: Matrix,
    vectors: Matrix,
    k: int,
    floor: Vector | None = None,
    among: RowIndices | None = None,
    tiles: Tiles = TILES,
) -> TopK:
    """Return the k vectors of the largest query . vector, and a few more, by float32.

    Parameters
    ----------
    floor
        Values known to lie below the k-th largest, with a margin for rounding; they save time.
    among
        The rows of the vectors that may be among the k nearest; by default all.
    """
    best = TopK(len(queries), min(k + MORE_THAN_ASKED, len(vectors)), floor)
    for tile in tiles.of_columns(len(vectors if among is None else among)):
        rows = tile if among is None else among[tile]
        best.update(queries @ vectors[rows].T, tile.start)
    if among is not None:
        best.columns = np.where(best.columns < 0, -1, among[best.columns])
    return best
