"""Dot products twice: fast ones to shortlist, exact ones to decide.

A float32 matrix product errs by at most `rounding(d)` on unit rows (Higham, Accuracy and Stability
of Numerical Algorithms, 2002, section 3.1), and by how much depends on where a row stands. So it
only shortlists, with that margin. What decides is summed in float64, in one order whatever the
position: equal rows get equal scores, and a tie is a tie.
"""

from __future__ import annotations

import numpy as np

from geomm_plugin.arrays import BLOCK_ROWS, Matrix, RowIndices, Vector, slices

NUMBERS_AT_A_TIME = 2**20  # of each side, of the pairs of rows multiplied at a time: 8 MB


def rounding(dimension: int) -> float:
    """Bound the error of a float32 dot product of unit rows, and of a few operations after it."""
    return 1.1 * (dimension + 16) * 2.0**-24


def exact_dots(
    left: Matrix,
    left_rows: RowIndices,
    right: Matrix,
    right_rows: RowIndices,
    at_a_time: int = NUMBERS_AT_A_TIME,
) -> Vector:
    """Return left[i] . right[j] for paired rows, in float64; `at_a_time` numbers in memory."""
    dots = np.empty(len(left_rows))
    pairs = max(1, at_a_time // max(1, left.shape[1]))
    for part in slices(len(left_rows), pairs):
        # Converted first: a buffered conversion inside einsum would split rows by their position.
        x = left[left_rows[part]].astype(np.float64)
        z = right[right_rows[part]].astype(np.float64)
        dots[part] = np.einsum("ij,ij->i", x, z)
    return dots


def representatives(vectors: Matrix) -> RowIndices:
    """Return for each row the first row that is equal to it: equal rows need one answer only."""
    weights = np.random.default_rng(0).standard_normal(vectors.shape[1])
    keys = np.empty(len(vectors))
    for part in slices(len(vectors), BLOCK_ROWS):
        keys[part] = np.einsum("ij,j->i", vectors[part].astype(np.float64), weights)
    own = np.arange(len(vectors))
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    candidate = first[group]
    doubtful = np.flatnonzero(candidate != own)
    for part in slices(len(doubtful), BLOCK_ROWS):
        rows = doubtful[part]
        equal = (vectors[rows] == vectors[candidate[rows]]).all(axis=1)
        candidate[rows[~equal]] = rows[~equal]
    return candidate
