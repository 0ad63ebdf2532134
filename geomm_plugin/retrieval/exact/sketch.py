"""Few coordinates that rule most pairs out: dot products bounded by principal directions.

With P the leading principal directions of the rows s, s = s P P' + rest, and by Cauchy and Schwarz

    s . z  <=  (s P) . (z P) + |rest of s| |rest of z|

which is itself a dot product of few numbers: (s P, |rest of s|) . (z P, |rest of z|). Mapped word
vectors have quickly falling spectra, so that a fifth of the coordinates leaves few pairs to look
at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from geomm_plugin.arrays import (
    BLOCK_ROWS,
    TILES,
    Matrix,
    RowIndices,
    Tiles,
    Vector,
    slices,
)
from geomm_plugin.factorization import eigh

SIZES = (32, 64, 96, 128, 192)  # numbers of directions that are tried
QUERIES_PER_LIST = 64  # queries whose candidates are gathered in one list
MAX_SKETCH_BYTES = 128_000_000
MAX_SKETCH_WORK_SHARE = 0.7  # a sketch must save at least 30 % of the work
SAMPLED_ROWS = 4096  # rows on which sizes are tried
SAMPLED_QUERIES = 256


@dataclass(frozen=True, eq=False)
class Sketch:
    """The short form of all rows; `candidates` finds the rows that may reach a query's floor."""

    directions: Matrix  # d x m
    short: Matrix  # n x (m + 1)

    def candidates(self, queries: Matrix, floor: Vector, tiles: Tiles = TILES) -> RowIndices:
        """Return every row whose product with some query may reach that query's floor."""
        short = shorten(queries, self.directions)
        rows = []
        for tile in tiles.of_columns(len(self.short)):
            reached = (short @ self.short[tile].T >= floor[:, None]).any(axis=0)
            rows.append(np.flatnonzero(reached) + tile.start)
        return np.concatenate(rows)


def make_sketch(vectors: Matrix, queries: Matrix, floor: Vector) -> Sketch | None:
    """Return the sketch that promises the least work for such queries; None if none pays."""
    generator = np.random.default_rng(0)
    rows = vectors[np.sort(generator.permutation(len(vectors))[:SAMPLED_ROWS])].astype(np.float64)
    asked = np.sort(generator.permutation(len(queries))[:SAMPLED_QUERIES])
    _, directions = eigh(rows.T @ rows)
    directions = directions[:, ::-1]
    dimension = vectors.shape[1]
    best, least = None, MAX_SKETCH_WORK_SHARE
    for size in SIZES:
        if size >= dimension or 4 * (size + 1) * len(vectors) > MAX_SKETCH_BYTES:
            break
        leading = directions[:, :size]
        bounds = shorten(queries[asked], leading) @ shorten(rows, leading).T
        share = float(np.mean(bounds >= floor[asked, None]))
        # Queries that are asked together are alike, and share half of their candidates.
        work = (size + 1) / dimension + QUERIES_PER_LIST / 2 * share
        if work < least:
            best, least = size, work
    if best is None:
        return None
    leading = np.ascontiguousarray(directions[:, :best])
    return Sketch(leading, shorten(vectors, leading))


def shorten(vectors: Matrix, directions: Matrix) -> Matrix:
    """Return (v P, |v - v P P'|) for each row, as float32."""
    short = np.empty((len(vectors), directions.shape[1] + 1), np.float32)
    for part in slices(len(vectors), BLOCK_ROWS):
        rows = vectors[part].astype(np.float64)
        leading = rows @ directions
        # In float64, since in float32 the difference of two squares would lose the rest.
        rest = np.einsum("ij,ij->i", rows, rows) - np.einsum("ij,ij->i", leading, leading)
        short[part, :-1] = leading
        short[part, -1] = np.sqrt(np.maximum(rest, 0) + 1e-12)
    return short
