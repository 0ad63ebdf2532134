"""[evaluate] What comes out: scores of a space, and of mappers side by side, as tables.

There is one way from a `Score` to all that is shown: a row of numbers for each score. A comparison
has one table for each task, words first; `comparison.tables()` are their cells, and
`comparison.parts` what reports read: the rows of each task, and which of their columns is what.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from geomm_plugin.evaluation.provenance import Provenance, mapper_columns
from geomm_plugin.evaluation.runs import Run
from geomm_plugin.evaluation.significance import (
    DIFFERENCE,
    SIGNIFICANT,
    adjust,
    difference_columns,
    is_significant,
)
from geomm_plugin.evaluation.table import (
    EMPTY,
    Cell,
    Cells,
    Table,
    cell_of,
    crossed,
    interval_cell,
    places,
    text_of_cells,
)
from geomm_plugin.evaluation.task import Score, averages
from geomm_plugin.evaluation.translation import WORDS, blank
from geomm_plugin.fit_report import report_of
from geomm_plugin.mapper import Mapper
from geomm_plugin.text import terminal_width

WIDEST_REASON = 60  # characters of a failure's reason within a table of text; whole below it
REASON_ON_TERMINAL = 24


@dataclass(frozen=True, eq=False)
class TaskTable(Table):
    """The part of a comparison that is about one task: a row for each mapper and score.

    `rows` are the numbers. `about` names the columns that say what a row is about (a pair, a
    retrieval), `main` the score that mappers are compared by; `main_low` and `main_high` are its
    95 % interval, where items are known. Then come `difference` from the baseline, its interval,
    `p_value` and `p_holm`. `error` is the reason where a mapper failed, and its numbers are None.
    """

    rows: list[dict[str, Any]]
    frame: Score  # a score of the task: its names are those of the columns
    baseline: str

    @property
    def task(self) -> str:
        """The name of the task."""
        return self.frame.task

    @property
    def about(self) -> list[str]:
        """The names of what a score is about."""
        return list(self.frame.about)

    @property
    def main(self) -> str:
        """The name of the score that mappers are compared by."""
        return self.frame.main

    @property
    def kinds(self) -> list[str]:
        """The columns behind the mapper's that say what a row is about."""
        return self.about if self.task == WORDS else list(dict.fromkeys(["task", *self.about]))

    def title(self, name: str) -> str:
        """Return the title of a column: P@1, MRR, words."""
        is_metric = self.task == WORDS and name in self.frame.scores
        return name.upper() if is_metric else name.removeprefix("n_")

    def places(self) -> list[int | None]:
        """Return for each row whether its main score is the best (1) or second (2) of its kind."""
        scores = (None if row["error"] is not None else row[self.main] for row in self.rows)
        return places(scores, [tuple(row.get(name) for name in self.about) for row in self.rows])

    def cells(self, widest_reason: int | None = None) -> Cells:
        """Return header and rows as short texts; the best of a kind is marked.

        Parameters
        ----------
        widest_reason
            Reasons of failures are cut to one line of so many characters; by default they are
            whole.
        """
        is_words, details = self.task == WORDS, list(self.frame.details)
        groups = [name.removeprefix("n_words ") for name in details if name.startswith("n_words ")]
        shown = {f"{what} {group}" for group in groups for what in ("p@1", "n_words")}
        columns = [(name, self.title(name), ".3f") for name in [*self.frame.scores][1:]]
        form = ".3f" if is_words else ".3g"
        columns += [(name, self.title(name), form) for name in details if name not in shown]
        if is_words:
            columns += [("fit_seconds", "fit s", ".2f"), ("peak_memory_mb", "fit MB", ".0f")]
        header = ["mapper", *self.kinds, f"{self.title(self.main)} [95 %]"]
        header += [f"against {self.baseline}", *(f"P@1 {group} (words)" for group in groups)]
        header += [title for _, title, _ in columns]
        table = [[Cell(title) for title in header]]
        for row, place in zip(self.rows, self.places(), strict=True):
            name, bracket, parameters = row["mapper"].partition("(")
            line = [Cell(name, after=bracket + parameters)]
            line += [Cell(row.get(name, "")) for name in self.kinds]
            if row["error"] is None:
                line += [interval_cell(row, self.main, place), _against(row)]
                line += [_group(row[f"p@1 {g}"], row[f"n_words {g}"]) for g in groups]
                line += [cell_of(row.get(name), form) for name, _, form in columns]
            else:
                line.append(Cell(one_line(row["error"], widest_reason)))
            table.append(line + [EMPTY] * (len(header) - len(line)))
        return table

    def paper_tables(self) -> list[Cells]:
        """Return the main score in percent, a row for each mapper and retrieval."""
        ways = [name for name in self.about if name == "retrieval"]
        kinds = [name for name in self.about if name not in (*ways, "task")]
        entries = [
            (
                (row["mapper"], *(str(row.get(name, "")) for name in ways)),
                " to ".join(str(row.get(name, "")) for name in kinds),
                _percent(row, self.main, place),
            )
            for row, place in zip(self.rows, self.places(), strict=True)
        ]
        order = list(dict.fromkeys(key[1:] for key, _, _ in entries))
        entries.sort(key=lambda entry: order.index(entry[0][1:]))
        return [crossed(("mapper" if self.task == WORDS else self.task, *ways), entries)]


@dataclass(frozen=True, eq=False)
class Comparison(Table):
    """Mappers on the same data: `rows` holds all numbers, `runs` the words behind them.

    Reports read `parts`, one for each task, words first.
    """

    runs: tuple[Run, ...]
    baseline: str
    seed: int = 0
    expected: tuple[Score, ...] = ()  # what a mapper that does not fail is scored on
    provenance: Provenance = field(default_factory=Provenance)
    each_pair: bool = False  # whether every pair of languages was fitted alone
    languages: tuple[str, ...] = ()

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """One JSON-like object for each mapper and score: of words first, then of other tasks.

        First the numbers (see `TaskTable`), then where they come from: the mapper's parameters, the
        lambda that it chose for each dictionary, whether pairs were fitted alone, the seed of
        intervals and tests, versions of packages, and the SHA-256 of every file.
        """
        about = {run.label: mapper_columns(run.parameters, run.report) for run in self.runs}
        provenance = {"each_pair": self.each_pair, "seed": self.seed} | self.provenance.columns
        return [row | about[row["mapper"]] | provenance for row in self._numbers]

    @cached_property
    def _numbers(self) -> list[dict[str, Any]]:
        scores_of = {run.label: self._scores_of(run) for run in self.runs}
        theirs = {_key(score): score for score in scores_of.get(self.baseline, ())}
        rows = [
            self._row(run, score, theirs.get(_key(score)))
            for is_words in (True, False)
            for run in self.runs
            for score in scores_of[run.label]
            if (score.task == WORDS) is is_words
        ]
        about = {name: None for score in self._frames for name in score.about}
        adjust(rows, lambda row: (row["task"], *(row.get(name) for name in about)))
        return rows

    def _row(self, run: Run, score: Score, before: Score | None) -> dict[str, Any]:
        row = {"mapper": run.label, "task": score.task} | score.row(self.seed)
        row |= score.bounds(self.seed) | dict.fromkeys(DIFFERENCE)
        if run.error is not None:
            row = dict.fromkeys(row) | {"mapper": run.label, "task": score.task, **score.about}
        elif run.label != self.baseline and before is not None:
            row |= _difference(score, before, self.seed)
        memory = None if run.peak_bytes is None else run.peak_bytes / 1e6
        row |= {"fit_seconds": run.fit_seconds, "peak_memory_mb": memory}
        return row | {"error": run.error or score.error, "baseline": self.baseline}

    @cached_property
    def _frames(self) -> list[Score]:
        """A score of each kind that some mapper has, or should have: what a table is about."""
        scored = [score for run in self.runs for score in run.scores if score.error is None]
        known = [*self.expected, *scored, *averages({_key(s): s for s in scored}.values())]
        return list({_key(score): score for score in known or [blank()]}.values())

    def _scores_of(self, run: Run) -> list[Score]:
        """Return the scores of a run, with means; of one that failed, those of other runs."""
        return [*run.scores, *averages(run.scores)] if run.error is None else self._frames

    @cached_property
    def parts(self) -> list[TaskTable]:
        """The table of each task, words first; a task that failed for every mapper has none."""
        frames = {score.task: score for score in reversed(self._frames)}
        return [
            TaskTable(
                [row for row in self._numbers if row["task"] == task], frames[task], self.baseline
            )
            for task in dict.fromkeys(row["task"] for row in self._numbers)
            if task in frames
        ]

    def notes(self) -> list[str]:
        """Say what was fitted, and what stars mean."""
        notes = self.fit_notes()
        if any(is_significant(row) for row in self._numbers):
            notes.append(
                f"* the difference from {self.baseline} is beyond chance: p < {SIGNIFICANT} in a "
                "paired test, adjusted for the number of mappers (Holm)."
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

    def to_html(self) -> str:
        """Return one page of HTML with tables and charts that needs no network."""
        from geomm_plugin.views.report import make_page

        return make_page(self)

    def tables(self) -> list[Cells]:
        """Return header and rows of each task."""
        return [part.cells() for part in self.parts]

    def paper_tables(self) -> list[Cells]:
        """Return the main score of each task in percent, a column for each pair."""
        return [cells for part in self.parts for cells in part.paper_tables()]

    def __str__(self) -> str:
        """Return the tables in columns; long reasons stand whole below them."""
        widest = WIDEST_REASON if terminal_width() is None else REASON_ON_TERMINAL
        tables = [
            text_of_cells(part.cells(widest), range(1, 1 + len(part.kinds))) for part in self.parts
        ]
        return "\n".join(filter(None, ["\n\n".join(tables), *self.notes(), *self._reasons()]))

    def _reasons(self) -> Iterator[str]:
        yield from (f"{run.label}: {one_line(run.error)}" for run in self.runs if run.error)
        for run in self.runs:
            for score in run.scores:
                if score.error is not None:
                    yield f"{run.label}, {score.task}: {one_line(score.error)}"


@dataclass(frozen=True, eq=False)
class Scores(Table):
    """The scores of one space, one row each, with means over pairs of languages."""

    scores: tuple[Score, ...]
    mapper: Mapper | None = None  # whose space it is, if it was made here
    provenance: Provenance = field(default_factory=Provenance)

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """One JSON-like object for each score."""
        about: dict[str, Any] = {}
        if self.mapper is not None:
            about = mapper_columns(self.mapper.get_params(), report_of(self.mapper))
        return [row | about | self.provenance.columns for row in self._numbers]

    def cells(self) -> Cells:
        """Return header and rows as short texts."""
        rows = self._numbers
        shown = [name for name in (rows[0] if rows else ()) if name not in ("task", "mapper")]
        return [[Cell(name) for name in shown], *([cell_of(row[n]) for n in shown] for row in rows)]

    @cached_property
    def _numbers(self) -> list[dict[str, Any]]:
        rows = [score.row() for score in (*self.scores, *averages(self.scores))]
        names = dict.fromkeys(name for row in rows for name in row)
        if "mapper" not in names:
            names = {"mapper": None if self.mapper is None else self.mapper.name, **names}
        return [names | row for row in rows]


def _key(score: Score) -> tuple[Hashable, ...]:
    return score.task, *score.about.items()


def _difference(score: Score, before: Score, seed: int) -> dict[str, float]:
    """Return the columns of a difference: the main score less the baseline's, paired by items."""
    if score.error is not None or before.error is not None:
        return {}
    ours, theirs = score.samples, before.samples
    if not ours or list(map(len, ours)) != list(map(len, theirs)):
        return {"difference": score.scores[score.main] - before.scores[before.main]}
    return difference_columns(ours, theirs, seed)


def one_line(text: str, widest: int | None = None) -> str:
    """Return a reason on one line, cut to so many characters."""
    line = " ".join(text.split())
    return line if widest is None or len(line) <= widest else line[: widest - 1].rstrip() + "…"


def _percent(row: dict[str, Any], name: str, place: int | None) -> Cell:
    if row["error"] is not None:
        return Cell("failed", number=True)
    star = "*" if is_significant(row) else ""
    return Cell(f"{100 * row[name]:.1f}", place, star, number=True)


def _against(row: dict[str, Any]) -> Cell:
    if row["difference"] is None:
        return EMPTY
    sure = "" if row["p_holm"] is None else f" (p = {row['p_holm']:.2g})"
    star = "*" if is_significant(row) else ""
    return Cell(f"{row['difference']:+z.3f}", after=sure + star, number=True)


def _group(score: float | None, count: int) -> Cell:
    return EMPTY if score is None else Cell(f"{score:.3f}", after=f" ({count})", number=True)
