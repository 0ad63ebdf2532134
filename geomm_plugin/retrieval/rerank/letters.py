"""How alike two words are spelt: g, the cosine of their weighted n-grams, and g^2."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

import numpy as np

from geomm_plugin.arrays import Matrix, RowIndices
from geomm_plugin.retrieval.rerank.feature import Feature, Proposals, words_of
from geomm_plugin.retrieval.rerank.ngrams import Ngrams
from geomm_plugin.retrieval.unit_rows import UnitRows

MIN_COSINE = 0.2  # words spelt less alike are no candidates by their letters
MAX_PROPOSALS = 100  # for each query


class Letters(Feature):
    """g - g^2 / 2 by default: cognates and names gain, and near-identical words little more."""

    name: ClassVar[str] = "letters"
    fixed_weights: ClassVar[Mapping[str, float]] = {"letters": 1.0, "letters^2": -0.5}

    @cached_property
    def ngrams(self) -> Ngrams:
        """The n-grams of both vocabularies."""
        return Ngrams.of(words_of(self.source, "source"), words_of(self.target, "target"))

    def values(self, queries: UnitRows, targets: RowIndices) -> Matrix:
        """Return g and g^2."""
        cosines = self.ngrams.pairs(words_of(queries, "query"), targets).astype(np.float64)
        return np.stack([cosines, cosines**2], axis=-1)

    def propose(self, queries: UnitRows) -> Proposals:
        """Return the words that are spelt most like each query, with g / 2."""
        rows, columns, cosines = self.ngrams.alike(
            words_of(queries, "query"), MIN_COSINE, MAX_PROPOSALS
        )
        return Proposals(rows, columns, cosines.astype(np.float64) / 2)
