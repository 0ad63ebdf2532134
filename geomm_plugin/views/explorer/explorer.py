"""What the page asks for: words, their translations and their neighbourhood, as JSON-like values.

Words are named by language and row, since a word may be any text at all.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from geomm_plugin import progress
from geomm_plugin.errors import LanguagesError, ParameterError
from geomm_plugin.retrieval import Index, Reranked
from geomm_plugin.retrieval.rerank.reranked import RerankedIndex
from geomm_plugin.shared_space import SharedSpace
from geomm_plugin.text import fold
from geomm_plugin.views.plots import principal_plane

RETRIEVALS = ("cosine", "csls", "reranked")
SUGGESTIONS = 12
TRANSLATIONS = 10
NEIGHBORS = 6  # words of each language in the picture
LONGEST_TEXT = 200
EXAMPLES = 5  # words of each language to begin with
FREQUENT_WORDS = 2000  # from which they are taken
POSSIBLE_EXAMPLES = 60  # of which the clearest are taken
SHORTEST_EXAMPLE = 5  # letters: shorter words are mostly "of" and "the"


class Explorer:
    """Answers questions about one or several shared spaces of the same words.

    It may be asked by several threads at a time.

    Parameters
    ----------
    spaces
        A shared space by the name it is shown under, one for each mapper.
    """

    def __init__(self, spaces: Mapping[str, SharedSpace]):
        self.names = list(spaces)
        self._spaces = list(spaces.values())
        if not self._spaces:
            raise ParameterError("There is no space to explore. Give at least one.")
        self.languages = list(self._spaces[0])
        for name, space in spaces.items():
            if list(space) != self.languages:
                raise LanguagesError(
                    f"All spaces must hold the same languages; {name} has {', '.join(space)}, "
                    f"{self.names[0]} has {', '.join(self.languages)}."
                )
        self._vocabularies = {lang: self._spaces[0][lang].words for lang in self.languages}
        self._searches = {lang: WordSearch(words) for lang, words in self._vocabularies.items()}
        self._making = threading.Lock()
        self._locks: dict[Index, threading.Lock] = {}  # an index answers one question at a time

    def about(self) -> dict[str, Any]:
        """Return the languages, the mappers, and words to begin with."""
        return {
            "languages": [
                {"language": language, "words": len(words)}
                for language, words in self._vocabularies.items()
            ],
            "mappers": self.names,
            "examples": self._examples,
        }

    def prepare(self) -> None:
        """Map the words of the first space, and open what was saved of it."""
        for language in progress.over("Preparing", self.languages, "languages"):
            self.picture(0, language, 0)
            for target in self.languages:
                if target != language:
                    self._spaces[0].index(language, target, "csls")

    def search(self, text: str, language: str = "") -> list[dict[str, Any]]:
        """Return words that begin with a text, in one language or all; the nearest to it first."""
        text = text.strip()[:LONGEST_TEXT]
        matches = [
            (self._searches[where].closeness(row, text), row, where)
            for where in ([self._language(language)] if language else self.languages)
            for row in self._searches[where].find(text, SUGGESTIONS)
        ]
        matches.sort(key=lambda item: item[:2])
        return [self._word(where, row) for _, row, where in matches[:SUGGESTIONS]]

    def translate(
        self, mapper: int, language: str, row: int, retrieval: str
    ) -> dict[str, list[dict[str, Any]]]:
        """Return the best translations of a word in each other language, with their scores.

        Those of "reranked" come with the `probability` that they are right, and with `shares`: what
        CSLS and each feature add to the score.
        """
        if retrieval not in RETRIEVALS:
            raise ParameterError(f"The retrieval is one of {', '.join(RETRIEVALS)}.")
        return {
            target: self._nearest(mapper, language, row, target, retrieval, TRANSLATIONS)
            for target in self.languages
            if target != language
        }

    def picture(self, mapper: int, language: str, row: int) -> dict[str, Any]:
        """Return the words around a word, of all languages, with coordinates in the plane."""
        words = [self._word(language, self._row(language, row))]
        for target in self.languages:
            count = NEIGHBORS + (target == language)
            near = self._nearest(mapper, language, row, target, "cosine", count)
            words += [word for word in near if (word["language"], word["row"]) != (language, row)]
        space = self._space(mapper)
        vectors = np.array([space.unit_vectors(w["language"])[w["row"]] for w in words])
        plane, variance_share = principal_plane(vectors)
        points = [
            word | {"x": float(x), "y": float(y)} for word, (x, y) in zip(words, plane, strict=True)
        ]
        return {"points": points, "variance": variance_share}

    def _nearest(
        self, mapper: int, language: str, row: int, target: str, retrieval: str, count: int
    ) -> list[dict[str, Any]]:
        space, row = self._space(mapper), self._row(language, row)
        query = space.unit_rows(language).select(np.array([row]))
        count = min(count, len(self._vocabularies[target]))
        with self._making:
            index = space.index(language, target, retrieval)
            lock = self._locks.setdefault(index, threading.Lock())
        with lock:
            if isinstance(index, RerankedIndex):
                nearest, probabilities = index.search_with_probabilities(query, count)
                shares = index.shares(query, nearest.indices[0])
                shares = {str(Reranked().base): shares.pop("base")} | shares
                reasons = [
                    {"probability": float(p), "shares": {k: float(s[n]) for k, s in shares.items()}}
                    for n, p in enumerate(probabilities[0])
                ]
            else:
                nearest, reasons = index.search(query, count), [{}] * count
        return [
            self._word(target, int(where)) | {"score": float(score)} | reason
            for where, score, reason in zip(
                nearest.indices[0], nearest.scores[0], reasons, strict=True
            )
        ]

    @cached_property
    def _examples(self) -> list[dict[str, Any]]:
        return [word for language in self.languages for word in self._clear_words(language)]

    def _clear_words(self, language: str) -> list[dict[str, Any]]:
        """Return some frequent words that are worth a click.

        Those of the first space whose nearest word of another language is farthest ahead of the
        second, and is not the same word.
        """
        words = self._vocabularies[language][:FREQUENT_WORDS]
        plain = [
            row
            for row, word in enumerate(words)
            if len(word) >= SHORTEST_EXAMPLE and word.isalpha() and word.islower()
        ]
        rows = plain if len(plain) >= EXAMPLES else list(range(len(words)))
        rows = rows[:: max(1, len(rows) // POSSIBLE_EXAMPLES)][:POSSIBLE_EXAMPLES]
        leads: dict[int, float] = {}
        for other in [each for each in self.languages if each != language][:1]:
            for row in rows:
                best, *rest = self._nearest(0, language, row, other, "cosine", 2)
                if fold(best["word"]) != fold(words[row]):
                    leads[row] = best["score"] - sum(second["score"] for second in rest)
        clearest = sorted(leads, key=lambda row: -leads[row])[:EXAMPLES]
        return [self._word(language, row) for row in sorted(clearest or rows[:EXAMPLES])]

    def _word(self, language: str, row: int) -> dict[str, Any]:
        return {"language": language, "row": row, "word": self._vocabularies[language][row]}

    def _space(self, mapper: int) -> SharedSpace:
        if not 0 <= mapper < len(self._spaces):
            raise ParameterError(
                f"Mappers have numbers from 0 to {len(self._spaces) - 1}; there is no {mapper}."
            )
        return self._spaces[mapper]

    def _language(self, language: str) -> str:
        if language not in self._vocabularies:
            raise LanguagesError(
                f"There is no language {language!r}; there are {', '.join(self.languages)}."
            )
        return language

    def _row(self, language: str, row: int) -> int:
        count = len(self._vocabularies[self._language(language)])
        if not 0 <= row < count:
            raise ParameterError(f"Words of {language} have rows from 0 to {count - 1}, not {row}.")
        return row


class WordSearch:
    """A vocabulary without case and accents, in the order of frequency."""

    def __init__(self, words: Sequence[str]):
        self.words = words
        self._folded = [fold(word) for word in words]

    def find(self, text: str, limit: int) -> list[int]:
        """Return rows of words that begin with a text, the word itself first, then by frequency."""
        beginning = fold(text)
        if not beginning:
            return []
        found = [row for row, word in enumerate(self._folded) if word.startswith(beginning)]
        return sorted(found, key=lambda row: self.closeness(row, text))[:limit]

    def closeness(self, row: int, text: str) -> int:
        """Return 0 if a word is the text, 1 if only case and accents differ, else 2."""
        return 0 if self.words[row] == text else 1 if self._folded[row] == fold(text) else 2
