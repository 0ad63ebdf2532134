"""Pairs of numbers written in digits: few and poor translations, but of every pair of languages.

Artetxe, Labaka, Agirre: "Learning bilingual word embeddings with (almost) no bilingual data",
ACL 2017. Digits of other scripts count as the Latin ones, so that ٣ is 3.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import ClassVar

from geomm_plugin.dictionary import RowPairs
from geomm_plugin.fitting.seeds.identical import shared_words
from geomm_plugin.fitting.seeds.seed import Language, Seed

MARKS = ".,:/%+-"  # what a number may hold besides digits


@dataclass(kw_only=True, eq=False, repr=False)
class Numerals(Seed):
    """Pair numbers written in digits, whatever the scripts of the languages."""

    name: ClassVar[str] = "numerals"
    by_spelling: ClassVar[bool] = True

    def pairs(self, source: Language, target: Language) -> RowPairs:
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
