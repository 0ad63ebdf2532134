"""Words that are each other's best translation by CSLS: a dictionary from the space itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from geomm_plugin.arrays import Matrix, RowIndices, Vector
from geomm_plugin.factorization import all_threads
from geomm_plugin.retrieval.exact.best import SPARE, Best, best_means
from geomm_plugin.retrieval.exact.bias import KnownBias
from geomm_plugin.retrieval.exact.biased_index import BiasedIndex
from geomm_plugin.retrieval.exact.dots import as_unit_rows, column_tiles

ROWS = 2048  # source and target words that are compared in one matrix product: 32 MB
COLUMNS = 4096
KEPT = 4  # of the best by CSLS: more than rounding may confuse


@dataclass(frozen=True)
class BestNeighbors:
    """The best target of each source row, with its CSLS, and the best source of each target row."""

    forth: RowIndices
    forth_scores: Vector
    back: RowIndices

    def mutual(self) -> tuple[RowIndices, RowIndices, Vector]:
        """Return the pairs that are each other's best: source rows, target rows, CSLS."""
        source = np.flatnonzero(self.back[self.forth] == np.arange(len(self.forth)))
        return source, self.forth[source], self.forth_scores[source]


def mutual_neighbors(
    source: Matrix, target: Matrix, k: int = 10
) -> tuple[RowIndices, RowIndices, Vector]:
    """Return the pairs of unit rows that are each other's best by CSLS, in the source's order.

    Returns source rows, target rows and their CSLS.
    """
    return best_neighbors(source, target, k).mutual()


def best_neighbors(source: Matrix, target: Matrix, k: int = 10) -> BestNeighbors:
    """Return the best translations by CSLS of all rows, in both directions."""
    source, target = as_unit_rows(source, "source"), as_unit_rows(target, "target")
    of_source, of_target = nearest_rows(source, target, k)
    r_target = best_means(of_source, source, target, min(k, len(target)))
    r_source = best_means(of_target, target, source, min(k, len(source)))
    forth, gaps = _best_by_gap(source, target, of_source, r_source / 2)
    back, _ = _best_by_gap(target, source, of_target, r_target / 2)
    return BestNeighbors(forth, 2 * gaps - r_target, back)


def _best_by_gap(
    queries: Matrix, targets: Matrix, nearest: Best, bias: Vector
) -> tuple[RowIndices, Vector]:
    """Return the best target of each query by cos - bias, and that gap.

    Most are among the nearest by cosine. A target that is not has a cosine of at most the list's
    floor, so that only one with a bias below floor - gap of the best in the list can still win.
    """
    index = BiasedIndex(targets, KnownBias(targets, bias))
    lower = index.bias.lower
    bounds = np.where(nearest.columns < 0, -np.inf, nearest.values - lower[nearest.columns])
    floor = bounds.max(axis=1) - np.float32(4 * index.margin)  # below what can win
    reach = nearest.floor - floor
    best = Best(len(queries), nearest.values.shape[1] + KEPT, floor)
    best.values[:, KEPT:], best.columns[:, KEPT:] = bounds, nearest.columns
    by_bias, by_reach = np.argsort(lower, kind="stable"), np.argsort(reach, kind="stable")
    for part in column_tiles(len(queries), ROWS):
        rows = by_reach[part]
        others = by_bias[: np.searchsorted(lower, reach[rows[-1]], "right", sorter=by_bias)]
        found = Best(len(rows), KEPT, floor[rows])
        for tile in column_tiles(len(others), COLUMNS):
            columns = others[tile]
            gaps = _all_products(queries[rows], targets[columns]) - lower[columns]
            found.update(gaps, tile.start)
        best.values[rows, :KEPT], best.floor[rows] = found.values, found.floor
        if len(others):
            best.columns[rows, :KEPT] = np.where(found.columns < 0, -1, others[found.columns])
    columns, gaps = index.decide(queries, best, 1)
    return columns[:, 0], gaps[:, 0]


def nearest_rows(source: Matrix, target: Matrix, k: int) -> tuple[Best, Best]:
    """Return the k nearest targets of each source row, a few more, and the other way round."""
    of_source = Best(len(source), _listed(k, len(target)))
    of_target = Best(len(target), _listed(k, len(source)))
    for columns in column_tiles(len(target), COLUMNS):
        for rows in column_tiles(len(source), ROWS):
            cosines = _all_products(source[rows], target[columns])
            of_source.part(rows).update(cosines, columns.start)
            of_target.part(columns).update(cosines.T, rows.start)
    return of_source, of_target


def _listed(k: int, rows: int) -> int:
    """Return how many nearest rows are listed: all, where a few more would make a list of all."""
    return rows if rows <= k + SPARE + KEPT else k + SPARE


def _all_products(left: Matrix, right: Matrix) -> Matrix:
    with all_threads():  # this runs inside fits, which have few
        products: Matrix = left @ right.T
    return products
