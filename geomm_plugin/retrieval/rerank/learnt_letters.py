"""How words of one language are spelt in the other, learnt from known translations.

`learnt_letters` predicts the n-grams of a translation from those of the word, `endings` weighs
pairs of endings: -tion and -ción, or that a word in -ly is seldom one in -ar.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from geomm_plugin.arrays import Matrix, RowIndices, slices
from geomm_plugin.factorization import solve_positive
from geomm_plugin.retrieval.rerank.feature import SparseFeature, evenly, words_of
from geomm_plugin.retrieval.rerank.letters import SpellingFeature, spelt
from geomm_plugin.retrieval.unit_rows import UnitRows

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MAX_PAIRS = 2000  # that letters are learnt from
RIDGE = 0.3
QUERIES_AT_A_TIME = 128
LONGEST_ENDING = 3
COLUMNS = 1 << 15


class LearntLetters(SpellingFeature):
    """sum_j beta_j(x) g(z_j, z),  beta(x) = (K + 0.3 I)^-1 k(x).

    Kernel ridge regression from spellings to spellings: (x_j, z_j) are known translations, g the
    cosine of n-grams, K = g(x_i, x_j), k(x) = g(x_j, x). So it is g(z', z) with a z' that x would
    be spelt as by the endings and sound laws of the dictionary. 0 where no pairs are known.
    """

    name: ClassVar[str] = "learnt_letters"
    fixed_weights: ClassVar[Mapping[str, float]] = {"learnt_letters": 0.0}

    def values(self, queries: UnitRows, targets: RowIndices) -> Matrix:
        """Return the learnt likeness of each pair."""
        values = np.zeros((*targets.shape, 1))
        if not len(self.base.pairs):
            return values
        known, inverse, translations = self._learnt
        likeness = self.ngrams.rows(words_of(queries, "query")) @ known.T
        for part in slices(len(targets), QUERIES_AT_A_TIME):
            expected = translations.T @ (likeness[part].toarray() @ inverse).T  # n-grams, queries
            rows = self.ngrams.target[targets[part].ravel()]
            query = np.repeat(np.arange(part.stop - part.start), targets.shape[1])
            entries = rows.data * expected[rows.indices, np.repeat(query, np.diff(rows.indptr))]
            pair = np.repeat(np.arange(len(query)), np.diff(rows.indptr))
            sums = np.bincount(pair, entries, len(query))
            values[part] = sums.reshape((-1, targets.shape[1], 1))
        return values

    @cached_property
    def _learnt(self) -> tuple[csr_array, Matrix, csr_array]:
        pairs = evenly(self.base.pairs, MAX_PAIRS)
        words = words_of(self.source, "source")
        known = self.ngrams.rows([words[row] for row in pairs[:, 0]])
        kernel = (known @ known.T).toarray().astype(np.float32)
        kernel[np.diag_indices_from(kernel)] += RIDGE
        inverse = solve_positive(kernel, np.eye(len(kernel), dtype=np.float32))
        return known, inverse, self.ngrams.target[pairs[:, 1]]


class Endings(SpellingFeature, SparseFeature):
    """Which of the last one to three letters of both words meet; a weight for each pair of endings.

    Pairs of endings share 32,768 columns by a hash; each ending of z counts alone, too.
    """

    name: ClassVar[str] = "endings"
    fixed_weights: ClassVar[Mapping[str, float]] = {"endings": 0.0}
    columns: ClassVar[int] = COLUMNS

    def table(self, queries: UnitRows, targets: RowIndices) -> csr_array:
        """Return a row for each pair of words, with its pairs of endings."""
        from scipy.sparse import csr_array

        of_target = self.base.once("endings", lambda: _endings(self.spellings))
        own = _endings(spelt(words_of(queries, "query")))
        one, other = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
        if self.is_reversed:
            one, other = other, one
        else:  # the target's endings, whatever the source's are
            own = np.concatenate([own, np.full((len(own), 1), zlib.crc32(b""), np.uint64)], axis=1)
        pairs = (own * one)[:, None, :, None] ^ (of_target * other)[targets][:, :, None, :]
        columns = (pairs * np.uint64(0xD6E8FEB86659FD93)) >> np.uint64(64 - 15)
        each = own.shape[1] * of_target.shape[1]
        return csr_array(
            (
                np.ones(columns.size, np.float32),
                columns.ravel().astype(np.int32),
                np.arange(0, columns.size + 1, each),
            ),
            (targets.size, self.columns),
        )


def _endings(spellings: list[str]) -> npt.NDArray[np.uint64]:
    """Return a number for each of a word's endings; a short word is its own longest ending."""
    sizes = range(1, LONGEST_ENDING + 1)
    numbers = [
        zlib.crc32(f"${spelling}"[-size:].encode("utf-8", "surrogatepass"))
        for spelling in spellings
        for size in sizes
    ]
    return np.array(numbers, np.uint64).reshape(len(spellings), LONGEST_ENDING)
