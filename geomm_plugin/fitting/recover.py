"""[fit] Whether self-learning found translations, or only something consistent with itself.

    R = rotation fitted on a random half of the mutual pairs;  recover = share of the other half
    whose source word has its partner as the best translation by CSLS, after R

Maps that found translations agree with *one* rotation, whichever pairs it is fitted on; mutual
pairs of maps that found none are as many, and as near to each other, but every half of them asks
for another rotation. So the mean CSLS and the number of pairs do not tell, and this share does.
"""

from __future__ import annotations

import numpy as np

from geomm_plugin.arrays import Matrix, RowIndices
from geomm_plugin.factorization import polar
from geomm_plugin.normalize import unit
from geomm_plugin.retrieval import best_neighbors

RECOVER_WORDS = 4000  # most frequent words of each language that are looked at


def recovered_share(
    x: Matrix, z: Matrix, source: RowIndices, target: RowIndices, seed: int = 0
) -> float:
    """Return the share of one half of these pairs that a rotation of the other half finds."""
    if len(source) < 2:
        return 0.0
    shuffled = np.random.default_rng(seed).permutation(len(source))
    fitted, asked = np.array_split(shuffled, 2)
    cross = x[source[fitted]].T.astype(np.float64) @ z[target[fitted]].astype(np.float64)
    if not np.isfinite(cross).all():
        return 0.0
    turned = unit(x @ polar(cross).astype(np.float32))
    forth = best_neighbors(turned, unit(z)).forth
    return float((forth[source[asked]] == target[asked]).mean())
