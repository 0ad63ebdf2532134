"""Dot products twice: fast ones to shortlist, exact ones to decide.

A float32 matrix product errs by at most `rounding(d)` on unit rows (Higham, Accuracy and Stability
of Numerical Algorithms, 2002, section 3.1), and by how much depends on where a row stands. So it
only shortlists, with that margin. What decides is summed in float64, in one order whatever the
position: equal rows get equal scores, and a tie is a tie.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from geomm_plugin.arrays import (
    BLOCK_ROWS,
    Matrix,
    RowIndices,
    Vector,
)
from geomm_plugin.errors import ParameterError

PAIRS = 8192  # pairs of rows multiplied at a time: 40 MB at d = 300


def rounding(dimension: int) -> float:
    """Bound the error of a float32 dot product of unit rows, and of a few operations after it."""
    return 1.1 * (dimension + 16) * 2.0**-24


def exact_dots(
    left: Matrix, left_rows: RowIndices, right: Matrix, right_rows: RowIndices
) -> Vector:
    """Return left[i] . right[j] for paired row numbers, in float64."""
    dots = np.empty(len(left_rows))
    for start in range(0, len(left_rows), PAIRS):
        part = slice(start, start + PAIRS)
        # Converted first: a buffered conversion inside einsum would split rows by their position.
        x = left[left_rows[part]].astype(np.float64)
        z = right[right_rows[part]].astype(np.float64)
        dots[part] = np.einsum("ij,ij->i", x, z)
    return dots


def column_tiles(rows: int, size: int) -> Iterator[slice]:
    """Divide rows into slices."""
    for start in range(0, rows, size):
        yield slice(start, min(start + size, rows))


def as_unit_rows(vectors: Matrix, what: str) -> Matrix:
    """Return float32 rows, after a check that they are finite and of length 1 (or zero)."""
    rows = np.asarray(vectors)
    if rows.ndim != 2:
        raise ParameterError(
            f"The {what} vectors must be a table, one row per word; their shape is {rows.shape}."
        )
    if not rows.size:
        raise ParameterError(f"There are no {what} vectors; retrieval needs at least one.")
    rows = rows.astype(np.float32, copy=False)
    for start in range(0, len(rows), BLOCK_ROWS):
        block = rows[start : start + BLOCK_ROWS]
        lengths = np.sqrt(np.einsum("ij,ij->i", block, block))
        # A comparison with NaN is false, so that this also finds what is not finite.
        good = (np.abs(lengths - 1) < 1e-3) | (lengths == 0)
        if not good.all():
            row = int(np.argmin(good))
            raise ParameterError(
                f"Retrieval compares finite vectors of length 1; row {start + row} of the {what} "
                f"vectors has the length {lengths[row]:g}. Scale rows with normalize.unit, and "
                "look for NaN in the mapped vectors."
            )
    return rows


def representatives(vectors: Matrix) -> RowIndices:
    """Return for each row the first row that is equal to it."""
    weights = np.random.default_rng(0).standard_normal(vectors.shape[1])
    keys = np.empty(len(vectors))
    for start in range(0, len(vectors), BLOCK_ROWS):
        block = vectors[start : start + BLOCK_ROWS].astype(np.float64)
        keys[start : start + BLOCK_ROWS] = np.einsum("ij,j->i", block, weights)
    own = np.arange(len(vectors))
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    candidate = first[group]
    doubtful = np.flatnonzero(candidate != own)
    for start in range(0, len(doubtful), BLOCK_ROWS):
        rows = doubtful[start : start + BLOCK_ROWS]
        equal = (vectors[rows] == vectors[candidate[rows]]).all(axis=1)
        candidate[rows[~equal]] = rows[~equal]
    return candidate
