"""[evaluate] What mappers of a comparison score on translation: rows with intervals and tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from geomm_plugin.arrays import Vector
from geomm_plugin.evaluation.breakdown import GROUPS, By
from geomm_plugin.evaluation.differences import DIFFERENCE, adjust, difference_columns
from geomm_plugin.evaluation.metrics import P_AT_1
from geomm_plugin.evaluation.runs import Run
from geomm_plugin.evaluation.significance import bootstrap_interval
from geomm_plugin.evaluation.translation import Evaluation

WORDS = "bli"  # the name of word translation among tasks: bilingual lexicon induction


@dataclass(frozen=True)
class WordRows:
    """The rows of some runs: one for each mapper, pair and retrieval."""

    runs: Sequence[Run]
    baseline: str
    seed: int = 0
    asked: Sequence[tuple[str, str]] = ()  # (pair, retrieval) of a mapper that does not fail
    metrics: Sequence[str] = ()
    by: By | None = None

    def rows(self) -> list[dict[str, Any]]:
        """Return the numbers; what does not apply is None."""
        rows = [row for run in self.runs for row in self._of(run)]
        adjust(rows, lambda row: (row["pair"], row["retrieval"]))
        return rows

    def metric_names(self) -> list[str]:
        """Return the metrics that were asked for, or by which some mapper was scored."""
        scored = dict.fromkeys(m for run in self.runs for e in run.evaluations for m in e.scores)
        return list(self.metrics or scored) or [P_AT_1.name]

    def groups_of_words(self) -> list[str]:
        """Return the names of the groups of words that P@1 is broken down by."""
        return [] if self.by is None else list(GROUPS[self.by][0])

    def _of(self, run: Run) -> Iterator[dict[str, Any]]:
        if run.error is not None:
            parts = [f"{what} {g}" for g in self.groups_of_words() for what in ("p@1", "n_words")]
            names = [*self.metric_names(), "coverage", "n_words", *parts]
            for pair, retrieval in self._pairs():
                named = {"mapper": run.label, "task": WORDS, "pair": pair, "retrieval": retrieval}
                empty = dict.fromkeys([*names, "p@1_low", "p@1_high", *DIFFERENCE])
                yield named | empty | run.cost() | {"baseline": self.baseline}
            return
        theirs = {
            (pair, retrieval): evaluations
            for other in self.runs
            if other.label == self.baseline
            for pair, retrieval, evaluations in other.groups()
        }
        for pair, retrieval, evaluations in run.groups():
            words = [hits(evaluation) for evaluation in evaluations]
            interval = bootstrap_interval(words, seed=self.seed)
            row: dict[str, Any] = {
                "mapper": run.label,
                "task": WORDS,
                "pair": pair,
                "retrieval": retrieval,
                **{
                    name: sum(e.scores[name] for e in evaluations) / len(evaluations)
                    for name in evaluations[0].scores
                },
                "coverage": sum(e.coverage for e in evaluations) / len(evaluations),
                "n_words": sum(e.n_words for e in evaluations),
                **mean_parts(evaluations),
                "p@1_low": interval.low,
                "p@1_high": interval.high,
            } | dict.fromkeys(DIFFERENCE)
            if run.label != self.baseline and (pair, retrieval) in theirs:
                before = [hits(evaluation) for evaluation in theirs[pair, retrieval]]
                row |= difference_columns(words, before, self.seed)
            yield row | run.cost() | {"baseline": self.baseline}

    def _pairs(self) -> list[tuple[str, str]]:
        """Return all (pair, retrieval) that were asked for, or that some mapper was scored on."""
        scored = dict.fromkeys((p, r) for run in self.runs for p, r, _ in run.groups())
        return list(self.asked or scored) or [("", "")]


def hits(evaluation: Evaluation) -> Vector:
    """Return 1 for each word that is translated correctly at rank 1, else 0."""
    return P_AT_1.score(evaluation.ranks)


def mean_parts(evaluations: list[Evaluation]) -> dict[str, Any]:
    """Return the mean P@1 of each group of words over pairs of languages that have such words."""
    parts = [evaluation.parts() for evaluation in evaluations]
    means: dict[str, Any] = {}
    for name in parts[0]:
        known = [part[name] for part in parts if part[name] is not None]
        total = sum(known)
        means[name] = total if name.startswith("n_words") else total / len(known) if known else None
    return means
