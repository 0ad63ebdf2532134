"""[evaluate] Word analogies within one language: a is to b as c is to ... d.

3CosAdd (Mikolov et al., 2013): the answer is the word nearest to b - a + c, on unit vectors; a, b
and c themselves are no answers, and d is none where another word is as near: a mapping that puts
all words on one point scores 0. A good mapping leaves a language's own analogies as they were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeAlias

import numpy as np

from geomm_plugin.arrays import Mask, RowIndices
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import DictionaryError
from geomm_plugin.evaluation.similarity import find_row
from geomm_plugin.evaluation.task import WordScore, WordTask, as_space
from geomm_plugin.files.text_lines import read_lines
from geomm_plugin.normalize import unit
from geomm_plugin.retrieval import Cosine, UnitRows
from geomm_plugin.shared_space import SharedSpace

Question: TypeAlias = tuple[str, str, str, str]
Questions: TypeAlias = dict[str, list[Question]]


def read_analogies(path: str | Path) -> Questions:
    """Read the questions-words format: `: section`, then four words a line."""
    questions: Questions = {}
    section = "all"
    for number, line in enumerate(read_lines(Path(path)), start=1):
        words = [word for word in line.replace("\t", " ").split(" ") if word]
        if line.startswith(":"):
            section = line if line[1:].strip() == "total" else line[1:].strip()  # "total" is all
        elif len(words) == 4:
            a, b, c, d = words
            questions.setdefault(section, []).append((a, b, c, d))
        elif words:
            raise DictionaryError(
                f"{path}, line {number}: expected four words or ': section', found {len(words)} "
                "words. Write one question a line."
            )
    return questions


@dataclass(frozen=True, eq=False, repr=False)
class Analogy(WordTask):
    """Analogies within languages, each answered over the language's whole vocabulary.

    Scores are the accuracy in all ("total") and by section. A word that the vocabulary does not
    hold as it is spelt is looked up in lower case.
    """

    name: ClassVar[str] = "analogy"
    read = staticmethod(read_analogies)

    tests: Mapping[str, Mapping[str, Sequence[Question]]]  # by language and section

    def score(self, space: Mapping[str, object]) -> list[WordScore]:
        """Answer the questions of each language."""
        space = as_space(space)
        return [score for name, test in self.tests.items() for score in _scores(space, name, test)]


def _scores(
    space: SharedSpace, language: str, questions: Mapping[str, Sequence[Question]]
) -> list[WordScore]:
    vectors = space.unit_rows(language)
    is_correct = {
        name: _answer(vectors, _rows(space[language], items)) for name, items in questions.items()
    }
    total = np.concatenate([np.empty(0, bool), *is_correct.values()])
    count = sum(map(len, questions.values()))
    if not len(total):
        raise DictionaryError(
            f"None of the {count} analogies has all its words in the vocabulary of {language}. "
            "Check the language."
        )
    sections = [(name, is_correct[name], len(items)) for name, items in questions.items()]
    return [
        WordScore(
            Analogy.name,
            {"language": language, "task": Analogy.name, "section": name},
            {"accuracy": float(hits.mean()) if len(hits) else 0.0},
            hits.astype(np.float64) if len(hits) else None,
            {"coverage": len(hits) / max(asked, 1), "n_questions": len(hits)},
        )
        for name, hits, asked in [("total", total, count), *sections]
    ]


def _rows(embeddings: Embeddings, questions: Sequence[Question]) -> RowIndices:
    """Return the rows of the questions of which all words are known."""
    rows = [[find_row(embeddings, word) for word in question] for question in questions]
    known = [question for question in rows if None not in question]
    return np.array(known, np.intp).reshape(-1, 4)


def _answer(language: UnitRows, rows: RowIndices) -> Mask:
    """Mark the questions (a, b, c, d) that are answered with d."""
    if not len(rows):
        return np.empty(0, bool)
    unique, place = np.unique(rows[:, :3], axis=0, return_inverse=True)
    vectors = language.all()
    queries = unit(vectors[unique[:, 1]] - vectors[unique[:, 0]] + vectors[unique[:, 2]])
    # Of the five nearest (of equal ones the lower row first) at least two are none of a, b, c.
    nearest = Cosine().index(language, language).search(queries, 5)
    allowed = (nearest.indices[:, :, None] != unique[:, None, :]).all(axis=2)
    scores = np.where(allowed, nearest.scores, -np.inf)
    best = scores.max(axis=1, keepdims=True)
    alone = allowed.any(axis=1) & ((scores == best).sum(axis=1) == 1)
    answers = np.where(alone, nearest.indices[np.arange(len(unique)), scores.argmax(axis=1)], -1)
    is_correct: Mask = answers[place.ravel()] == rows[:, 3]
    return is_correct
