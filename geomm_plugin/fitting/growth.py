"""[fit] From a seed to a dictionary: rounds of fitting and pairing up that keep nothing given.

    maps_r+1 = fit(pairs_r),    pairs_r+1 = mutual best by CSLS among the first n words of maps_r+1

Unlike self-learning from a dictionary, no pair is kept: most pairs of a seed are wrong, and every
round must be free to drop them. Each pair counts by its CSLS. A stage ends when the mean CSLS has
not risen for `patience` rounds; patience matters, since a poor start climbs slowly at first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.factorization import polar
from geomm_plugin.fitting.moments import cross
from geomm_plugin.fitting.seeds.seed import weighted_pairs
from geomm_plugin.normalize import unit
from geomm_plugin.retrieval import Raised, mutual_neighbors
from geomm_plugin.rows import Rows

MIN_CSLS_GAIN = 5e-3  # of the best mean CSLS so far, relative; a smaller rise counts as none
LEAST_WEIGHT = 1e-3  # CSLS that the weight of a pair does not fall below

Fit: TypeAlias = Callable[[RowPairs], tuple[Matrix, Matrix]]


@dataclass(frozen=True)
class Stage:
    """Rounds among the most frequent words, until nothing is gained."""

    words: int
    max_rounds: int
    patience: int


@dataclass(frozen=True)
class Growth:
    """The last maps of a stage, and the mutual pairs that they find."""

    source: Matrix
    target: Matrix
    pairs: RowPairs
    mean_csls: float
    rounds: int


def grow(
    x: Matrix,
    z: Matrix,
    pairs: RowPairs,
    fit: Fit,
    stage: Stage,
    raised: Raised | None = None,
) -> Growth:
    """Fit and pair up until the mean CSLS rises no more.

    Parameters
    ----------
    x, z
        Normalized vectors, of at least the words of the stage and of the pairs.
    raised
        Pairs of rows that compete with more than their CSLS.
    """
    x, z = x[: stage.words], z[: stage.words]
    inside = None if raised is None else raised.within(len(x), len(z))
    best, stalled, growth = -np.inf, 0, None
    for number in range(1, stage.max_rounds + 1):
        source, target = fit(pairs)
        pairs, mean_csls = mutual_pairs(x, z, source, target, inside)
        growth = Growth(source, target, pairs, mean_csls, number)
        if not len(pairs):
            break
        stalled = 0 if mean_csls > best + MIN_CSLS_GAIN * abs(mean_csls) else stalled + 1
        best = max(best, mean_csls)
        if stalled >= stage.patience:
            break
    if growth is None:
        raise ValueError(f"A stage needs at least one round; it has {stage.max_rounds}.")
    return growth


def rotation(x: Matrix | Rows, z: Matrix | Rows) -> Fit:
    """Return what fits a rotation of the source onto the target to weighted pairs."""

    def fit(pairs: RowPairs) -> tuple[Matrix, Matrix]:
        return polar(cross(x, z, pairs)), np.eye(z.shape[1])

    return fit


def mutual_pairs(
    x: Matrix, z: Matrix, source: Matrix, target: Matrix, raised: Raised | None = None
) -> tuple[RowPairs, float]:
    """Return the pairs that are each other's best after the maps, and their mean CSLS."""
    rows, columns, scores = mutual_neighbors(mapped(x, source), mapped(z, target), raised=raised)
    pairs = weighted_pairs(rows, columns, np.maximum(scores, LEAST_WEIGHT))
    return pairs, float(scores.mean()) if len(scores) else -1.0


def mapped(vectors: Matrix, matrix: Matrix) -> Matrix:
    """Return unit rows after a map, in float32."""
    rows: Matrix = unit(vectors @ matrix.astype(np.float32))
    return rows
