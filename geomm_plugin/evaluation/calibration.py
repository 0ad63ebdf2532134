"""[evaluate] Whether probabilities hold what they say, on words with known translations.

Of answers with the probability p, a share of p should be right; and the surest answers should be
right more often than others, so that who asks for fewer makes fewer mistakes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from geomm_plugin.arrays import Mask, Vector
from geomm_plugin.dictionary import DictionaryLike
from geomm_plugin.evaluation.provenance import Provenance
from geomm_plugin.evaluation.significance import bootstrap_interval
from geomm_plugin.evaluation.table import Cell, Cells, Table, cell_of
from geomm_plugin.evaluation.translation import Evaluation, evaluate
from geomm_plugin.retrieval import Retrieval
from geomm_plugin.shared_space import SharedSpace

BANDS = 10


@dataclass(frozen=True, eq=False)
class Reliability(Table):
    """The best answers to words: how probable each is, and whether it is right."""

    pair: str
    probabilities: Vector
    is_right: Mask
    retrieval: str = "reranked"

    @property
    def error(self) -> float:
        """The mean distance of what a band of probabilities says from what is right in it."""
        distances = [abs(row["probability"] - row["p@1"]) for row in self.rows]
        return float(np.average(distances, weights=[row["n_words"] for row in self.rows]))

    def risk(self, coverage: float) -> float:
        """The share that is wrong of the most probable answers, taken for this share of words."""
        count = max(1, round(coverage * len(self.probabilities)))
        surest = np.argsort(-self.probabilities, kind="stable")[:count]
        return float(1 - self.is_right[surest].mean())

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each band of probabilities that holds a word.

        The share of right ones has a 95 % interval. `coverage` is the share of words whose answers
        are in this band or a higher one, `risk` how many of these are wrong.
        """
        band = np.minimum((self.probabilities * BANDS).astype(int), BANDS - 1)
        right = {n: self.is_right[band == n].astype(float) for n in np.unique(band).tolist()}
        ends = {number: bootstrap_interval([own]) for number, own in right.items()}
        return [
            {
                "pair": self.pair,
                "retrieval": self.retrieval,
                "from": number / BANDS,
                "to": (number + 1) / BANDS,
                "n_words": len(own),
                "probability": float(self.probabilities[band == number].mean()),
                "p@1": float(own.mean()),
                "p@1_low": ends[number].low,
                "p@1_high": ends[number].high,
                "coverage": float((band >= number).mean()),
                "risk": float(1 - self.is_right[band >= number].mean()),
            }
            for number, own in right.items()
        ]

    def cells(self) -> Cells:
        """Return header and rows as short texts."""
        header = ("pair", "retrieval", "from", "words", "mean", "right", "coverage", "risk")
        names = ("pair", "retrieval", "from", "n_words", "probability", "p@1", "coverage", "risk")
        return [[Cell(t) for t in header], *([cell_of(row[n]) for n in names] for row in self.rows)]

    def notes(self) -> list[str]:
        """Say how far probabilities are off, and what fewer answers are worth."""
        risks = ", ".join(f"{share:.0%}: {self.risk(share):.3f}" for share in (0.25, 0.5, 0.75, 1))
        return [
            f"{self.pair}, {self.retrieval}: mean distance of probability, right {self.error:.3f}.",
            f"Wrong among the most probable answers, for a share of the words: {risks}.",
        ]


@dataclass(frozen=True, eq=False)
class Reliabilities(Table):
    """Those of several pairs of languages or retrievals in one table."""

    parts: tuple[Reliability, ...]
    provenance: Provenance = field(default_factory=Provenance)

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of all, each with what was read."""
        return [row | self.provenance.columns for part in self.parts for row in part.rows]

    def cells(self) -> Cells:
        """Return the rows of all below one header."""
        return self.parts[0].cells()[:1] + [line for p in self.parts for line in p.cells()[1:]]

    def notes(self) -> list[str]:
        """Return the sentences of all."""
        return [note for part in self.parts for note in part.notes()]


def reliability(
    space: SharedSpace,
    source: str,
    target: str,
    dictionary: DictionaryLike,
    retrieval: str | Retrieval = "reranked",
) -> Reliability:
    """Compare the probabilities of the best answers with how many of them are right.

    Parameters
    ----------
    dictionary
        Words that the space and the weights have not seen, with all their right translations.
    retrieval
        The retrieval "reranked", with parameters: no other has probabilities.
    """
    found = evaluate(space, source, target, dictionary, retrieval, metrics=["p@1"], answers=1)
    return reliability_of(found)


def reliability_of(evaluation: Evaluation) -> Reliability:
    """Compare the probabilities of a score's best answers, if it has any, with what is right."""
    words = [word for word in evaluation.words if word.probability is not None]
    return Reliability(
        "-".join(evaluation.pair),
        np.array([word.probability for word in words], float),
        np.array([word.answers[0][0] in word.gold for word in words], bool),
        evaluation.retrieval,
    )
