"""[evaluate] Sentence retrieval: how often a sentence's translation is the nearest of N.

Line-aligned texts in two or more languages (as MUSE does on Europarl: Conneau et al., 2018,
arXiv:1710.04087, section 4.2). A sentence is the IDF-weighted mean of its words' unit vectors, and
ranked by a retrieval as words are, for each pair of languages, both ways. Where several target
lines are the same text, each of them is correct.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import ClassVar, Self

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import RowIndices
from geomm_plugin.errors import FormatError, ParameterError
from geomm_plugin.evaluation.metrics import P_AT_1, P_AT_5, P_AT_10, depth_of
from geomm_plugin.evaluation.task import Score, Task, as_space
from geomm_plugin.evaluation.texts import has_words, read_texts, text_vectors
from geomm_plugin.registry import as_retrieval
from geomm_plugin.retrieval import Retrieval
from geomm_plugin.shared_space import SharedSpace

METRICS = (P_AT_1, P_AT_5, P_AT_10)


@dataclass(frozen=True, eq=False, repr=False)
class Sentences(Task):
    """The translation of each sentence among all sentences of the other language."""

    name: ClassVar[str] = "sentences"
    roles: ClassVar[tuple[str, ...]] = ("texts",)
    ranks: ClassVar[bool] = True

    texts: Mapping[str, Sequence[str]]  # by language; line i is the same sentence in each
    retrievals: Sequence[str | Retrieval] = ("csls", "cosine")

    def __post_init__(self) -> None:
        lengths = {language: len(lines) for language, lines in self.texts.items()}
        if len(lengths) < 2:
            raise ParameterError(
                "Sentences are looked for in another language: give the texts of two or more, "
                f"line by line; there is {', '.join(lengths) or 'none'}."
            )
        if len(set(lengths.values())) > 1:
            shown = ", ".join(f"{language} {count}" for language, count in lengths.items())
            raise FormatError(
                f"Aligned texts have equally many lines; these differ: {shown}. Line i must be the "
                "same sentence in each file."
            )

    @classmethod
    def from_files(
        cls, files: Mapping[str, Mapping[str, str]], retrievals: Sequence[Retrieval] = ()
    ) -> Self:
        """Read one text file for each language: {"texts": {"en": path, "es": path}}."""
        texts = {language: read_texts(path) for language, path in files["texts"].items()}
        return cls(texts, retrievals) if retrievals else cls(texts)

    def among(self, languages: Collection[str]) -> Self | None:
        """Return the sentences of these languages, if there are two of them."""
        texts = {name: lines for name, lines in self.texts.items() if name in languages}
        return replace(self, texts=texts) if len(texts) > 1 else None

    def score(self, space: SharedSpace) -> list[Score]:
        """Search every language's sentences in every other one."""
        vectors = {name: text_vectors(space, name, lines) for name, lines in self.texts.items()}
        known = np.logical_and.reduce([has_words(rows) for rows in vectors.values()])
        if not known.any():
            raise FormatError(
                f"No line has words of all vocabularies ({', '.join(vectors)}). Check the order of "
                "the languages."
            )
        rows = np.flatnonzero(known)
        details = {"coverage": float(known.mean()), "n_sentences": len(rows)}
        scores = []
        pairs = list(permutations(self.texts, 2))
        for source, target in progress.over("Searching sentences", pairs, "pairs"):
            gold = same_lines([self.texts[target][row] for row in rows.tolist()])
            for retrieval in map(as_retrieval, self.retrievals):
                index = retrieval.index(vectors[source][rows], vectors[target][rows])
                ranks = index.ranks(vectors[source][rows], gold, depth_of(METRICS))
                about = {"pair": f"{source}-{target}", "retrieval": retrieval.label}
                numbers = {metric.name: metric(ranks) for metric in METRICS}
                scores.append(Score(self.name, about, numbers, P_AT_1.score(ranks), details))
        return scores

    def __repr__(self) -> str:
        languages = ", ".join(self.texts)
        return f"<Sentences: {len(next(iter(self.texts.values())))} lines of {languages}>"


def same_lines(lines: Sequence[str]) -> list[RowIndices]:
    """Return for each line the rows that hold the same text, its own among them."""
    places: dict[str, list[int]] = {}
    for row, line in enumerate(lines):
        places.setdefault(line, []).append(row)
    rows_of = {line: np.array(rows, np.intp) for line, rows in places.items()}
    return [rows_of[line] for line in lines]


def evaluate_sentences(
    space: Mapping[str, object],
    texts: Mapping[str, Sequence[str]],
    retrievals: str | Retrieval | Sequence[str | Retrieval] = ("csls", "cosine"),
) -> list[Score]:
    """Look for the translation of each sentence among all sentences of the other language.

    Parameters
    ----------
    space
        A SharedSpace, or aligned embeddings by language.
    texts
        Sentences by language, line by line translations of each other; read_texts(path) reads them.
    """
    choices = [retrievals] if isinstance(retrievals, str | Retrieval) else retrievals
    return Sentences(texts, choices).score(as_space(space))
