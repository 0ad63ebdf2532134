"""[fit] The d x d matrices through which a dictionary enters the losses.

With X, Z the unique source and target words of a dictionary, Omega its pairs and Y its labels:

    A = X'X,   C = Z'Z,   M = X' Y Z = sum of y_ij x_i z_j' over the pairs (i, j) in Omega

A label is 1, or says how sure a pair is; where there is no pair it is 0. Y is never built, and
nothing here grows with the vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from geomm_plugin.arrays import BLOCK_ROWS, Matrix, RowIndices, Vector
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.errors import LanguagesError
from geomm_plugin.rows import Rows


@dataclass(frozen=True)
class Moments:
    """A, C and M of one dictionary, and how many pairs it has."""

    source: Matrix
    target: Matrix
    cross: Matrix
    pairs: int
    square: float  # ||Y||^2, as many as there are pairs where all labels are 1

    @classmethod
    def of(cls, source: Any, target: Any, pairs: RowPairs) -> Moments:
        """Take the moments of vectors (arrays or Rows) over a dictionary."""
        return cls(
            gram(source, np.unique(pairs.source)),
            gram(target, np.unique(pairs.target)),
            cross(source, target, pairs),
            len(pairs),
            float(np.square(pairs.label()).sum()),
        )

    def transpose(self) -> Moments:
        """Return the moments of the same dictionary read from the other side."""
        return Moments(self.target, self.source, self.cross.T, self.pairs, self.square)


@np.errstate(over="ignore", invalid="ignore")  # `finite` refuses what comes of it
def gram(vectors: Any, rows: RowIndices, weights: Vector | None = None) -> Matrix:
    """Return the sum of x x' over some rows, each as often as its weight says, in float64."""
    total = np.zeros((vectors.shape[1], vectors.shape[1]))
    for start in range(0, len(rows), BLOCK_ROWS):
        part = slice(start, start + BLOCK_ROWS)
        block = vectors[rows[part]].astype(np.float64)
        total += block.T @ (block if weights is None else block * weights[part, None])
    return finite(total)


def frequent_gram(vectors: Rows, count: int) -> Matrix:
    """Return the sum of x x' over the most frequent words; worked out once."""
    return finite(vectors.gram(count))


@np.errstate(over="ignore", invalid="ignore")  # `finite` refuses what comes of it
def cross(source: Any, target: Any, pairs: RowPairs) -> Matrix:
    """Return the sum of y x z' over pairs of rows, y their labels, in float64."""
    total = np.zeros((source.shape[1], target.shape[1]))
    for start in range(0, len(pairs), BLOCK_ROWS):
        part = slice(start, start + BLOCK_ROWS)
        x = source[pairs.source[part]].astype(np.float64)
        z = target[pairs.target[part]].astype(np.float64)
        total += x.T @ (z if pairs.labels is None else z * pairs.labels[part, None])
    return finite(total)


def finite(products: Matrix) -> Matrix:
    """Return products of vectors as they are; refuse them where they left the range of floats."""
    if not np.isfinite(products).all():
        raise LanguagesError(
            "The vectors are too large to be multiplied with each other. Normalize them by 'unit' "
            "first, or scale them down."
        )
    return products
