"""What vectors, the dictionary and frequencies say: residual, dictionary, frequency."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

import numpy as np

from geomm_plugin.arrays import Matrix, RowIndices, slices
from geomm_plugin.factorization import positive_solver
from geomm_plugin.retrieval.rerank.feature import Feature, evenly, words_of
from geomm_plugin.retrieval.rerank.learnt import rows_by_word
from geomm_plugin.retrieval.unit_rows import UnitRows

MAX_PAIRS = 3000  # that the residual is learnt from
SHARPNESS = 4.0
RIDGE = 1.0
QUERIES_AT_A_TIME = 128


class Residual(Feature):
    """r(x) . z,  r(x) = k(x) (K + I)^-1 R: what the map misses near x.

    Kernel ridge regression with k = exp(4 (cos - 1)) on the mapped source words x_j of known
    translations, whose rows of R are (mean of their translations) - x_j. 0 where none are known.
    """

    name: ClassVar[str] = "residual"
    fixed_weights: ClassVar[Mapping[str, float]] = {"residual": 0.0}

    def values(self, queries: UnitRows, targets: RowIndices) -> Matrix:
        """Return the product of each pair."""
        values = np.zeros((*targets.shape, 1))
        if not len(self.base.pairs):
            return values
        known, coefficients = self._learnt
        for part in slices(len(targets), QUERIES_AT_A_TIME):
            shift = _kernel(queries.take(part) @ known.T) @ coefficients
            rows, place = np.unique(targets[part], return_inverse=True)
            products = shift @ self.target.take(rows).T
            values[part, :, 0] = np.take_along_axis(products, place.reshape(targets[part].shape), 1)
        return values

    @cached_property
    def _learnt(self) -> tuple[Matrix, Matrix]:
        pairs = evenly(self.base.pairs, MAX_PAIRS)
        words, first = np.unique(pairs[:, 0], return_index=True)
        known = self.source.take(words)
        sums = np.add.reduceat(self.target.take(pairs[:, 1]), first, axis=0)
        counts = np.diff(np.append(first, len(pairs)))
        residuals = sums / counts[:, None].astype(np.float32) - known
        kernel = _kernel(known @ known.T)
        kernel[np.diag_indices_from(kernel)] += np.float32(RIDGE)
        return known, positive_solver(kernel)(residuals)


class Known(Feature):
    """Is z a known translation of some word, and how near is that word to x: max cos(x_j, x).

    Most words are the translation of few, so that one that is taken already is less likely; unless
    it is taken by a word that means much the same. Both are 0 for a z that is no known translation.
    """

    name: ClassVar[str] = "dictionary"
    fixed_weights: ClassVar[Mapping[str, float]] = {"dictionary": 0.0, "dictionary:cosine": 0.0}

    @cached_property
    def sources(self) -> tuple[RowIndices, RowIndices]:
        """The known source words by target, and where each target's begin."""
        pairs = self.base.pairs[np.argsort(self.base.pairs[:, 1], kind="stable")]
        return pairs[:, 0], np.searchsorted(pairs[:, 1], np.arange(len(self.target) + 1))

    def values(self, queries: UnitRows, targets: RowIndices) -> Matrix:
        """Return both numbers of each pair."""
        sources, starts = self.sources
        counts = (starts[targets + 1] - starts[targets]).ravel()
        is_known = counts > 0
        values = np.zeros((targets.size, 2))
        values[is_known, 0] = 1
        pair = np.repeat(np.arange(targets.size), counts)
        first = np.repeat(starts[targets].ravel() - (np.cumsum(counts) - counts), counts)
        near = sources[first + np.arange(len(pair))]
        cosines = np.empty(len(pair))
        for part in slices(len(pair), QUERIES_AT_A_TIME * 64):
            own = queries.take(pair[part] // targets.shape[1])
            cosines[part] = np.einsum("ij,ij->i", own, self.source.take(near[part]))
        if len(pair):
            begins = (np.cumsum(counts) - counts)[is_known]
            values[is_known, 1] = np.maximum.reduceat(cosines, begins)
        return values.reshape((*targets.shape, 2))


class Frequency(Feature):
    """|log rank(x) - log rank(z)|, 0 for a word outside the vocabulary; and log rank(z)."""

    name: ClassVar[str] = "frequency"
    fixed_weights: ClassVar[Mapping[str, float]] = {"frequency": 0.0, "frequency:target": 0.0}

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of each source word, which is its rank less 1."""
        return rows_by_word(words_of(self.source, "source"))

    def values(self, queries: UnitRows, targets: RowIndices) -> Matrix:
        """Return both numbers of each pair."""
        rows = [self.row_of.get(word, -1) for word in words_of(queries, "query")]
        own = np.array(rows, np.float64)[:, None] + 1
        of_target = np.log(targets + 1.0)
        difference = np.abs(np.log(np.maximum(own, 1)) - of_target)
        return np.stack([np.where(own > 0, difference, 0.0), of_target], axis=-1)


def _kernel(cosines: Matrix) -> Matrix:
    values: Matrix = np.exp(np.float32(SHARPNESS) * (cosines - np.float32(1)))
    return values
