"""Does the target choose the source word, too: score(x, z) - the best score that z has.

0 where x is the best translation back, negative elsewhere, since the scores of cosine and CSLS are
the same from both sides. The way back is searched for every candidate, which costs about as much
as translating the whole target vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

import numpy as np

from geomm_plugin.arrays import Matrix, RowIndices, Vector
from geomm_plugin.retrieval.interface import Index
from geomm_plugin.retrieval.rerank.feature import Feature
from geomm_plugin.retrieval.unit_rows import UnitRows


class Reverse(Feature):
    """The margin of the query over the target's best translation back; to be learnt."""

    name: ClassVar[str] = "reverse"
    fixed_weights: ClassVar[Mapping[str, float]] = {"reverse": 0.0}

    @cached_property
    def index(self) -> Index:
        """The way back."""
        return self.base.retrieval.index(self.target, self.source)

    @cached_property
    def best_scores(self) -> Vector:
        """The best score of each target; NaN where it was not asked for."""
        return np.full(len(self.target), np.nan)

    def values(self, queries: UnitRows, targets: RowIndices) -> Matrix:
        """Return the margin of each pair; at most 0 also for words outside the vocabulary."""
        missing = np.unique(targets[np.isnan(self.best_scores[targets])])
        if len(missing):
            best = self.index.search(self.target.take(missing), 1)
            self.best_scores[missing] = best.scores[:, 0]
        rows = np.repeat(np.arange(len(targets)), targets.shape[1])
        scores = self.base.index.pair_scores(queries, rows, targets.ravel())
        margins = scores.reshape(targets.shape) - self.best_scores[targets]
        return np.minimum(margins, 0)[:, :, None]
