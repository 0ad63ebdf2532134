"""A coarse k-means quantizer: unit rows divided into cells around unit centroids.

Spherical k-means (Dhillon and Modha, 2001) on a sample of the rows. A vector's nearest rows lie
mostly in the few cells whose centroids are nearest to it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from geomm_plugin.arrays import BLOCK_ROWS, TILES, Matrix, RowIndices, Tiles, slices

SAMPLED_ROWS_PER_CELL = 40  # the centroids are learnt from them
ROUNDS = 5


def cells_for(rows: int) -> int:
    """Return how many cells so many rows are divided into: 2 sqrt(rows)."""
    return max(1, min(rows, round(2 * math.sqrt(rows))))


def cost_of_probes(rows: int, queries: int, probes: int) -> float:
    """Return how many dot products it takes to divide rows and to look into a few cells a query."""
    cells = cells_for(rows)
    training = ROUNDS * min(SAMPLED_ROWS_PER_CELL * cells, rows)
    return cells * (training + rows + 2 * queries) + 2 * probes * queries * rows / cells


def cell_tiles(
    queries: RowIndices, members: RowIndices, tiles: Tiles = TILES
) -> Iterator[tuple[RowIndices, RowIndices]]:
    """Divide a cell and those who look into it: many equal words make a cell of any size."""
    for part in tiles.of_columns(len(queries)):
        for some in tiles.of_rows(len(members)):
            yield queries[part], members[some]


class Quantizer:
    """Cells of rows: `members(cell)` lists the rows whose nearest centroid is that cell's."""

    def __init__(self, vectors: Matrix, seed: int = 0):
        cells = cells_for(len(vectors))
        generator = np.random.default_rng(seed)
        count = min(len(vectors), SAMPLED_ROWS_PER_CELL * cells)
        sample = vectors[np.sort(generator.choice(len(vectors), count, replace=False))]
        self.centroids = sample[generator.choice(count, cells, replace=False)]
        for _ in range(ROUNDS):
            self._move(sample)
        cell = self.nearest(vectors, 1)[:, 0]
        self._order = np.argsort(cell, kind="stable")
        self._starts = np.searchsorted(cell[self._order], np.arange(cells + 1))

    def __len__(self) -> int:
        return len(self.centroids)

    def members(self, cell: int) -> RowIndices:
        """Return the rows of a cell."""
        return self._order[self._starts[cell] : self._starts[cell + 1]]

    def nearest(self, vectors: Matrix, count: int) -> RowIndices:
        """Return for each vector the cells of the nearest centroids, the nearest first."""
        cells = np.empty((len(vectors), count), np.intp)
        for part in slices(len(vectors), BLOCK_ROWS):
            cosines = vectors[part] @ self.centroids.T
            rows = np.arange(len(cosines))
            for number in range(count):  # several searches for a maximum cost less than one sort
                cells[part, number] = cell = cosines.argmax(axis=1)
                cosines[rows, cell] = -np.inf
        return cells

    def _move(self, sample: npt.NDArray[np.float32]) -> None:
        cell = self.nearest(sample, 1)[:, 0]
        order = np.argsort(cell, kind="stable")
        occupied, starts = np.unique(cell[order], return_index=True)
        sums = np.add.reduceat(sample[order], starts, axis=0)
        lengths = np.sqrt(np.einsum("ij,ij->i", sums, sums))[:, None]
        self.centroids[occupied] = sums / np.where(lengths > 0, lengths, 1)
