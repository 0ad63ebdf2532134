"""The largest values of each row, gathered tile by tile."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from geomm_plugin.arrays import TILES, Mask, Matrix, RowIndices, Tiles, Vector, slices
from geomm_plugin.retrieval.exact.dots import exact_dots, representatives, rounding

SORTED_ROWS = 128  # of a tile at a time: places take twice the memory of values
MORE_THAN_ASKED = 6  # values kept beyond the k largest: rounding may confuse them with the k-th
FLOAT64_ROUNDING = 2.0**-29  # as a share of a float32's


class TopK:
    """For each row the `size` largest values seen and their columns; the rest is <= `floor`.

    Parameters
    ----------
    floor
        Values that are not above it are not wanted.
    """

    def __init__(self, rows: int, size: int, floor: Vector | None = None):
        self.values = np.full((rows, size), -np.inf, np.float32)
        self.columns = np.full((rows, size), -1, np.intp)
        self.floor = np.full(rows, -np.inf, np.float32)
        if floor is not None:
            self.floor[:] = floor

    def part(self, rows: slice) -> TopK:
        """Return some rows; what updates them updates these."""
        part = TopK(0, 0)
        part.values, part.columns = self.values[rows], self.columns[rows]
        part.floor = self.floor[rows]
        return part

    def update(self, tile: Matrix, first: int) -> None:
        """Take in a tile of values whose columns are numbered from `first`."""
        size = self.values.shape[1]
        above: Mask = tile > self.floor[:, None]  # laid out in memory as the tile is
        if np.count_nonzero(above) > 4 * size * len(tile):  # too many to sort in one by one
            most = min(size, tile.shape[1])
            columns = np.empty((len(tile), most), np.intp)
            for part in slices(len(tile), SORTED_ROWS):
                columns[part] = np.argpartition(tile[part], -most, axis=1)[:, -most:]
            rows = np.arange(len(tile))
            self._merge(rows, np.take_along_axis(tile, columns, axis=1), columns + first)
            return
        row, column = _where(above)
        if len(row):
            count = np.bincount(row, minlength=len(tile))
            place = np.arange(len(row)) - (np.cumsum(count) - count)[row]
            rows = np.flatnonzero(count)
            at = np.searchsorted(rows, row)
            values = np.full((len(rows), int(count.max())), -np.inf, np.float32)
            columns = np.full(values.shape, -1, np.intp)
            values[at, place] = tile[row, column]
            columns[at, place] = column + first
            self._merge(rows, values, columns)

    def _merge(self, rows: RowIndices, values: Matrix, columns: RowIndices) -> None:
        size = self.values.shape[1]
        values = np.concatenate([self.values[rows], values], axis=1)
        columns = np.concatenate([self.columns[rows], columns], axis=1)
        largest = np.argpartition(values, -size, axis=1)[:, -size:]
        self.values[rows] = np.take_along_axis(values, largest, axis=1)
        self.columns[rows] = np.take_along_axis(columns, largest, axis=1)
        self.floor[rows] = np.maximum(self.floor[rows], self.values[rows].min(axis=1))

    def join(self, other: TopK) -> None:
        """Take in the lists of other columns for the same rows."""
        self._merge(np.arange(len(self.values)), other.values, other.columns)
        np.maximum(self.floor, other.floor, out=self.floor)

    @classmethod
    def stacked(cls, parts: Sequence[TopK]) -> TopK:
        """Return the lists of one part's rows after those of the other."""
        best = cls(0, 0)
        best.values = np.concatenate([part.values for part in parts])
        best.columns = np.concatenate([part.columns for part in parts])
        best.floor = np.concatenate([part.floor for part in parts])
        return best

    def largest(self, k: int) -> npt.NDArray[np.float32]:
        """Return the k-th largest value of each row."""
        values: npt.NDArray[np.float32] = np.partition(self.values, -k, axis=1)[:, -k]
        return values


def _where(above: Mask) -> tuple[RowIndices, RowIndices]:
    """Return rows and columns, row by row.

    A tile may be the transpose of a product: it is then searched as it lies in memory.
    """
    if above.flags.c_contiguous:
        row, column = np.divmod(np.flatnonzero(above), above.shape[1])
        return row, column
    column, row = np.divmod(np.flatnonzero(above.T), len(above))
    order = np.argsort(row, kind="stable")
    return row[order], column[order]


def best_means(
    best: TopK, queries: Matrix, vectors: Matrix, k: int, tiles: Tiles = TILES
) -> Vector:
    """Return the mean of the k largest query . vector, in float64, from lists of at least k."""
    margin = rounding(queries.shape[1])
    reach = best.largest(k) - np.float32(2 * margin)
    crowded = best.floor >= reach
    row, place = np.nonzero((best.values >= reach[:, None]) & ~crowded[:, None])
    exact = np.full(best.values.shape, -np.inf)
    exact[row, place] = exact_dots(queries, row, vectors, best.columns[row, place])
    exact.sort(axis=1)
    exact = exact[:, -k:]
    exact[crowded] = _crowded_best(queries[crowded], vectors, k, reach[crowded], tiles.half)
    means: Vector = np.ascontiguousarray(exact).mean(axis=1)
    return means


def _crowded_best(queries: Matrix, vectors: Matrix, k: int, reach: Vector, tiles: Tiles) -> Matrix:
    """Return the k largest query . vector in order, where many vectors are (nearly) equal.

    A float32 product cannot order such vectors. A float64 one leaves few, besides those that
    are equal, of which one speaks for all.
    """
    best = np.full((len(queries), k), -np.inf)
    for part in tiles.of_rows(len(queries)):
        for tile in tiles.of_columns(len(vectors)):
            rows = _near(queries[part], vectors[tile], reach[part])
            if len(rows):
                best[part] = _merge_near(best[part], queries[part], vectors[tile][rows], k)
    best.sort(axis=1)
    return best


def _near(queries: Matrix, vectors: Matrix, reach: Vector) -> RowIndices:
    """Return the vectors that reach what some query asks for, or nearly."""
    least = reach - np.float32(rounding(queries.shape[1]))
    return np.flatnonzero((queries @ vectors.T >= least[:, None]).any(axis=0))


def _merge_near(best: Matrix, queries: Matrix, vectors: Matrix, k: int) -> Matrix:
    """Return the k largest of what is known and of query . vector, exactly."""
    first, count = np.unique(representatives(vectors), return_counts=True)
    vectors = vectors[first]
    dots = queries.astype(np.float64) @ vectors.astype(np.float64).T
    least = np.partition(np.concatenate([best, dots], axis=1), -k, axis=1)[:, -k]
    row, column = np.nonzero(
        dots >= least[:, None] - 4 * rounding(queries.shape[1]) * FLOAT64_ROUNDING
    )
    dots[:] = -np.inf
    dots[row, column] = exact_dots(queries, row, vectors, column)
    dots = np.concatenate([best, np.repeat(dots, np.minimum(count, k), axis=1)], axis=1)
    dots.partition(dots.shape[1] - k, axis=1)
    return dots[:, -k:]
