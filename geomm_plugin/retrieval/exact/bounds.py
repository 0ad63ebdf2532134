"""Cheap knowledge of dot products: which rows are probably near, and which cannot be.

A quantizer divides unit rows into cells around unit centroids, by spherical k-means (Dhillon and
Modha, 2001) on a sample: the rows nearest to a vector lie mostly in the few cells nearest to it.

A sketch rules most pairs out. With P the leading principal directions of the rows s, s = s P P' +
rest, and by Cauchy and Schwarz

    s . z  <=  (s P) . (z P) + |rest of s| |rest of z|

which is itself a dot product of few numbers: (s P, |rest of s|) . (z P, |rest of z|). Mapped word
vectors have quickly falling spectra, so that a fifth of the coordinates leaves few pairs to look
at.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from geomm_plugin.arrays import BLOCK_ROWS, Matrix, RowIndices, Tiles, Vector, slices
from geomm_plugin.factorization import eigh

SAMPLED_ROWS_PER_CELL = 40  # the centroids are learnt from them
ROUNDS = 5

QUERIES_PER_LIST = 64  # queries whose candidates are gathered in one list
MAX_SKETCH_BYTES = 128_000_000
SAMPLED_ROWS = 4096  # rows on which sizes are tried
SAMPLED_QUERIES = 256
LISTS_IN_CACHE = 8  # whose products with 512 rows are 1 MB: compared while they are in the cache
COLUMNS_IN_CACHE = 512


def cells_for(rows: int) -> int:
    """Return how many cells rows are divided into: 2 sqrt(rows)."""
    return max(1, min(rows, round(2 * math.sqrt(rows))))


def cost_of_probes(rows: int, queries: int, probes: int) -> float:
    """Return how many dot products it takes to divide rows and to look into a few cells a query."""
    cells = cells_for(rows)
    training = ROUNDS * min(SAMPLED_ROWS_PER_CELL * cells, rows)
    return cells * (training + rows + 2 * queries) + 2 * probes * queries * rows / cells


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

    def probes(self, cells: RowIndices, tiles: Tiles) -> Iterator[tuple[RowIndices, RowIndices]]:
        """Yield vectors and the rows of a cell that they look into, cell by cell.

        Some of both at a time: many equal words make a cell of any size.

        Parameters
        ----------
        cells
            For each vector the cells that it looks into, such as the `nearest` ones.
        """
        order = np.argsort(cells, axis=None, kind="stable")
        starts = np.searchsorted(cells.ravel()[order], np.arange(len(self) + 1))
        for cell in range(len(self)):
            looking = order[starts[cell] : starts[cell + 1]] // cells.shape[1]
            members = self.members(cell)
            for part in tiles.of_columns(len(looking)):
                for some in tiles.of_rows(len(members)):
                    yield looking[part], members[some]

    def _move(self, sample: npt.NDArray[np.float32]) -> None:
        cell = self.nearest(sample, 1)[:, 0]
        order = np.argsort(cell, kind="stable")
        occupied, starts = np.unique(cell[order], return_index=True)
        sums = np.add.reduceat(sample[order], starts, axis=0)
        lengths = np.sqrt(np.einsum("ij,ij->i", sums, sums))[:, None]
        self.centroids[occupied] = sums / np.where(lengths > 0, lengths, 1)


@dataclass(frozen=True, eq=False)
class Sketch:
    """The short form of all rows; `candidates` finds the rows that may reach a query's floor."""

    directions: Matrix  # d x m
    short: Matrix  # n x (m + 2): the last numbers are 1, so that a floor is part of the product

    @classmethod
    def of(cls, vectors: Matrix, directions: Matrix) -> Sketch:
        """Return the sketch of all rows."""
        return cls(directions, shorten(vectors, directions, np.ones(len(vectors))))

    def candidates(self, queries: Matrix, floor: Vector) -> Iterator[tuple[slice, RowIndices]]:
        """Yield some queries at a time, and every row that may reach the floor of one of them."""
        short = shorten(queries, self.directions, -floor)
        lists = -(-len(queries) // QUERIES_PER_LIST)
        whole = np.minimum(np.arange(lists * QUERIES_PER_LIST), len(queries) - 1)
        reached = np.empty((lists, len(self.short)), bool)
        for part in slices(lists, LISTS_IN_CACHE):
            many = short[whole[part.start * QUERIES_PER_LIST : part.stop * QUERIES_PER_LIST]]
            buffer = np.empty((len(many), COLUMNS_IN_CACHE), np.float32)
            for tile in slices(len(self.short), COLUMNS_IN_CACHE):
                above = np.matmul(many, self.short[tile].T, out=buffer[:, : tile.stop - tile.start])
                above = above.reshape(part.stop - part.start, QUERIES_PER_LIST, -1)
                reached[part, tile] = above.max(axis=1) >= 0
        for part, found in zip(slices(len(queries), QUERIES_PER_LIST), reached, strict=True):
            yield part, np.flatnonzero(found)


def make_sketch(
    vectors: Matrix, queries: Matrix, floor: Vector, sizes: Sequence[int], most_work: float
) -> Sketch | None:
    """Return the sketch of the least work for such queries; None if each takes too much.

    Parameters
    ----------
    sizes
        Numbers of directions to try, in increasing order.
    most_work
        The share of all work from which on a sketch is not worth it.
    """
    generator = np.random.default_rng(0)
    rows = vectors[np.sort(generator.permutation(len(vectors))[:SAMPLED_ROWS])].astype(np.float64)
    asked = np.sort(generator.permutation(len(queries))[:SAMPLED_QUERIES])
    _, directions = eigh(rows.T @ rows)
    directions = directions[:, ::-1]
    dimension = vectors.shape[1]
    best, least = None, most_work
    for size in sizes:
        if size >= dimension or 4 * (size + 1) * len(vectors) > MAX_SKETCH_BYTES:
            break
        leading = directions[:, :size]
        above = shorten(queries[asked], leading, -floor[asked]) @ Sketch.of(rows, leading).short.T
        share = float(np.mean(above >= 0))
        # Queries that are asked together are alike, and share half of their candidates.
        work = (size + 1) / dimension + QUERIES_PER_LIST / 2 * share
        if work < least:
            best, least = size, work
    if best is None:
        return None
    leading = np.ascontiguousarray(directions[:, :best])
    return Sketch.of(vectors, leading)


def shorten(vectors: Matrix, directions: Matrix, last: Vector) -> Matrix:
    """Return (v P, |v - v P P'|, last) for each row, as float32."""
    short = np.empty((len(vectors), directions.shape[1] + 2), np.float32)
    short[:, -1] = last
    for part in slices(len(vectors), BLOCK_ROWS):
        rows = vectors[part].astype(np.float64)
        leading = rows @ directions
        # In float64, since in float32 the difference of two squares would lose the rest.
        rest = np.einsum("ij,ij->i", rows, rows) - np.einsum("ij,ij->i", leading, leading)
        short[part, :-2] = leading
        short[part, -2] = np.sqrt(np.maximum(rest, 0) + 1e-12)
    return short
