"""[fit] A seed: pairs of words of two languages that are likely translations, from no dictionary.

A seed looks at the vectors alone (`gromov_wasserstein`, `sorted_rows`, `icp`) or at the words alone
(`identical`, `numerals`, `cognates`). Its pairs start self-learning and are forgotten after the
first round, so a seed need not be precise: a few hundred pairs of which a tenth are right will do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from geomm_plugin import registry
from geomm_plugin.arrays import Matrix, RowIndices, Vector
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.normalize import unit
from geomm_plugin.registry.parameters import check_parameters, parameters_of, split_choice
from geomm_plugin.retrieval import PairBonus


class Seed(ABC):
    """Finds pairs of words without a dictionary; write pairs().

    Parameters are keywords of the constructor, as a mapper's are.
    """

    name: ClassVar[str]
    by_spelling: ClassVar[bool] = False  # looks at words, not at vectors

    @abstractmethod
    def pairs(self, source: Embeddings, target: Embeddings) -> RowPairs:
        """Return pairs of rows, marked as induced, with a weight each (1 on average).

        Words come with their normalized vectors, the most frequent ones first.
        """

    def raised(self, source: Embeddings, target: Embeddings) -> PairBonus | None:
        """Return pairs that keep a bonus while the seed's pairs grow; None if there are none."""
        return None


def as_seed(choice: str, seed: int | None = None) -> Seed:
    """Return a seed from text: NAME, or NAME:PARAMETER=VALUE,...

    Parameters
    ----------
    seed
        Of what is random in it, where the text does not say.
    """
    kind = registry.seeds[split_choice(choice)[0]]
    is_random = seed is not None and "seed" in parameters_of(kind)
    made: Seed = registry.seeds.make(choice, [f"seed={seed}"] if is_random else [])
    check_parameters(made)
    return made


def frequent(language: Embeddings, count: int) -> Matrix:
    """Return the vectors of the most frequent words; no others are made."""
    rows: Matrix = np.asarray(language.rows[:count])
    return rows


def unit_images(vectors: Matrix, matrix: Matrix) -> Matrix:
    """Return unit rows after a map, in float32."""
    rows: Matrix = unit(vectors @ matrix.astype(np.float32))
    return rows


def weighted_pairs(source: RowIndices, target: RowIndices, weights: Vector) -> RowPairs:
    """Return pairs that nobody gave: marked as induced, their weights 1 on average."""
    mean = float(weights.mean()) if len(weights) else 0.0
    return RowPairs(
        np.asarray(source, np.intp),
        np.asarray(target, np.intp),
        labels=np.asarray(weights / mean if mean > 0 else np.ones(len(weights)), np.float64),
        induced=np.ones(len(source), np.bool_),
    )


def mutual_best(scores: Matrix) -> tuple[RowIndices, RowIndices]:
    """Return the rows and columns that are each other's largest score."""
    forth, back = scores.argmax(axis=1), scores.argmax(axis=0)
    rows = np.flatnonzero(back[forth] == np.arange(len(forth)))
    return rows, forth[rows]
