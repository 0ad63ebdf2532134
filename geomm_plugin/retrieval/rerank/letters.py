"""What two spellings have in common, with no learning: letters, identical, edit, length.

Spellings are plain: lower case, no accents, Latin letters (retrieval.rerank.spelling).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

import numpy as np

from geomm_plugin.arrays import Matrix, RowIndices, Vector
from geomm_plugin.errors import missing_extra
from geomm_plugin.retrieval.rerank.feature import Feature, Proposals, words_of
from geomm_plugin.retrieval.rerank.ngrams import Ngrams
from geomm_plugin.retrieval.rerank.spelling import plain_spellings
from geomm_plugin.retrieval.unit_rows import UnitRows

MIN_COSINE = 0.2  # words spelt less alike are no candidates by their letters
MAX_PROPOSALS = 100  # for each query


class SpellingFeature(Feature):
    """A feature of plain spellings, which all such features share."""

    @property
    def ngrams(self) -> Ngrams:
        """The n-grams of both vocabularies."""
        made: Ngrams = self.base.once("ngrams", lambda: Ngrams.of(*self._words()))
        return made

    @property
    def spellings(self) -> list[str]:
        """The plain spellings of the target words."""
        made: list[str] = self.base.once("spellings", lambda: spelt(self._words()[1]))
        return made

    def _words(self) -> tuple[list[str], list[str]]:
        return list(words_of(self.source, "source")), list(words_of(self.target, "target"))


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

    def values(self, queries: UnitRows, targets: RowIndices) -> Matrix:
        """Return 1 or 0 for each pair."""
        words = words_of(self.target, "target")
        row_of: dict[str, int] = self.base.once(
            "row_of", lambda: {word: row for row, word in enumerate(words)}
        )
        own = np.array([row_of.get(word, -1) for word in words_of(queries, "query")], np.intp)
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
            [word for word in spelt(words_of(queries, "query")) for _ in range(targets.shape[1])],
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
        own = _log_lengths(spelt(words_of(queries, "query")))
        differences: Matrix = np.abs(own[:, None] - lengths[targets])
        return differences[:, :, None]


def spelt(words: Iterable[str]) -> list[str]:
    """Return the plain spellings of words."""
    return [word[1:-1] for word in plain_spellings(words)]


def _log_lengths(spellings: list[str]) -> Vector:
    return np.log(1 + np.array([len(spelling) for spelling in spellings], np.float64))
