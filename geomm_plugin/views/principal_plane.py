"""Some words in two dimensions.

x -> (x - mean) V_2, where V_2 holds the two directions of largest variance among the words shown
(principal component analysis of these words alone).
"""

from __future__ import annotations

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.factorization import svd


def principal_plane(vectors: Matrix) -> tuple[Matrix, float]:
    """Return two coordinates for each row, and the share of the variance that they keep.

    The sign of each direction is chosen so that its largest coordinate is positive: the same words
    always give the same picture.
    """
    centered = np.asarray(vectors, np.float64) - np.mean(vectors, axis=0, dtype=np.float64)
    left, lengths, _ = svd(centered)
    plane = np.zeros((len(vectors), 2))
    columns = min(2, len(lengths))
    plane[:, :columns] = left[:, :columns] * lengths[:columns]
    largest = plane[np.abs(plane).argmax(axis=0), [0, 1]]
    plane *= np.where(largest < 0, -1, 1)
    total = float((lengths**2).sum())
    return plane, float((lengths[:2] ** 2).sum()) / total if total else 1.0
