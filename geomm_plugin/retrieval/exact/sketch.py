"""Few coordinates that rule most pairs out: dot products bounded by principal directions.

With P the leading principal directions of the rows s, s = s P P' + rest, and by Cauchy and Schwarz

    s . z  <=  (s P) . (z P) + |rest of s| |rest of z|

which is itself a dot product of few numbers: (s P, |rest of s|) . (z P, |rest of z|). Mapped word
vectors have quickly falling spectra, so that a fifth of the coordinates leaves few pairs to look
at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from geomm_plugin.arrays import (
    BLOCK_ROWS,
    Matrix,
    RowIndices,
    Vector,
    slices,
)
from geomm_plugin.factorization import eigh
from geomm_plugin.retrieval.exact.bias import SearchPolicy

QUERIES_PER_LIST = 64  # queries whose candidates are gathered in one list
MAX_SKETCH_BYTES = 128_000_000
MAX_SKETCH_WORK_SHARE = 0.7  # a sketch must save at least 30 % of the work
SAMPLED_ROWS = 4096  # rows on which sizes are tried
SAMPLED_QUERIES = 256
LISTS_IN_CACHE = 8  # whose products with 512 rows are 1 MB: compared while they are in the cache
COLUMNS_IN_CACHE = 512


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
    vectors: Matrix, queries: Matrix, floor: Vector, policy: SearchPolicy
) -> Sketch | None:
    """Return the sketch that promises the least work for such queries; None if none pays."""
    generator = np.random.default_rng(0)
    rows = vectors[np.sort(generator.permutation(len(vectors))[:SAMPLED_ROWS])].astype(np.float64)
    asked = np.sort(generator.permutation(len(queries))[:SAMPLED_QUERIES])
    _, directions = eigh(rows.T @ rows)
    directions = directions[:, ::-1]
    dimension = vectors.shape[1]
    best, least = None, np.inf if policy.sketch else MAX_SKETCH_WORK_SHARE
    for size in policy.directions:
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
