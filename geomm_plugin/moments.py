"""[fit] The d x d matrices through which a dictionary enters the losses.

With X, Z the unique source and target words of a dictionary, Omega its pairs and Y its 0/1 labels:

    A = X'X,   C = Z'Z,   M = X' Y Z = sum of x_i z_j' over the pairs (i, j) in Omega

Pairs may have weights w; M is then the sum of w_ij x_i z_j', and a word counts in A or C by the
root of the mean weight of its pairs. Y is never built, and nothing here grows with the vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from geomm_plugin.dictionary import RowPairs
from geomm_plugin.embeddings import BLOCK_ROWS, Matrix, RowIndices, Vector


@dataclass(frozen=True)
class Moments:
    """A, C and M of one dictionary, and how many pairs it has."""

    source: Matrix
    target: Matrix
    cross: Matrix
    pairs: int

    @classmethod
    def of(cls, source: Any, target: Any, pairs: RowPairs) -> Moments:
        """Take the moments of vectors (arrays or NormalizedVectors) over a dictionary."""
        return cls(
            gram(source, *_unique(pairs.source, pairs.weight)),
            gram(target, *_unique(pairs.target, pairs.weight)),
            cross(source, target, pairs),
            len(pairs),
        )

    def transpose(self) -> Moments:
        """Return the moments of the same dictionary read from the other side."""
        return Moments(self.target, self.source, self.cross.T, self.pairs)


def gram(vectors: Any, rows: RowIndices, weight: Vector | None = None) -> Matrix:
    """Return the sum of w x x' over some rows, in float64."""
    total = np.zeros((vectors.shape[1], vectors.shape[1]))
    for start in range(0, len(rows), BLOCK_ROWS):
        part = slice(start, start + BLOCK_ROWS)
        block = vectors[rows[part]].astype(np.float64)
        total += block.T @ (block if weight is None else block * weight[part, None])
    return total


def cross(source: Any, target: Any, pairs: RowPairs) -> Matrix:
    """Return the sum of w x z' over pairs of rows, in float64."""
    total = np.zeros((source.shape[1], target.shape[1]))
    for start in range(0, len(pairs), BLOCK_ROWS):
        part = slice(start, start + BLOCK_ROWS)
        x = source[pairs.source[part]].astype(np.float64)
        z = target[pairs.target[part]].astype(np.float64)
        total += x.T @ (z if pairs.weight is None else z * pairs.weight[part, None])
    return total


def _unique(rows: RowIndices, weight: Vector | None) -> tuple[RowIndices, Vector | None]:
    """Return each row once, and the root of the mean weight of its pairs."""
    if weight is None:
        return np.unique(rows), None
    words, place, count = np.unique(rows, return_inverse=True, return_counts=True)
    return words, np.sqrt(np.bincount(place, weight) / count)
