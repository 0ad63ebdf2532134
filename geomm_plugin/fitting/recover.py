"""[fit] Whether self-learning found translations, or only something consistent with itself.

    pairs = the mutual best of the maps, in two random halves
    R     = rotation fitted on one half, and then for a few rounds on what its own words pair up to
    recover = share of the other half whose source word has its partner as the best by CSLS after R

Maps that found translations agree with *one* rotation, whichever pairs it is fitted on. Mutual
pairs of maps that found none are as many, and as near to each other, but every half of them asks
for another rotation, and drifts off once it is left alone. So the mean CSLS and the number of pairs
do not tell success from failure, and this share does (docs, "No dictionary?"). How much is enough
says `confirmation`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from geomm_plugin.arrays import Matrix, RowIndices
from geomm_plugin.factorization import polar
from geomm_plugin.language_graph import LanguagePair
from geomm_plugin.mapper import Vectors
from geomm_plugin.normalize import unit
from geomm_plugin.retrieval import best_neighbors, mutual_neighbors

RECOVER_WORDS = 4000  # most frequent words of each language that are looked at
ROUNDS = 3  # that one half of the words is left alone for
FEWEST_PAIRS = 4  # two halves of two


def recover(
    vectors: Vectors, maps: Mapping[str, Matrix], edge: LanguagePair, seed: int = 0
) -> float:
    """Return how far the maps of two languages are confirmed, from 0 to 1."""
    x, z = (vectors[language][:RECOVER_WORDS] for language in edge)
    mapped_x, mapped_z = (
        unit(rows @ maps[language].astype(np.float32))
        for rows, language in zip((x, z), edge, strict=True)
    )
    if not (np.isfinite(mapped_x).all() and np.isfinite(mapped_z).all()):
        return 0.0
    rows, columns, _ = mutual_neighbors(mapped_x, mapped_z)
    return recovered_share(x, z, rows, columns, seed)


def recovered_share(
    x: Matrix, z: Matrix, source: RowIndices, target: RowIndices, seed: int = 0
) -> float:
    """Return the share of one half of these pairs that a rotation of the other half finds.

    Parameters
    ----------
    x, z
        Normalized vectors of the most frequent words.
    source, target
        Rows of the pairs in these; further ones are left out.
    """
    inside = (source < len(x)) & (target < len(z))
    source, target = source[inside], target[inside]
    if len(source) < FEWEST_PAIRS:
        return 0.0
    random = np.random.default_rng(seed)
    fitted, asked = np.array_split(random.permutation(len(source)), 2)
    rotation = _rotation(x[source[fitted]], z[target[fitted]])
    own_x = unit(_own_words(x, source[fitted], source[asked], random))
    own_z = unit(_own_words(z, target[fitted], target[asked], random))
    for _ in range(ROUNDS):
        rows, columns, _ = mutual_neighbors(unit(own_x @ rotation), own_z)
        if not len(rows):
            return 0.0
        rotation = _rotation(own_x[rows], own_z[columns])
    forth = best_neighbors(unit(x @ rotation), unit(z)).forth
    return float((forth[source[asked]] == target[asked]).mean())


def _own_words(
    vectors: Matrix, fitted: RowIndices, asked: RowIndices, random: np.random.Generator
) -> Matrix:
    """Return the words of the fitted half, and half of those that no pair holds."""
    is_own = random.random(len(vectors)) < 0.5
    is_own[fitted] = True
    is_own[asked] = False
    own: Matrix = vectors[is_own]
    return own


def _rotation(x: Matrix, z: Matrix) -> Matrix:
    cross = x.T.astype(np.float64) @ z.astype(np.float64)
    if not np.isfinite(cross).all():
        return np.zeros(cross.shape, np.float32)
    rotation: Matrix = polar(cross).astype(np.float32)
    return rotation
