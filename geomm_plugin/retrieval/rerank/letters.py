"""What two spellings have in common, as they are or as known translations teach it.

With no learning: letters, identical, edit, length. Learnt: `learnt_letters` predicts the n-grams of
a translation from those of the word, `endings` weighs pairs of endings: -tion and -ción, or that a
word in -ly is seldom one in -ar. Spellings are plain (retrieval.rerank.ngrams).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from geomm_plugin.arrays import Matrix, RowIndices, Vector, slices
from geomm_plugin.errors import missing_extra
from geomm_plugin.factorization import positive_solver
from geomm_plugin.retrieval.rerank.feature import (
    Feature,
    Proposals,
    SparseFeature,
    evenly,
    words_of,
)
from geomm_plugin.retrieval.rerank.learnt import rows_by_word
from geomm_plugin.retrieval.rerank.ngrams import Ngrams, plain_spellings
from geomm_plugin.retrieval.unit_rows import UnitRows

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MIN_COSINE = 0.2  # words spelt less alike are no candidates by their letters
MAX_PROPOSALS = 100  # for each query
MAX_PAIRS = 2000  # that letters are learnt from
RIDGE = 0.3
QUERIES_AT_A_TIME = 128
LONGEST_ENDING = 3
COLUMNS = 1 << 15


class SpellingFeature(Feature):
    """A feature of plain spellings, which all such features share."""

    @property
    def ngrams(self) -> Ngrams:
        """The n-grams of both vocabularies."""
        words = words_of(self.source, "source"), words_of(self.target, "target")
        made: Ngrams = self.base.once("ngrams", lambda: Ngrams.of(*words))
        return made

    @property
    def spellings(self) -> list[str]:
        """The plain spellings of the target words."""
        words = words_of(self.target, "target")
        made: list[str] = self.base.once("spellings", lambda: plain_spellings(words))
        return made


class Letters(SpellingFeature):
    """g, the cosine of weighted n-grams of both words, and its root: 0.2 g + 0.3 sqrt(g) if fixed.

    The first common letters say most, further ones less, so that a word that is spelt alike but
    means something else passes few that are spelt differently.
    """

    name: ClassVar[str] = "letters"
    fixed_weights: ClassVar[Mapping[str, float]] = {"letters": 0.2, "letters^0.5": 0.3}

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


class Identical(Feature):
    """1 where both words are the same text, 0 elsewhere."""

    name: ClassVar[str] = "identical"
    fixed_weights: ClassVar[Mapping[str, float]] = {"identical": 0.0}

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of each target word."""
        return rows_by_word(words_of(self.target, "target"))

    def values(self, queries: UnitRows, targets: RowIndices) -> Matrix:
        """Return 1 or 0 for each pair."""
        own = np.array([self.row_of.get(word, -1) for word in words_of(queries, "query")], np.intp)
        values: Matrix = np.equal(targets, own[:, None])[:, :, None].astype(np.float64)
        return values


class EditSimilarity(SpellingFeature):
    """1 - edit distance / length of the longer spelling: how few letters have to change."""

    name: ClassVar[str] = "edit"
    fixed_weights: ClassVar[Mapping[str, float]] = {"edit": 0.0}

    def values(self, queries: UnitRows, targets: RowIndices) -> Matrix:
        """Return the similarity of each pair."""
        try:
            from rapidfuzz.distance import Levenshtein
            from rapidfuzz.process import cpdist
        except ImportError:
            raise missing_extra("The feature 'edit'", "letters") from None
        spellings = self.spellings
        similarities = cpdist(
            [
                word
                for word in plain_spellings(words_of(queries, "query"))
                for _ in range(targets.shape[1])
            ],
            [spellings[row] for row in targets.ravel()],
            scorer=Levenshtein.normalized_similarity,
            dtype=np.float64,
        )
        values: Matrix = similarities.reshape((*targets.shape, 1))
        return values


class Length(SpellingFeature):
    """|log (1 + letters of x) - log (1 + letters of z)|: long words have long translations."""

    name: ClassVar[str] = "length"
    fixed_weights: ClassVar[Mapping[str, float]] = {"length": 0.0}

    def values(self, queries: UnitRows, targets: RowIndices) -> Matrix:
        """Return the difference of each pair."""
        lengths: Vector = self.base.once("lengths", lambda: _log_lengths(self.spellings))
        own = _log_lengths(plain_spellings(words_of(queries, "query")))
        differences: Matrix = np.abs(own[:, None] - lengths[targets])
        return differences[:, :, None]


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
        known, solve, translations = self._learnt
        beta = solve((known @ self.ngrams.rows(words_of(queries, "query")).T).toarray())
        for part in slices(len(targets), QUERIES_AT_A_TIME):
            expected = translations.T @ beta[:, part]  # n-grams, queries
            rows = self.ngrams.target[targets[part].ravel()]
            query = np.repeat(np.arange(part.stop - part.start), targets.shape[1])
            entries = rows.data * expected[rows.indices, np.repeat(query, np.diff(rows.indptr))]
            pair = np.repeat(np.arange(len(query)), np.diff(rows.indptr))
            sums = np.bincount(pair, entries, len(query))
            values[part] = sums.reshape((-1, targets.shape[1], 1))
        return values

    @cached_property
    def _learnt(self) -> tuple[csr_array, Callable[[Matrix], Matrix], csr_array]:
        pairs = evenly(self.base.pairs, MAX_PAIRS)
        words = words_of(self.source, "source")
        known = self.ngrams.rows([words[row] for row in pairs[:, 0]])
        kernel = (known @ known.T).toarray().astype(np.float32)
        kernel[np.diag_indices_from(kernel)] += RIDGE
        return known, positive_solver(kernel), self.ngrams.target[pairs[:, 1]]


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
        own = _endings(plain_spellings(words_of(queries, "query")))
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


def _log_lengths(spellings: list[str]) -> Vector:
    return np.log(1 + np.array([len(spelling) for spelling in spellings], np.float64))


def _endings(spellings: list[str]) -> npt.NDArray[np.uint64]:
    """Return a number for each of a word's endings; a short word is its own longest ending."""
    sizes = range(1, LONGEST_ENDING + 1)
    numbers = [
        zlib.crc32(f"${spelling}"[-size:].encode("utf-8", "surrogatepass"))
        for spelling in spellings
        for size in sizes
    ]
    return np.array(numbers, np.uint64).reshape(len(spellings), LONGEST_ENDING)
