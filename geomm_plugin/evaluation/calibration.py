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
from geomm_plugin.dictionary import DictionaryLike, as_dictionary
from geomm_plugin.evaluation.provenance import Provenance
from geomm_plugin.evaluation.table import Cell, Cells, Table, cell_of
from geomm_plugin.evaluation.translation import gold_rows
from geomm_plugin.registry import as_retrieval
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

        `coverage` is the share of words whose answers are in this band or a higher one, `risk` how
        many of these are wrong.
        """
        band = np.minimum((self.probabilities * BANDS).astype(int), BANDS - 1)
        return [
            {
                "pair": self.pair,
                "retrieval": self.retrieval,
                "from": number / BANDS,
                "to": (number + 1) / BANDS,
                "n_words": int((band == number).sum()),
                "probability": float(self.probabilities[band == number].mean()),
                "p@1": float(self.is_right[band == number].mean()),
                "coverage": float((band >= number).mean()),
                "risk": float(1 - self.is_right[band >= number].mean()),
            }
            for number in np.unique(band).tolist()
        ]

    def cells(self) -> Cells:
        """Return header and rows as short texts."""
        header = ("pair", "retrieval", "probability", "words", "mean", "right", "coverage", "risk")
        names = ("n_words", "probability", "p@1", "coverage", "risk")
        return [[Cell(title) for title in header]] + [
            [
                *(Cell(row["pair"]), Cell(row["retrieval"])),
                Cell(f"{row['from']:.1f}-{row['to']:.1f}"),
                *(cell_of(row[name]) for name in names),
            ]
            for row in self.rows
        ]

    def notes(self) -> list[str]:
        """Say how far probabilities are off, and what fewer answers are worth."""
        risks = ", ".join(f"{share:.0%}: {self.risk(share):.3f}" for share in (0.25, 0.5, 0.75, 1))
        return [
            f"{self.pair}, {self.retrieval}: the mean distance of probability and share of right "
            f"answers is {self.error:.3f}.",
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
        header = self.parts[0].cells()[:1]
        return header + [line for part in self.parts for line in part.cells()[1:]]

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
    gold, _ = gold_rows(space, source, target, as_dictionary(dictionary))
    answers = [best for (best,) in space.answers(list(gold), source, target, 1, retrieval)]
    rows = [space[target].row_of[best.word] for best in answers]
    return Reliability(
        f"{source}-{target}",
        np.array([best.probability for best in answers]),
        np.array([row in correct for row, correct in zip(rows, gold.values(), strict=True)]),
        as_retrieval(retrieval).label,
    )
