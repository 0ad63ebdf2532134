"""Pairs by spelling alone: identical words, numbers in digits, and cognates.

- `identical`: words of both vocabularies, letter for letter: names, numbers, loan words.
- `numerals`: numbers written in digits, whatever the script (the Arabic digit three is 3). Artetxe,
  Labaka, Agirre: "Learning bilingual word embeddings with (almost) no bilingual data", ACL 2017.
- `cognates`: words that are each other's best by g(x, z), the cosine of their character n-grams
  (retrieval.rerank.ngrams), where g is large. Most pairs of a poor seed are wrong, and the first
  maps with them; so similar words keep a bonus while the pairs grow:

    CSLS(x, z) + letters (g - g^2 / 2)
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from geomm_plugin.arrays import Mask, RowIndices, Vector
from geomm_plugin.dictionary import Dictionary, RowPairs
from geomm_plugin.embeddings import Embeddings, as_embeddings
from geomm_plugin.fitting.seeds.seed import Seed, weighted_pairs
from geomm_plugin.registry.parameters import AtLeast, Within
from geomm_plugin.retrieval import PairBonus
from geomm_plugin.retrieval.rerank.ngrams import Ngrams

MARKS = ".,:/%+-"  # what a number may hold besides digits
FREQUENT_WORDS = 8000
MIN_COSINE = 0.5
MIN_LETTERS = 4
MIN_RAISED = 0.3  # cosine below which the letters give no bonus
RAISED_PER_WORD = 50


@dataclass(kw_only=True, eq=False, repr=False)
class Identical(Seed):
    """Pair words that both vocabularies hold, letter for letter."""

    name: ClassVar[str] = "identical"
    by_spelling: ClassVar[bool] = True

    def pairs(self, source: Embeddings, target: Embeddings) -> RowPairs:
        """Return every word of both vocabularies, paired with itself."""
        return shared_words(source.words, target.words)


def shared_words(source: Sequence[str], target: Sequence[str]) -> RowPairs:
    """Return the rows of the words that both lists hold; empty words are left out."""
    row_of: dict[str, int] = {}
    for row, word in enumerate(target):
        row_of.setdefault(word, row)
    seen: set[str] = {""}
    pairs: list[tuple[int, int]] = []
    for row, word in enumerate(source):
        if word in row_of and word not in seen:
            seen.add(word)
            pairs.append((row, row_of[word]))
    table = np.array(pairs, np.intp).reshape(-1, 2)
    return weighted_pairs(table[:, 0], table[:, 1], np.ones(len(table)))


@dataclass(kw_only=True, eq=False, repr=False)
class Numerals(Seed):
    """Pair numbers written in digits, whatever the scripts of the languages."""

    name: ClassVar[str] = "numerals"
    by_spelling: ClassVar[bool] = True

    def pairs(self, source: Embeddings, target: Embeddings) -> RowPairs:
        """Return the numbers of both vocabularies, each paired with itself."""
        return shared_words(
            [numeral(word) for word in source.words], [numeral(word) for word in target.words]
        )


def numeral(word: str) -> str:
    """Return a number in Latin digits, or an empty text if the word is no number."""
    if not any(character.isdecimal() for character in word):
        return ""
    if not all(character.isdecimal() or character in MARKS for character in word):
        return ""
    return "".join(
        str(unicodedata.decimal(character)) if character.isdecimal() else character
        for character in word
    )


@dataclass(kw_only=True, eq=False, repr=False)
class Cognates(Seed):
    """Pair words that are each other's most alike in spelling."""

    name: ClassVar[str] = "cognates"
    by_spelling: ClassVar[bool] = True
    words: Annotated[int, AtLeast(1)] = FREQUENT_WORDS  # of each language
    cosine: Annotated[float, Within(0, 1)] = MIN_COSINE  # least similarity of spelling
    letters: Annotated[float, AtLeast(0)] = 0.5  # weight of the bonus; 0: the pairs alone

    def pairs(self, source: Embeddings, target: Embeddings) -> RowPairs:
        """Return the pairs, weighted by how alike they are."""
        rows, columns, cosines = cognate_rows(
            source.words[: self.words], target.words[: self.words], self.cosine
        )
        return weighted_pairs(rows, columns, cosines)

    def raised(self, source: Embeddings, target: Embeddings) -> PairBonus | None:
        """Return words of similar spelling, with their bonus."""
        if not self.letters:
            return None
        rows, columns, cosines = alike_rows(
            source.words[: self.words], target.words[: self.words], MIN_RAISED, RAISED_PER_WORD
        )
        return PairBonus(rows, columns, self.letters * (cosines - cosines**2 / 2))


def cognates(
    source: object,
    target: object,
    *,
    max_words: int = FREQUENT_WORDS,
    min_cosine: float = MIN_COSINE,
) -> Dictionary:
    """Return the words that are each other's most alike in spelling: a free dictionary.

    Accents and the letter case make no difference, and Cyrillic and Greek (with `anyascii` other
    alphabets, too) are compared in Latin letters. Words have at least four letters.

    Parameters
    ----------
    max_words
        How many of the most frequent words of each language are compared.
    min_cosine
        Pairs are of more similar spelling than this; 1 is the same spelling.
    """
    here = list(as_embeddings(source).row_of)[:max_words]
    there = list(as_embeddings(target).row_of)[:max_words]
    rows, columns, _ = cognate_rows(here, there, min_cosine)
    return Dictionary((here[row], there[column]) for row, column in zip(rows, columns, strict=True))


def cognate_rows(
    source: Sequence[str], target: Sequence[str], min_cosine: float = MIN_COSINE
) -> tuple[RowIndices, RowIndices, Vector]:
    """Return (source row, target row, g) of the cognates, in the order of the source."""
    rows, columns, cosines = alike_rows(source, target, min_cosine, len(target))
    is_mutual = _is_best(rows, columns, cosines) & _is_best(columns, rows, cosines)
    return rows[is_mutual], columns[is_mutual], cosines[is_mutual]


def alike_rows(
    source: Sequence[str], target: Sequence[str], min_cosine: float, count: int
) -> tuple[RowIndices, RowIndices, Vector]:
    """Return (source row, target row, g) of words of similar spelling, `count` a word at most."""
    here = np.array([row for row, word in enumerate(source) if _is_long(word)], np.intp)
    there = np.array([row for row, word in enumerate(target) if _is_long(word)], np.intp)
    ngrams = Ngrams.of([source[row] for row in here], [target[row] for row in there])
    rows, columns, cosines = ngrams.alike([source[row] for row in here], min_cosine, count)
    is_alike = cosines > min_cosine
    return here[rows[is_alike]], there[columns[is_alike]], cosines[is_alike]


def _is_long(word: str) -> bool:
    return sum(map(str.isalpha, word)) >= MIN_LETTERS


def _is_best(words: RowIndices, others: RowIndices, cosines: Vector) -> Mask:
    """Say which pairs are the best of their word; of equal ones the more frequent other."""
    order = np.lexsort((others, -cosines, words))
    first = np.ones(len(order), bool)
    first[1:] = words[order][1:] != words[order][:-1]
    is_best = np.zeros(len(order), bool)
    is_best[order] = first
    return is_best
