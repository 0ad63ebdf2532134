"""The embedded data in the shape of the paper's tables: other data, so other numbers.

Two stand-ins, since the demo has no human scores and no analogies: translations against random
pairs of words (similarity 1 and 0), and singular to plural.
"""

from __future__ import annotations

from functools import cached_property
from itertools import permutations

import numpy as np

from geomm_plugin.demo import Demo, load_demo
from geomm_plugin.dictionary import Dictionary, oriented
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.evaluation.analogy import Questions
from geomm_plugin.evaluation.paper.data import Need, PaperFolder, Part
from geomm_plugin.evaluation.paper.published import Column
from geomm_plugin.evaluation.similarity import ScoredPairs

PLURALS = (
    *("country countries", "report reports", "proposal proposals", "citizen citizens"),
    *("question questions", "region regions", "year years", "measure measures"),
    *("group groups", "problem problems", "woman women", "child children"),
)
PAIRS = ({"en", "es"}, {"en", "it"})
QUICK = {"sl_unsup": "sl_unsup:words=1500,start_words=1500,patience=3,keep=0.2"}


class DemoPaperData(PaperFolder):
    """The demo's three languages; columns with other languages stay empty."""

    own = False

    def __init__(self) -> None:
        super().__init__("data")
        self.label = "the demo's data, not the paper's"

    @cached_property
    def demo(self) -> Demo:
        """The data, read once."""
        return load_demo()

    def missing(self, kind: str, column: Column) -> list[Need]:
        """Return the paper's own files, where the demo lacks the languages."""
        is_here = column.data == "demo" or set(column.languages) in PAIRS
        return [] if is_here else self.needs(kind, column)

    def mapper(self, name: str) -> str:
        """Return a mapper that is quick enough for a demo."""
        return QUICK.get(name, name)

    def columns(self, kind: str, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """Add the demo's own path to one-hop translation."""
        return (*columns, Column("es-en-it", "demo")) if kind == "one_hop" else columns

    def embeddings(self, data: str, language: str, max_words: int | None) -> Embeddings:
        """Return the words of a language."""
        whole = self.demo.embeddings[language]
        return whole if max_words is None else whole.head(max_words)

    def dictionary(self, data: str, source: str, target: str, part: Part) -> Dictionary:
        """Return a dictionary, read backwards where the demo has it so."""
        return oriented(self.demo.train if part == "train" else self.demo.test, source, target)

    def similarity(self, source: str, target: str) -> ScoredPairs:
        """Return the test dictionary at 1, and as many random pairs of its words at 0."""
        pairs = self.dictionary("demo", source, target, "test")
        order = np.random.default_rng(0).permutation(len(pairs))
        others = [(pairs[i][0], pairs[j][1], 0.0) for i, j in enumerate(order) if i != j]
        return [(here, there, 1.0) for here, there in pairs] + others

    def analogies(self) -> Questions:
        """Return questions about plurals."""
        words = [(one, many) for one, many in map(str.split, PLURALS)]
        return {"plurals": [(*first, *second) for first, second in permutations(words, 2)]}
