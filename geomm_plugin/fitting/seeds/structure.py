"""What two languages have in common before any map: similarities within each of them.

With X the n most frequent words, centered, and K = XX':

    F = X (X'X)^((p-1)/2)      so that F F' = K^p:  p = 1 is K itself, p = 1/2 its square root
    profile of a word = its row of K^p, sorted, in few quantiles, and normalized

Translations have like profiles: a word with few near neighbours in one language has few in the
other. The root holds the strongest directions back, which frequency and topic fill.
Artetxe, Labaka, Agirre: "A robust self-learning method for fully unsupervised cross-lingual
mappings of word embeddings", ACL 2018.
"""

from __future__ import annotations

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.factorization import eigh
from geomm_plugin.fitting.moments import finite
from geomm_plugin.normalize import unit

SMALLEST = 1e-10  # directions that weigh less than this part of the heaviest count as this much
QUANTILES = 300  # numbers that a profile is cut down to


def factor(vectors: Matrix, power: float = 0.5, center: bool = True) -> Matrix:
    """Return F with F F' = K^power of the rows, centered or as they are, in float32."""
    rows = vectors.astype(np.float64)
    if center:
        rows = rows - rows.mean(axis=0)
    values, basis = eigh(finite(rows.T @ rows))
    largest = values.max(initial=0)
    if largest <= 0:
        return np.zeros(rows.shape, np.float32)
    scale = np.maximum(values, largest * SMALLEST) ** ((power - 1) / 2)
    factors: Matrix = (rows @ ((basis * scale) @ basis.T)).astype(np.float32)
    return factors


def profiles(factors: Matrix, quantiles: int = QUANTILES) -> Matrix:
    """Return the sorted similarities of each word with all others, cut down and normalized."""
    count = len(factors)
    edges = np.unique(np.linspace(0, count, min(quantiles, count) + 1).astype(int))
    similarities = factors @ factors.T
    similarities.sort(axis=1)
    means = np.add.reduceat(similarities, edges[:-1], axis=1)
    means /= np.diff(edges).astype(np.float32)
    rows = unit(means)
    return unit(rows - rows.mean(axis=0)).astype(np.float32)
