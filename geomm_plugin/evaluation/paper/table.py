"""[evaluate] A table of the paper, made again by `compare` and `one_hop`.

Every cell is fitted as the paper says: a pair alone, with its own training dictionary; GeoMM_multi
on all columns at once; one-hop translation with training dictionaries that share no pivot word, and
composition in the pivot's own space, x W_1 W_2 z'. Cells whose files are missing stay empty, with
the line that would fetch them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

from geomm_plugin import progress
from geomm_plugin.errors import ParameterError, did_you_mean
from geomm_plugin.evaluation.comparison import compare
from geomm_plugin.evaluation.one_hop import one_hop
from geomm_plugin.evaluation.paper.data import Need, PaperFolder
from geomm_plugin.evaluation.paper.published import (
    AVERAGE,
    UNMAPPED,
    Column,
    PaperTable,
    System,
    find_table,
    paper_tables,
)
from geomm_plugin.evaluation.table import Cell, Cells, Table, crossed
from geomm_plugin.evaluation.task import Score
from geomm_plugin.registry import as_mapper
from geomm_plugin.shared_space import SharedSpace

MAX_WORDS = 200_000  # of each language, as in the paper
DIGITS = {"table4": 2, "table5": 2}  # behind the point, as the paper has them; 1 elsewhere
OF_PAPER = {"composition": "pivot_space"}  # how one_hop calls what the paper calls composition

Value: TypeAlias = float | str  # a number, or why there is none
Values: TypeAlias = dict[tuple[str, str], Value]  # by system and column


@dataclass(frozen=True, eq=False)
class TableOfPaper(Table):
    """A table of the paper: one row for each cell, with ours and the published number.

    `difference` is ours less the published number; None also where the data are not the paper's.
    `missing` are the lines that would bring the data, `error` why there is no number.
    """

    paper: PaperTable
    data: PaperFolder
    needs: tuple[Need, ...]  # the files that are missing
    rows: list[dict[str, Any]]

    def missing(self) -> list[str]:
        """Return the lines that would bring the data of empty cells, one for each data set."""
        return self.data.fetch_lines(self.needs)

    def cells(self) -> Cells:
        """Return header and rows as texts: ours, and what was published in brackets."""
        entries = [((row["system"],), row["column"], _cell(row)) for row in self.rows]
        return crossed(("",), entries)

    def notes(self) -> list[str]:
        """Return why cells are empty though their data are there, a line for each reason."""
        columns: dict[tuple[str, str], list[str]] = {}
        for row in self.rows:
            if row["error"]:
                columns.setdefault((row["system"], row["error"]), []).append(row["column"])
        return [f"{system} ({', '.join(n)}): {error}" for (system, error), n in columns.items()]

    def __str__(self) -> str:
        paper = self.paper
        title = f"{paper.name}: {paper.title} ({paper.metric}; ours on {self.data.label})"
        return f"{title}\n{super().__str__()}"


def make_table(
    name: str,
    data: PaperFolder,
    *,
    pairs: Iterable[str] = (),
    mappers: Iterable[str] = (),
    max_words: int | None = MAX_WORDS,
    jobs: int | None = None,
) -> TableOfPaper:
    """Make a table of the paper again.

    Parameters
    ----------
    name
        "table1" to "table8".
    data
        PaperFolder("data") with the files that `geomm fetch` brings, or the demo's.
    pairs
        Only these columns, e.g. "en-es"; of MUSE's, also pairs that the paper does not have.
    mappers
        Only the rows of these mappers; those that the paper does not have become rows of their own.
    jobs
        How many mappers are fitted at the same time, each in its own process.
    """
    paper = find_table(name)
    columns = _chosen_columns(paper, data, list(pairs))
    systems = _chosen_systems(paper, list(mappers))
    missing = {column: data.missing(paper.kind, column) for column in columns}
    values: Values = {}
    groups = _groups([column for column in columns if not missing[column]], systems)
    with progress.task("Computing", len(groups), "columns") as advance:
        for together, fitted in groups:
            values |= _Fits(paper, data, together, max_words, jobs).values(fitted)
            advance(1, note=together[0].name)
    rows = []
    names = {column.name for column in paper.columns}
    is_whole = names <= {column.name for column in columns}
    for system in systems:
        own = {column: values.get((system.name, column.name)) for column in columns}
        for column, value in own.items():
            lines = data.fetch_lines(missing[column]) if system.mapper else []
            published = paper.published(system, column.name)
            rows.append(_row(paper, data, system, column.name, value, published, lines))
        if paper.has_average:  # the published one belongs to rows with all columns only
            known = [v for column, v in own.items() if column.name in names or not is_whole]
            ours = [value for value in known if isinstance(value, float)]
            mean = sum(ours) / len(ours) if ours and len(ours) == len(known) else None
            published = system.average if is_whole else None
            rows.append(_row(paper, data, system, AVERAGE, mean, published))
    is_fitted = any(system.mapper for system in systems)
    needs = tuple(need for column in columns for need in missing[column]) if is_fitted else ()
    return TableOfPaper(paper, data, needs, rows)


def tables_with(pairs: Iterable[str], data: PaperFolder) -> dict[str, list[str]]:
    """Return the tables that have some of the columns, and which of them; without any, all."""
    wanted, found = list(pairs), {}
    for name, paper in paper_tables().items():
        known = {column.name for column in data.columns(paper.kind, paper.columns)}
        if own := [pair for pair in wanted if pair in known]:
            found[name] = own
    return found or dict.fromkeys(paper_tables(), wanted)


class _Fits:
    """What is fitted on the same data: a column alone, or all of them by a joint system."""

    def __init__(
        self,
        paper: PaperTable,
        data: PaperFolder,
        columns: Sequence[Column],
        max_words: int | None,
        jobs: int | None,
    ):
        self.kind, self.data, self.columns, self.jobs = paper.kind, data, columns, jobs
        source = columns[0].data
        names = dict.fromkeys(name for column in columns for name in column.languages)
        self.embeddings = {name: data.embeddings(source, name, max_words) for name in names}
        self.train = {
            pair: data.dictionary(source, *pair, "train")
            for column in columns
            for pair in pairwise(column.languages)
        }

    def values(self, systems: Iterable[System]) -> Values:
        """Fit systems, and score them on each column."""
        by = "mapper" if self.kind == "one_hop" else "retrieval"
        score = self._through_pivot if self.kind == "one_hop" else self._compared
        same: dict[str, list[System]] = {}
        for system in systems:
            same.setdefault(getattr(system, by), []).append(system)
        return {key: v for name, several in same.items() for key, v in score(name, several).items()}

    def _compared(self, retrieval: str, systems: Sequence[System]) -> Values:
        own = {system: self.data.mapper(system.mapper or UNMAPPED) for system in systems}
        tasks = [self.data.task(self.kind, column, retrieval) for column in self.columns]
        scores: dict[str, Sequence[Score] | str] = {}
        if UNMAPPED in own.values():
            plain = SharedSpace(self.embeddings)
            scores[UNMAPPED] = [score for task in tasks for score in task.score(plain)]
        if mappers := list(dict.fromkeys(name for name in own.values() if name != UNMAPPED)):
            found = compare(mappers, self.embeddings, self.train, {}, tasks=tasks, jobs=self.jobs)
            for name, run in zip(mappers, found.runs, strict=True):
                scores[name] = run.scores if run.error is None else run.error
        return {
            (system.name, column.name): self._value(column, scores[name])
            for system, name in own.items()
            for column in self.columns
        }

    def _value(self, column: Column, scores: Sequence[Score] | str) -> Value:
        """Return a column's score in the paper's unit, or why there is none."""
        if isinstance(scores, str):
            return scores
        of_column = (score for score in scores if score.about.get("pair") == column.name)
        score = next(of_column, scores[0])  # of analogies the first is that of all questions
        if score.error is not None:
            return score.error
        return score.scores[score.main] * (1 if self.kind == "similarity" else 100)

    def _through_pivot(self, name: str, systems: Sequence[System]) -> Values:
        (column,) = self.columns
        source, pivot, target = column.languages
        ways = {s: OF_PAPER.get(s.method or "", s.method or "") for s in systems}
        mapper = as_mapper(self.data.mapper(name))
        scores: Mapping[str, Value]
        try:
            if mapper.needs_dictionary:
                test = {(source, target): self.data.test(column)}
                options: dict[str, Any] = {"pivot": pivot, "disjoint": True}
                options["methods"] = dict.fromkeys(ways.values())
                table = one_hop(self.embeddings, self.train, test, mappers=mapper, **options)
                scores = {r.about["method"]: 100 * r.scores["p@1"] for r in table.scores}
            else:  # it needs no pivot
                two = {language: self.embeddings[language] for language in (source, target)}
                task = self.data.task("translation", column, "csls")
                (run,) = compare(mapper, two, {}, {}, tasks=task).runs
                scores = {"direct": run.error or 100 * run.scores[0].scores["p@1"]}
        except Exception as failure:  # whatever it raises, the other cells go on
            scores = dict.fromkeys(ways.values(), f"{type(failure).__name__}: {failure}")
        return {(s.name, column.name): scores[way] for s, way in ways.items() if way in scores}


def _groups(
    columns: list[Column], systems: list[System]
) -> list[tuple[list[Column], list[System]]]:
    """Return what is fitted on the same data: a pair alone, or all pairs of a joint system."""
    alone = [system for system in systems if system.mapper and not system.joint]
    groups = [([column], alone) for column in columns if alone]
    for system in systems:
        if system.mapper and system.joint:
            for data in dict.fromkeys(column.data for column in columns):
                groups.append(([column for column in columns if column.data == data], [system]))
    return groups


def _chosen_columns(paper: PaperTable, data: PaperFolder, names: list[str]) -> list[Column]:
    """Return the columns to make; MUSE has more pairs than the paper, each a column of its own."""
    columns = {column.name: column for column in data.columns(paper.kind, paper.columns)}
    first = paper.columns[0]
    for name in (name for name in names if name not in columns):
        languages = name.split("-")
        is_pair = len(set(languages)) == len(languages) == len(first.languages)
        if not (is_pair and first.data == "muse" and paper.kind in ("translation", "one_hop")):
            raise ParameterError(
                f"The table has no column {name!r}.{did_you_mean(name, columns)} It has: "
                f"{', '.join(columns)}."
            )
        columns[name] = Column(name, first.data)
    return [column for column in columns.values() if not names or column.name in names]


def _chosen_systems(paper: PaperTable, mappers: list[str]) -> list[System]:
    """Return the rows to make; a mapper that the paper does not have is a row of its own."""
    found = [] if mappers else list(paper.systems)
    for mapper in dict.fromkeys(mappers):
        same = [s for s in paper.systems if mapper in (s.mapper, (s.mapper or "").split(":")[0])]
        found += same or _own_rows(paper, mapper)
    return found


def _own_rows(paper: PaperTable, text: str) -> list[System]:
    mapper = as_mapper(text)
    if paper.kind != "one_hop":
        return [System(text, text, joint=mapper.joint)]
    if not mapper.needs_dictionary:
        return [System(text, text, method="direct")]
    methods = ("joint",) if mapper.joint else ("composition", "pipeline")
    return [System(f"{text}, {method}", text, method=method) for method in methods]


def _row(
    paper: PaperTable,
    data: PaperFolder,
    system: System,
    column: str,
    value: Value | None,
    published: float | None,
    missing: Sequence[str] = (),
) -> dict[str, Any]:
    ours, error = (None, value) if isinstance(value, str) else (value, None)
    difference = None
    if data.own and ours is not None and published is not None:
        difference = ours - published
    return {
        "table": paper.name,
        "system": system.name,
        "column": column,
        "ours": ours,
        "published": published,
        "difference": difference,
        "missing": list(missing),
        "error": error,
    }


def _cell(row: dict[str, Any]) -> Cell:
    digits = DIGITS.get(row["table"], 1)
    ours = "-" if row["ours"] is None else f"{row['ours']:.{digits}f}"
    if row["published"] is None:
        return Cell(ours)
    gap = "" if row["difference"] is None else f"; {row['difference']:+.{digits}f}"
    return Cell(ours, after=f" ({row['published']:.{digits}f}{gap})")
