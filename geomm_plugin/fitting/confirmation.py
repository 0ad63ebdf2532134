"""[fit] Whether maps found translations, as far as can be said without a dictionary.

With the mutual pairs of the maps in two random halves, and cognates, words of similar spelling:

    R = rotation fitted on one half, and for three rounds on what its own words pair up to
    split-half agreement = share of the other half whose best by CSLS after R is its partner
    cognate precision = share of the cognates that the maps translate to each other, by CSLS

Right maps agree with *one* rotation, whichever pairs it is fitted on; of wrong ones each half asks
for another. Pairs that were chosen by a rotation are found by one again even where they are wrong:
they need more. Reports call the two `recover` and `witnessed` (docs, "No dictionary?").
"""

from __future__ import annotations

import numpy as np

from geomm_plugin.arrays import Matrix, RowIndices
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.factorization import polar, svd
from geomm_plugin.fitting.induction import rounds
from geomm_plugin.fitting.seeds.seed import frequent, unit_images
from geomm_plugin.fitting.seeds.spelling import cognate_rows
from geomm_plugin.normalize import unit
from geomm_plugin.retrieval import best_neighbors, mutual_neighbors
from geomm_plugin.rows import Rows

MIN_AGREEMENT = 0.5
MIN_AGREEMENT_OF_ROTATIONS = 0.75
MIN_COGNATE_PRECISION = 0.05
FEWEST_COGNATES = 50  # that a verdict needs
FEWEST_PAIRS = 4  # two halves of two
LOOKED_AT_WORDS = 4000  # most frequent words of each language
OWN_ROUNDS = 3  # that one half of the words is left alone for
ROTATION_TOLERANCE = 1e-3  # by which singular values of a rotation differ, relative to the largest


def doubt(agreement: float, needed: float, cognates: float | None) -> str:
    """Say why maps may have found no translations; nothing if all that is known holds.

    Parameters
    ----------
    agreement, needed
        Split-half agreement of the mutual pairs, and what such maps need.
    cognates
        Cognate precision; None where there are too few.
    """
    if not agreement >= needed:
        return f"{agreement:.0%} of its pairs are confirmed by the others, {needed:.0%} are needed"
    if cognates is not None and not cognates >= MIN_COGNATE_PRECISION:
        return (
            f"{cognates:.0%} of the cognates are translated as each other, "
            f"{MIN_COGNATE_PRECISION:.0%} are needed; does every word stand beside its own vector?"
        )
    return ""


def needed_agreement(source_map: Matrix, target_map: Matrix) -> float:
    """Return the split-half agreement that maps need: more if they are rotations."""
    both = source_map @ target_map.T
    values = svd(both)[1] if np.isfinite(both).all() else np.zeros(1)
    is_rotation = values[-1] > (1 - ROTATION_TOLERANCE) * values[0]
    return MIN_AGREEMENT_OF_ROTATIONS if is_rotation else MIN_AGREEMENT


def split_half_agreement(
    source: Rows, target: Rows, source_map: Matrix, target_map: Matrix, seed: int = 0
) -> float:
    """Return how far the mutual pairs of two languages' maps confirm each other, from 0 to 1."""
    x, z = source[:LOOKED_AT_WORDS], target[:LOOKED_AT_WORDS]
    mapped_x, mapped_z = unit_images(x, source_map), unit_images(z, target_map)
    if not (np.isfinite(mapped_x).all() and np.isfinite(mapped_z).all()):
        return 0.0
    rows, columns, _ = mutual_neighbors(mapped_x, mapped_z)
    return agreement_of_pairs(x, z, rows, columns, seed)


def agreement_of_pairs(
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
    first = x[source[fitted]], z[target[fitted]]
    own_x = unit(_own_words(x, source[fitted], source[asked], random))
    own_z = unit(_own_words(z, target[fitted], target[asked], random))

    def paired(rotation: Matrix) -> tuple[Matrix, Matrix]:
        rows, columns, _ = mutual_neighbors(unit(own_x @ rotation), own_z)
        return own_x[rows], own_z[columns]

    for number, each in enumerate(rounds(first, _rotation, paired)):
        if number == OWN_ROUNDS:
            forth = best_neighbors(unit(x @ each.maps), unit(z)).forth
            return float((forth[source[asked]] == target[asked]).mean())
        if not len(each.found[0]):
            break
    return 0.0


def _own_words(
    vectors: Matrix, fitted: RowIndices, asked: RowIndices, random: np.random.Generator
) -> Matrix:
    """Return the words of the fitted half, and half of those that no pair holds."""
    is_own = random.random(len(vectors)) < 0.5
    is_own[fitted] = True
    is_own[asked] = False
    own: Matrix = vectors[is_own]
    return own


def _rotation(both: tuple[Matrix, Matrix]) -> Matrix:
    x, z = both
    cross = x.T.astype(np.float64) @ z.astype(np.float64)
    if not np.isfinite(cross).all():
        return np.zeros(cross.shape, np.float32)
    rotation: Matrix = polar(cross).astype(np.float32)
    return rotation


def cognate_precision(
    source: Embeddings, target: Embeddings, source_map: Matrix, target_map: Matrix
) -> float | None:
    """Return the share of cognates that the maps translate to each other; None if there are few.

    Where languages share hardly any spelling there are no cognates to ask; for maps that were
    started from cognates it says less.
    """
    words = LOOKED_AT_WORDS
    rows, columns, _ = cognate_rows(source.words[:words], target.words[:words])
    if len(rows) < FEWEST_COGNATES:
        return None
    x = unit_images(frequent(source, words), source_map)
    z = unit_images(frequent(target, words), target_map)
    forth = best_neighbors(x, z).forth
    return float((forth[rows] == columns).mean())
