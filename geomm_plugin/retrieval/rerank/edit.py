"""How few letters have to change: 1 - edit distance / length of the longer spelling."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

import numpy as np

from geomm_plugin.arrays import Matrix, RowIndices
from geomm_plugin.errors import missing_extra
from geomm_plugin.retrieval.rerank.feature import Feature, words_of
from geomm_plugin.retrieval.rerank.spelling import plain_spellings
from geomm_plugin.retrieval.unit_rows import UnitRows


class EditSimilarity(Feature):
    """1 - the normalized edit distance of the plain spellings; its weight is to be learnt."""

    name: ClassVar[str] = "edit"
    fixed_weights: ClassVar[Mapping[str, float]] = {"edit": 0.0}

    @cached_property
    def spellings(self) -> list[str]:
        """The plain spellings of the target words."""
        return [word[1:-1] for word in plain_spellings(words_of(self.target, "target"))]

    def values(self, queries: UnitRows, targets: RowIndices) -> Matrix:
        """Return the similarity of each pair."""
        try:
            from rapidfuzz.distance import Levenshtein
            from rapidfuzz.process import cpdist
        except ImportError:
            raise missing_extra("The feature 'edit'", "letters") from None
        own = [word[1:-1] for word in plain_spellings(words_of(queries, "query"))]
        similarities = cpdist(
            [word for word in own for _ in range(targets.shape[1])],
            [self.spellings[row] for row in targets.ravel()],
            scorer=Levenshtein.normalized_similarity,
            dtype=np.float64,
        )
        values: Matrix = similarities.reshape((*targets.shape, 1))
        return values
