"""[evaluate] The outcome of a comparison: its runs, and all that can be shown of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from geomm_plugin.evaluation.breakdown import By
from geomm_plugin.evaluation.differences import SIGNIFICANT, is_significant
from geomm_plugin.evaluation.outcome_tables import (
    one_line,
    task_cells,
    task_paper_cells,
    word_cells,
    word_paper_cells,
)
from geomm_plugin.evaluation.provenance import Provenance, mapper_columns
from geomm_plugin.evaluation.runs import Run
from geomm_plugin.evaluation.tables import Cell, Table, text_of_cells
from geomm_plugin.evaluation.task import TaskScore
from geomm_plugin.evaluation.task_rows import scores_by_task, task_rows
from geomm_plugin.evaluation.word_rows import WordRows

WIDEST_REASON = 60  # characters of a failure's reason within a table of text; whole below it


@dataclass(frozen=True, eq=False)
class Comparison(Table):
    """Mappers on the same data: `rows` holds all numbers, `runs` the words behind them."""

    runs: tuple[Run, ...]
    baseline: str
    seed: int = 0
    asked: tuple[tuple[str, str], ...] = ()  # (pair, retrieval) of a mapper that does not fail
    metrics: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)
    each_pair: bool = False  # whether every pair of languages was fitted alone
    languages: tuple[str, ...] = ()
    by: By | None = None

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """One JSON-like object for each mapper, pair and retrieval, then those of tasks.

        First the numbers (see `numbers` and `task_rows`), then where they come from: the mapper's
        parameters, the lambda that it chose for each dictionary, whether pairs were fitted alone,
        the seed of intervals and tests, versions of packages, and the SHA-256 of every file.
        """
        about = {run.label: mapper_columns(run.parameters, run.report) for run in self.runs}
        provenance = {"each_pair": self.each_pair, "seed": self.seed} | self.provenance.columns()
        numbers = [*self.numbers, *self.task_rows]
        return [row | about[row["mapper"]] | provenance for row in numbers]

    @cached_property
    def numbers(self) -> list[dict[str, Any]]:
        """The numbers of translation, of each mapper, pair and retrieval.

        `p@1_low` and `p@1_high` are the 95 % bootstrap interval; `difference` is P@1 less the
        baseline's with its own interval, `p_value` the paired test's, `p_holm` that adjusted for
        the number of mappers. What does not apply is None.
        """
        return self._words.rows()

    @cached_property
    def task_rows(self) -> list[dict[str, Any]]:
        """One JSON-like object for each mapper and row of a task, if tasks were given.

        `difference` is the main score (the first of its task) less the baseline's.
        """
        return task_rows(self.runs, self.baseline, self.seed)

    @property
    def tasks(self) -> list[tuple[TaskScore, list[dict[str, Any]]]]:
        """For each task a score that tells its columns, and its rows."""
        return [
            (score, [row for row in self.task_rows if row["task"] == name])
            for name, score in scores_by_task(self.runs).items()
        ]

    @cached_property
    def _words(self) -> WordRows:
        return WordRows(self.runs, self.baseline, self.seed, self.asked, self.metrics, self.by)

    def run(self, label: str) -> Run:
        """Return the run of a mapper."""
        return next(run for run in self.runs if run.label == label)

    def best(self) -> dict[tuple[str, str], float]:
        """Return the highest P@1 of each (pair, retrieval)."""
        best: dict[tuple[str, str], float] = {}
        for row in self.numbers:
            if row["error"] is None:
                key = row["pair"], row["retrieval"]
                best[key] = max(best.get(key, 0.0), row["p@1"])
        return best

    def notes(self) -> list[str]:
        """Say what was fitted, and what stars mean."""
        notes = self.fit_notes()
        if any(is_significant(row) for row in [*self.numbers, *self.task_rows]):
            notes.append(
                f"* luck hardly explains the difference from {self.baseline}: p < {SIGNIFICANT} in "
                "a paired test, adjusted for the number of mappers (Holm)."
            )
        return notes

    def fit_notes(self) -> list[str]:
        """Say what was fitted, where it could have been something else."""
        notes = []
        if self.each_pair:
            notes.append("Every pair of languages was fitted alone.")
        elif len(self.languages) > 2:
            notes.append(
                f"All {len(self.languages)} languages were fitted together, into one space. "
                "--each-pair (in Python, each_pair=True) fits every pair alone."
            )
        used = {run.label: run.pairs_used for run in self.runs if run.pairs_used is not None}
        if 0 in used.values():
            counts = ", ".join(f"{label} {count:,}" for label, count in used.items())
            notes.append(f"Pairs used: {counts}.")
        return notes

    def to_html(self, provenance: Provenance | None = None) -> str:
        """Return one page of HTML with tables and charts that needs no network.

        Parameters
        ----------
        provenance
            The files and the command behind the numbers, for the page's last section; by default
            the files that the comparison was made from.
        """
        from geomm_plugin.views.report import make_page

        return make_page(self, provenance or self.provenance)

    def cells(self) -> list[list[Cell]]:
        """Return header and rows of translation as short texts."""
        return word_cells(self._words, self.numbers)

    def paper_cells(self) -> list[list[Cell]]:
        """Return P@1 in percent, a row for each mapper and retrieval, a column for each pair."""
        return word_paper_cells(self.numbers)

    def more_cells(self) -> list[list[list[Cell]]]:
        """Return a table for each task."""
        return [task_cells(score, rows, self.baseline) for score, rows in self.tasks]

    def more_paper_cells(self) -> list[list[list[Cell]]]:
        """Return a table for each task, its main score in percent."""
        return [task_paper_cells(score, rows) for score, rows in self.tasks]

    def table(self) -> list[list[str]]:
        """Return header and rows of translation as short texts."""
        return [[cell.text + cell.after for cell in line] for line in self.cells()]

    def __str__(self) -> str:
        """Return the tables in columns; long reasons stand whole below them."""
        reasons = [f"{run.label}: {one_line(run.error)}" for run in self.runs if run.error]
        reasons += [
            f"{run.label}, {score.task}: {one_line(score.error)}"
            for run in self.runs
            for score in run.tasks
            if score.error is not None
        ]
        tables = [word_cells(self._words, self.numbers, WIDEST_REASON)]
        for score, rows in self.tasks:
            tables.append(task_cells(score, rows, self.baseline, WIDEST_REASON))
        shown = "\n\n".join(map(text_of_cells, tables))
        return "\n".join([shown, *self.notes(), *reasons])
