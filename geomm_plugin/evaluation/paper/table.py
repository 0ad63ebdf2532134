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
from geomm_plugin.dictionary import Dictionary
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import ParameterError, did_you_mean
from geomm_plugin.evaluation.analogy import Analogy
from geomm_plugin.evaluation.comparison import compare
from geomm_plugin.evaluation.one_hop import one_hop
from geomm_plugin.evaluation.paper.data import PaperData
from geomm_plugin.evaluation.paper.published import (
    AVERAGE,
    UNMAPPED,
    Column,
    PaperTable,
    System,
    find_table,
    paper_tables,
)
from geomm_plugin.evaluation.similarity import Similarity
from geomm_plugin.evaluation.table import Cell, Cells, Table
from geomm_plugin.evaluation.task import Score, Task
from geomm_plugin.registry import as_mapper
from geomm_plugin.shared_space import SharedSpace

MAX_WORDS = 200_000  # of each language, as in the paper
DIGITS = {"table4": 2, "table5": 2}  # behind the point, as the paper has them; 1 elsewhere
FOLDER = " --folder "  # ends the names of languages in a line that fetches data
OF_PAPER = {"composition": "pivot_space"}  # how one_hop calls what the paper calls composition

Value: TypeAlias = float | str  # a number, or why there is none
Values: TypeAlias = dict[tuple[str, str], Value]  # by system and column


@dataclass(frozen=True, eq=False)
class TableOfPaper(Table):
    """A table of the paper: one row for each cell, with ours and the published number."""

    paper: PaperTable
    data: str
    numbers: list[dict[str, Any]]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One JSON-like object for each system and column.

        `difference` is ours less the published number; None also where the data are not the
        paper's. `missing` are the lines that would bring the data, `error` why there is no number.
        """
        return self.numbers

    def missing(self) -> list[str]:
        """Return the lines that would bring the data of empty cells, one for each data set."""
        parts: dict[tuple[str, str], list[str]] = {}
        for line in (line for row in self.rows for line in row["missing"]):
            command, _, folder = line.partition(FOLDER)
            geomm, fetch, name, *more = command.split()
            parts.setdefault((f"{geomm} {fetch} {name}", folder), []).extend(more)
        return [
            " ".join([command, *dict.fromkeys(names)]) + FOLDER + folder
            for (command, folder), names in parts.items()
        ]

    def cells(self) -> Cells:
        """Return header and rows as texts: ours, and what was published in brackets."""
        columns = list(dict.fromkeys(row["column"] for row in self.rows))
        lines: dict[str, list[Cell]] = {}
        for row in self.rows:
            lines.setdefault(row["system"], [Cell(row["system"])]).append(_cell(row))
        return [[Cell(title) for title in ("", *columns)], *lines.values()]

    def notes(self) -> list[str]:
        """Return why cells are empty though their data are there, a line for each reason."""
        columns: dict[tuple[str, str], list[str]] = {}
        for row in self.rows:
            if row["error"]:
                columns.setdefault((row["system"], row["error"]), []).append(row["column"])
        return [
            f"{system} ({', '.join(names)}): {error}" for (system, error), names in columns.items()
        ]

    def __str__(self) -> str:
        title = f"{self.paper.name}: {self.paper.title} ({self.paper.metric}; ours on {self.data})"
        return f"{title}\n{super().__str__()}"


def make_table(
    name: str,
    data: PaperData,
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
    missing = {column.name: data.missing(paper.kind, column) for column in columns}
    values: Values = {}
    groups = _groups([column for column in columns if not missing[column.name]], systems)
    with progress.task("Computing", len(groups), "columns") as advance:
        for together, fitted in groups:
            values |= _Fits(paper, data, together, max_words, jobs).values(fitted)
            advance(1, note=together[0].name)
    numbers = []
    for system in systems:
        own = [_row(paper, system, c.name, values, missing[c.name], data.own) for c in columns]
        numbers += own + ([_average(paper, system, own, data.own)] if paper.has_average else [])
    return TableOfPaper(paper, data.label, numbers)


def tables_with(pairs: Iterable[str], data: PaperData) -> dict[str, list[str]]:
    """Return the tables that have some of the columns, and which of them; without any, all."""
    asked, found = list(pairs), {}
    for name, paper in paper_tables().items():
        known = {column.name for column in data.columns(paper.kind, paper.columns)}
        if own := [pair for pair in asked if pair in known]:
            found[name] = own
    return found or dict.fromkeys(paper_tables(), asked)


@dataclass(frozen=True)
class _Fits:
    """What is fitted on the same data: the columns of one group."""

    paper: PaperTable
    data: PaperData
    columns: Sequence[Column]
    max_words: int | None
    jobs: int | None

    def values(self, systems: Sequence[System]) -> Values:
        """Fit systems, and score them on each column."""
        source = self.columns[0].data
        names = dict.fromkeys(name for column in self.columns for name in column.languages)
        embeddings = {n: self.data.embeddings(source, n, self.max_words) for n in names}
        train = {
            pair: self.data.dictionary(source, *pair, "train")
            for column in self.columns
            for pair in pairwise(column.languages)
        }
        if self.paper.kind == "one_hop":
            return self._one_hops(systems, embeddings, train)
        values: Values = {}
        for retrieval in dict.fromkeys(system.retrieval for system in systems):
            same = [system for system in systems if system.retrieval == retrieval]
            values |= self._compared(same, retrieval, embeddings, train)
        return values

    def _compared(
        self,
        systems: Sequence[System],
        retrieval: str,
        embeddings: Mapping[str, Embeddings],
        train: Mapping[tuple[str, str], Dictionary],
    ) -> Values:
        own = {system: self.data.mapper(system.mapper or UNMAPPED) for system in systems}
        mappers = list(dict.fromkeys(name for name in own.values() if name != UNMAPPED))
        scores: dict[str, Sequence[Score] | str] = {}
        if UNMAPPED in own.values():
            plain = SharedSpace(embeddings)
            scores[UNMAPPED] = [score for task in self._tasks() for score in task.score(plain)]
        if mappers:
            words = [] if self._tasks() else self.columns
            comparison = compare(
                mappers,
                embeddings,
                dict(train),
                {(c.languages[0], c.languages[-1]): self._test(c) for c in words},
                retrievals=[retrieval],
                metrics="p@1",
                tasks=self._tasks(),
                answers=0,
                jobs=self.jobs,
            )
            for name, run in zip(mappers, comparison.runs, strict=True):
                scores[name] = run.scores if run.error is None else run.error
        return {
            (system.name, column.name): self._value(column, scores[name])
            for system, name in own.items()
            for column in self.columns
        }

    def _tasks(self) -> list[Task]:
        """Return what tables other than those of translation score; they have one pair a fit."""
        (source, target), *_ = (column.languages for column in self.columns)
        if self.paper.kind == "similarity":
            return [Similarity({(source, target): self.data.similarity(source, target)})]
        return [Analogy({target: self.data.analogies()})] if self.paper.kind == "analogy" else []

    def _test(self, column: Column) -> Dictionary:
        source, *_, target = column.languages
        return self.data.dictionary(column.data, source, target, "test")

    def _value(self, column: Column, scores: Sequence[Score] | str) -> Value:
        """Return a column's score in the paper's unit, or why there is none."""
        if isinstance(scores, str):
            return scores
        of_column = (score for score in scores if score.about.get("pair") == column.name)
        score = next(of_column, scores[0])  # of analogies the first is that of all questions
        if score.error is not None:
            return score.error
        return score.scores[score.main] * (1 if self.paper.kind == "similarity" else 100)

    def _one_hops(
        self,
        systems: Sequence[System],
        embeddings: Mapping[str, Embeddings],
        train: Mapping[tuple[str, str], Dictionary],
    ) -> Values:
        (column,) = self.columns
        source, pivot, target = column.languages
        test = {(source, target): self._test(column)}
        values: Values = {}
        for name in dict.fromkeys(system.mapper for system in systems if system.mapper):
            same = [system for system in systems if system.mapper == name]
            ways = {s: OF_PAPER.get(str(s.method), str(s.method)) for s in same}
            mapper = as_mapper(self.data.mapper(name))
            scores: dict[str, Value] = {}
            try:
                if mapper.needs_dictionary:
                    methods = dict.fromkeys(ways.values())
                    table = one_hop(
                        embeddings,
                        dict(train),
                        test,
                        mappers=mapper,
                        pivot=pivot,
                        disjoint=True,
                        methods=methods,
                    )
                    scores = {r.about["method"]: 100 * r.scores["p@1"] for r in table.results}
                else:  # it needs no pivot
                    two = {language: embeddings[language] for language in (source, target)}
                    (run,) = compare(mapper, two, {}, test, metrics="p@1", answers=0).runs
                    scores["direct"] = run.error or 100 * run.scores[0].scores["p@1"]
            except Exception as failure:  # whatever it raises, the other cells go on
                scores = dict.fromkeys(ways.values(), f"{type(failure).__name__}: {failure}")
            values |= {(s.name, column.name): scores[w] for s, w in ways.items() if w in scores}
        return values


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


def _chosen_columns(paper: PaperTable, data: PaperData, names: list[str]) -> list[Column]:
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
    if not mappers:
        return list(paper.systems)
    found = []
    for mapper in dict.fromkeys(mappers):
        same = [
            system
            for system in paper.systems
            if system.mapper and mapper in (system.mapper, system.mapper.partition(":")[0])
        ]
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
    system: System,
    column: str,
    values: Values,
    missing: list[str],
    own: bool,
) -> dict[str, Any]:
    value = values.get((system.name, column))
    ours, error = (None, value) if isinstance(value, str) else (value, None)
    published = paper.published(system, column)
    return {
        "table": paper.name,
        "system": system.name,
        "column": column,
        "ours": ours,
        "published": published,
        "difference": _less(ours, published, own),
        "missing": missing if system.mapper else [],
        "error": error,
    }


def _average(
    paper: PaperTable, system: System, rows: list[dict[str, Any]], own: bool
) -> dict[str, Any]:
    """Return a system's average over the paper's columns, as published; else over those asked for.

    Ours is there only where no cell is empty.
    """
    names = {column.name for column in paper.columns}
    is_whole = names <= {row["column"] for row in rows}
    numbers = [row["ours"] for row in rows if row["column"] in names or not is_whole]
    ours = sum(numbers) / len(numbers) if numbers and None not in numbers else None
    published = system.average if is_whole else None
    named = {"table": paper.name, "system": system.name, "column": AVERAGE, "ours": ours}
    difference = _less(ours, published, own)
    return named | {"published": published, "difference": difference, "missing": [], "error": None}


def _less(ours: float | None, published: float | None, own: bool) -> float | None:
    return ours - published if own and ours is not None and published is not None else None


def _cell(row: dict[str, Any]) -> Cell:
    digits = DIGITS.get(row["table"], 1)
    ours = "-" if row["ours"] is None else f"{row['ours']:.{digits}f}"
    if row["published"] is None:
        return Cell(ours)
    gap = "" if row["difference"] is None else f"; {row['difference']:+.{digits}f}"
    return Cell(ours, after=f" ({row['published']:.{digits}f}{gap})")
