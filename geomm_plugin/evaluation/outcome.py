"""[evaluate] What comes out: scores of a space, and of mappers side by side, as tables.

There is one way from a `Score` to all that is shown: a row of numbers for each score. A comparison
has one table for each task, words first; `comparison.tables()` are their cells, and
`comparison.parts` what reports read: the rows of each task, and which of their columns is what.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from geomm_plugin.evaluation.provenance import Provenance, mapper_columns
from geomm_plugin.evaluation.runs import Run
from geomm_plugin.evaluation.significance import (
    DIFFERENCE,
    SIGNIFICANT,
    adjust,
    difference_columns,
    is_significant,
)
from geomm_plugin.evaluation.table import Cell, Cells, Table, places, text_of_cells
from geomm_plugin.evaluation.task import Score, averages
from geomm_plugin.evaluation.translation import WORDS, Evaluation
from geomm_plugin.fit_report import report_of
from geomm_plugin.mapper import Mapper
from geomm_plugin.text import terminal_width

WIDEST_REASON = 60  # characters of a failure's reason within a table of text; whole below it
REASON_ON_TERMINAL = 24
EMPTY = Cell("", number=True)
NOTHING = Evaluation(
    WORDS,
    {"pair": "", "retrieval": ""},
    {"p@1": 0.0},
    np.zeros(1),
    {"coverage": 0.0, "n_words": 0},
)


@dataclass(frozen=True, eq=False)
class TaskTable(Table):
    """The part of a comparison that is about one task: a row for each mapper and score.

    `rows` are the numbers; `about`, `main`, `others` and `details` name their columns: what a row
    is about (a pair, a retrieval), the score that mappers are compared by, the other scores, and
    what else a reader should know. `main_low` and `main_high` are the 95 % interval of the main
    score, where items are known; then also `difference` from the baseline, its interval, `p_value`
    and `p_holm`. `error` is the reason where a mapper failed, and its numbers are None.
    """

    task: str
    numbers: list[dict[str, Any]]
    about: tuple[str, ...]
    main: str
    others: tuple[str, ...]
    details: tuple[str, ...]
    baseline: str

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The numbers, one JSON-like object for each mapper and score."""
        return self.numbers

    @property
    def groups(self) -> list[str]:
        """The groups of words that P@1 is broken down by, each a score and a number of words."""
        names = (name.removeprefix("p@1 ") for name in self.details if name.startswith("p@1 "))
        return [name for name in names if f"n_words {name}" in self.details]

    @property
    def kinds(self) -> list[str]:
        """The columns behind the mapper's that say what a row is about."""
        task = [] if self.task == WORDS else ["task"]
        return list(dict.fromkeys([*task, *self.about]))

    @property
    def plain_details(self) -> list[str]:
        """The details without groups of words."""
        groups = {f"{what} {group}" for group in self.groups for what in ("p@1", "n_words")}
        return [name for name in self.details if name not in groups]

    def title(self, name: str) -> str:
        """Return the title of a column: P@1, MRR, words."""
        is_metric = self.task == WORDS and name in (self.main, *self.others)
        return name.upper() if is_metric else name.removeprefix("n_")

    def places(self, rows: Sequence[dict[str, Any]] | None = None) -> list[int | None]:
        """Return for each row whether its main score is the best (1) or second (2) of its kind."""
        rows = self.rows if rows is None else rows
        kinds: dict[Hashable, list[int]] = {}
        for number, row in enumerate(rows):
            if row["error"] is None:
                kinds.setdefault(tuple(row.get(name) for name in self.about), []).append(number)
        place_of: list[int | None] = [None] * len(rows)
        for numbers in kinds.values():
            ranked = places([rows[number][self.main] for number in numbers])
            for number, place in zip(numbers, ranked, strict=True):
                place_of[number] = place
        return place_of

    def cells(self, widest_reason: int | None = None) -> Cells:
        """Return header and rows as short texts; the best of a kind is marked.

        Parameters
        ----------
        widest_reason
            Reasons of failures are cut to one line of so many characters; by default they are
            whole.
        """
        lead = self.kinds
        cost = ["fit_seconds", "peak_memory_mb"] if self.task == WORDS else []
        header = ["mapper", *lead, f"{self.title(self.main)} [95 %]", f"against {self.baseline}"]
        header += [f"P@1 {group} (words)" for group in self.groups]
        header += [self.title(name) for name in (*self.others, *self.plain_details)]
        header += ["fit s", "fit MB"] if cost else []
        table = [[Cell(title) for title in header]]
        for row, place in zip(self.rows, self.places(), strict=True):
            line = [_mapper(row), *(Cell(row.get(name, "")) for name in lead)]
            if row["error"] is not None:
                line.append(Cell(one_line(row["error"], widest_reason)))
                table.append(line + [EMPTY] * (len(header) - len(line)))
                continue
            line += [_scored(row, self.main, place), _against(row)]
            line += [_group(row[f"p@1 {g}"], row[f"n_words {g}"]) for g in self.groups]
            line += [_number(row[name], ".3f") for name in self.others]
            form = ".3f" if self.task == WORDS else ".3g"
            line += [_number(row[name], form) for name in self.plain_details]
            line += [_number(row[n], form) for n, form in zip(cost, (".2f", ".0f"), strict=False)]
            table.append(line)
        return table

    def paper_tables(self) -> list[Cells]:
        """Return the main score in percent, a row for each mapper and retrieval."""
        ways = [name for name in self.about if name == "retrieval"]
        kinds = [name for name in self.about if name not in (*ways, "task")]
        lines: dict[tuple[str, ...], dict[str, Cell]] = {}
        for row, place in zip(self.rows, self.places(), strict=True):
            column = " to ".join(str(row.get(name, "")) for name in kinds)
            key = (*(str(row.get(name, "")) for name in ways), row["mapper"])
            lines.setdefault(key, {})[column] = _percent(row, self.main, place)
        columns = list(dict.fromkeys(column for line in lines.values() for column in line))
        order = list(dict.fromkeys(key[:-1] for key in lines))
        corner = "mapper" if self.task == WORDS else self.task
        return [
            [[Cell(title) for title in (corner, *ways, *columns)]]
            + [
                [Cell(key[-1]), *map(Cell, key[:-1]), *(lines[key].get(c, EMPTY) for c in columns)]
                for key in sorted(lines, key=lambda key: order.index(key[:-1]))
            ]
        ]


@dataclass(frozen=True, eq=False)
class Comparison(Table):
    """Mappers on the same data: `rows` holds all numbers, `runs` the words behind them.

    Reports read `parts`, one for each task, words first, and `part(name)`.
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
        provenance = {"each_pair": self.each_pair, "seed": self.seed} | self.provenance.columns()
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
        about = {name: None for score in self._known for name in score.about}
        adjust(rows, lambda row: (row["task"], *(row.get(name) for name in about)))
        return rows

    def _row(self, run: Run, score: Score, before: Score | None) -> dict[str, Any]:
        row = {"mapper": run.label, "task": score.task} | score.row(self.seed)
        row |= score.bounds(self.seed) | dict.fromkeys(DIFFERENCE)
        if run.error is not None:
            row = dict.fromkeys(row) | {"mapper": run.label, "task": score.task, **score.about}
        elif run.label != self.baseline:
            row |= _difference(score, before, self.seed)
        row |= run.cost() | {"baseline": self.baseline}
        return row if score.error is None else row | {"error": score.error}

    @cached_property
    def _known(self) -> tuple[Score, ...]:
        """A score of each kind that some mapper has, or should have."""
        scored = [score for run in self.runs for score in run.scores if score.error is None]
        known = [*self.expected, *scored, *averages({_key(s): s for s in scored}.values())]
        return tuple({_key(score): score for score in known or [NOTHING]}.values())

    def _scores_of(self, run: Run) -> list[Score]:
        """Return the scores of a run, with means; of one that failed, those of other runs."""
        scores = [*run.scores, *averages(run.scores)] if run.error is None else self._known
        return [
            replace(score, details=dict.fromkeys(self._details(score.task)) | dict(score.details))
            if score.error is None
            else score
            for score in scores
        ]

    def _details(self, task: str) -> list[str]:
        """Return the names of a task's details; some may be there for some scores only."""
        return list(dict.fromkeys(n for s in self._known if s.task == task for n in s.details))

    @cached_property
    def parts(self) -> list[TaskTable]:
        """The table of each task, words first; a task that failed for every mapper has none."""
        found = []
        for task in dict.fromkeys(row["task"] for row in self._numbers):
            scores = [score for score in self._known if score.task == task]
            if not scores:
                continue
            names = list(scores[0].scores)
            found.append(
                TaskTable(
                    task,
                    [row for row in self._numbers if row["task"] == task],
                    tuple(scores[0].about),
                    names[0],
                    tuple(names[1:]),
                    tuple(self._details(task)),
                    self.baseline,
                )
            )
        return found

    def part(self, task: str = WORDS) -> TaskTable:
        """Return the table of a task, by default of words; without rows if it was not scored."""
        empty = TaskTable(task, [], (), "p@1", (), (), self.baseline)
        return next((part for part in self.parts if part.task == task), empty)

    def run(self, label: str) -> Run:
        """Return the run of a mapper."""
        return next(run for run in self.runs if run.label == label)

    def best(self) -> dict[tuple[str, str], float]:
        """Return the highest P@1 of each (pair, retrieval)."""
        best: dict[tuple[str, str], float] = {}
        for row in self.part().rows:
            if row["error"] is None:
                key = row["pair"], row["retrieval"]
                best[key] = max(best.get(key, 0.0), row["p@1"])
        return best

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

    def cells(self) -> Cells:
        """Return header and rows of translation as short texts."""
        return self.part().cells()

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
        return "\n".join(["\n\n".join(tables), *self.notes(), *self._reasons()])

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
        return [row | about | self.provenance.columns() for row in self._numbers]

    def cells(self) -> Cells:
        """Return header and rows as short texts."""
        rows = self._numbers
        shown = [name for name in rows[0] if name not in ("task", "mapper")] if rows else []
        return [[Cell(name) for name in shown]] + [
            [_number(row[name], ".3f") for name in shown] for row in rows
        ]

    @cached_property
    def _numbers(self) -> list[dict[str, Any]]:
        rows = [score.row() for score in (*self.scores, *averages(self.scores))]
        names = dict.fromkeys(name for row in rows for name in row)
        named = {"mapper": None if self.mapper is None else self.mapper.name} | dict.fromkeys(names)
        return [named | row for row in rows]


def _key(score: Score) -> tuple[Hashable, ...]:
    return score.task, *score.about.items()


def _difference(score: Score, before: Score | None, seed: int) -> Mapping[str, float]:
    """Return the columns of a difference: the main score less the baseline's, paired by items."""
    if before is None or score.error is not None or before.error is not None:
        return {}
    ours, theirs = score.samples, before.samples
    if not ours or list(map(len, ours)) != list(map(len, theirs)):
        return {"difference": score.scores[score.main] - before.scores[before.main]}
    return difference_columns(ours, theirs, seed)


def one_line(text: str, widest: int | None = None) -> str:
    """Return a reason on one line, cut to so many characters."""
    line = " ".join(text.split())
    return line if widest is None or len(line) <= widest else line[: widest - 1].rstrip() + "…"


def _mapper(row: dict[str, Any]) -> Cell:
    name, bracket, parameters = row["mapper"].partition("(")
    return Cell(name, after=bracket + parameters)


def _scored(row: dict[str, Any], name: str, place: int | None) -> Cell:
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    interval = "" if low is None else f" [{low:.3f}, {high:.3f}]"
    return Cell(f"{row[name]:.3f}", place, interval, number=True)


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
    return Cell(f"{row['difference']:+.3f}", after=sure + star, number=True)


def _group(score: float | None, count: int) -> Cell:
    return EMPTY if score is None else Cell(f"{score:.3f}", after=f" ({count})", number=True)


def _number(value: object, form: str) -> Cell:
    if value is None:
        return EMPTY
    if isinstance(value, float):
        return Cell(f"{value:{form}}", number=True)
    return Cell(str(value), number=isinstance(value, int))
