"""How alike two words are spelt: g, the cosine of their weighted n-grams, and its root."""

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
    """0.2 g + 0.3 sqrt(g) by default: the first common letters tell most, further ones less.

    So a word that is spelt alike but means something else passes few that are spelt differently.
    """

    name: ClassVar[str] = "letters"
    fixed_weights: ClassVar[Mapping[str, float]] = {"letters": 0.2, "letters^0.5": 0.3}

    @cached_property
    def ngrams(self) -> Ngrams:
        """The n-grams of both vocabularies."""
        return Ngrams.of(words_of(self.source, "source"), words_of(self.target, "target"))

    def values(self, queries: UnitRows, targets: RowIndices) -> Matrix:
        """Return g and its root."""
        cosines = self.ngrams.pairs(words_of(queries, "query"), targets).astype(np.float64)
        return np.stack([cosines, np.sqrt(cosines.clip(0))], axis=-1)

    def propose(self, queries: UnitRows) -> Proposals:
        """Return the words that are spelt most like each query, with g / 2."""
        rows, columns, cosines = self.ngrams.alike(
            words_of(queries, "query"), MIN_COSINE, MAX_PROPOSALS
        )
        return Proposals(rows, columns, cosines.astype(np.float64) / 2)
