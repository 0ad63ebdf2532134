"""How far apart two words are in frequency: |log rank(x) - log rank(z)|."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

import numpy as np

from geomm_plugin.arrays import Matrix, RowIndices
from geomm_plugin.retrieval.rerank.feature import Feature, words_of
from geomm_plugin.retrieval.unit_rows import UnitRows


class Frequency(Feature):
    """The difference of the logarithms of both ranks; 0 for a word outside the vocabulary."""

    name: ClassVar[str] = "frequency"
    fixed_weights: ClassVar[Mapping[str, float]] = {"frequency": 0.0}

    @cached_property
    def rank_of(self) -> dict[str, int]:
        """The rank of each source word, from 1."""
        words = words_of(self.source, "source")
        return {word: row + 1 for row, word in reversed(list(enumerate(words)))}

    def values(self, queries: UnitRows, targets: RowIndices) -> Matrix:
        """Return the difference of each pair."""
        ranks = [self.rank_of.get(word, 0) for word in words_of(queries, "query")]
        own = np.array(ranks, np.float64)[:, None]
        difference = np.abs(np.log(np.maximum(own, 1)) - np.log(targets + 1.0))
        return np.where(own > 0, difference, 0.0)[:, :, None]
