"""[evaluate] A table of the paper, made again.

Every cell is fitted as the paper says: a pair alone, with its own training dictionary; GeoMM_multi
on all columns at once; one-hop translation with training dictionaries that share no pivot word.
Cells whose files are missing stay empty, with the line that would fetch them. What was computed is
kept as rows, and not computed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from geomm_plugin import progress
from geomm_plugin.errors import ParameterError, did_you_mean
from geomm_plugin.evaluation.paper.cells import Cell, TableOfPaper
from geomm_plugin.evaluation.paper.computed_rows import ComputedRows, Scores
from geomm_plugin.evaluation.paper.data import PaperData
from geomm_plugin.evaluation.paper.fits import compute
from geomm_plugin.evaluation.paper.published import (
    AVERAGE,
    Column,
    PaperTable,
    System,
    find_table,
    paper_tables,
)
from geomm_plugin.evaluation.provenance import Provenance
from geomm_plugin.registry import as_mapper
from geomm_plugin.work import Job, process_pool

MAX_WORDS = 200_000  # of each language, as in the paper
Group: TypeAlias = tuple[list[Column], list[System]]  # systems, and the columns of one fit


def make_table(
    name: str,
    data: PaperData,
    *,
    pairs: Iterable[str] = (),
    mappers: Iterable[str] = (),
    max_words: int | None = MAX_WORDS,
    jobs: int = 1,
    results: str | Path | None = None,
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
        How many columns are worked on at the same time, each in its own process.
    results
        A file for computed rows; rows that it holds are not computed again.
    """
    paper = find_table(name)
    columns = _chosen_columns(paper, data, list(pairs))
    systems = _chosen_systems(paper, list(mappers))
    missing = {column.name: data.missing(paper.kind, column) for column in columns}
    there = [column for column in columns if not missing[column.name]]
    scores = _scores(paper, data, _groups(there, systems), max_words, jobs, results)
    cells = [
        _cell(paper, system, column.name, scores, missing[column.name], data.own)
        for system in systems
        for column in columns
    ]
    if paper.has_average:
        cells += _averages(paper, systems, cells, data.own)
    order = {system.name: number for number, system in enumerate(systems)}
    return TableOfPaper(paper, data.label, tuple(sorted(cells, key=lambda c: order[c.system])))


def tables_with(pairs: Iterable[str], data: PaperData) -> dict[str, list[str]]:
    """Return the tables that have some of the columns, and which of them; without any, all."""
    asked, found = list(pairs), {}
    for name, paper in paper_tables().items():
        known = {column.name for column in data.columns(paper.kind, paper.columns)}
        if own := [pair for pair in asked if pair in known]:
            found[name] = own
    return found or dict.fromkeys(paper_tables(), asked)


def _scores(
    paper: PaperTable,
    data: PaperData,
    groups: list[Group],
    max_words: int | None,
    jobs: int,
    results: str | Path | None,
) -> Scores:
    """Return the score of every cell: kept ones, and those that are computed now."""
    scores: Scores = {}
    work, places = [], []
    version = Provenance().versions["geomm-plugin"]
    for columns, systems in groups:
        made_from = data.stamp(paper.kind, columns)
        settings = {"made_from": made_from, "max_words": max_words, "version": version}
        kept = ComputedRows(results, settings)
        scores |= (known := dict(kept.of_table(paper.name)))
        new = [s for s in systems if any((s.name, column.name) not in known for column in columns)]
        if new:
            work.append((columns, new))
            places.append(kept)
    computed = _run(partial(compute, paper, data, max_words=max_words), work, jobs)
    for kept, found in zip(places, computed, strict=True):
        scores |= found
        for key, value in found.items():
            kept.add(paper.name, key, value)
    return scores


def _groups(columns: list[Column], systems: list[System]) -> list[Group]:
    """Return what is fitted on the same data: a pair alone, or all pairs of a joint system."""
    computed = [system for system in systems if system.mapper]
    alone = [system for system in computed if not system.joint]
    groups: list[Group] = [([column], alone) for column in columns]
    for system in (system for system in computed if system.joint):
        groups += [(part, [system]) for part in _by_data(columns)]
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
    for mapper in mappers:
        same = [s for s in paper.systems if s.mapper and mapper in (s.mapper, _name(s.mapper))]
        found += same or _own_rows(paper, mapper)
    return found


def _own_rows(paper: PaperTable, mapper: str) -> list[System]:
    joint = as_mapper(mapper).joint
    if paper.kind != "one_hop":
        return [System(mapper, mapper, joint=joint)]
    if not as_mapper(mapper).needs_dictionary:
        return [System(mapper, mapper, method="direct")]
    methods = ("joint",) if joint else ("composition", "pipeline")
    return [System(f"{mapper}, {method}", mapper, method=method) for method in methods]


def _name(mapper: str) -> str:
    return mapper.partition(":")[0]


def _by_data(columns: Sequence[Column]) -> list[list[Column]]:
    return [
        [column for column in columns if column.data == data]
        for data in dict.fromkeys(column.data for column in columns)
    ]


def _run(work: Any, groups: list[Group], jobs: int) -> Iterator[Scores]:
    """Compute groups of cells, in this process or in several."""
    if not groups:
        return
    with progress.task("Computing", len(groups), "columns") as advance:
        with process_pool(jobs) as pool:
            tasks = (Job(f"Computing {group[0][0].name}", work, group) for group in groups)
            for (columns, _), scores in zip(groups, pool.in_order(tasks), strict=True):
                yield scores
                advance(1, note=columns[0].name)


def _cell(
    paper: PaperTable, system: System, column: str, scores: Scores, missing: list[str], own: bool
) -> Cell:
    published = paper.published(system, column)
    score = scores.get((system.name, column))
    ours = None if isinstance(score, str) else score
    error = score if isinstance(score, str) else None
    needed = tuple(missing) if system.mapper else ()
    return Cell(
        paper.name, system.name, column, ours, published, _less(ours, published, own), needed, error
    )


def _averages(
    paper: PaperTable, systems: list[System], cells: list[Cell], own: bool
) -> Iterator[Cell]:
    """Yield each row's average over the paper's columns, as published; else over those asked for.

    Ours is there only where no cell is empty.
    """
    names = {column.name for column in paper.columns}
    is_whole = names <= {cell.column for cell in cells}
    for system in systems:
        numbers = [
            cell.ours
            for cell in cells
            if cell.system == system.name and (cell.column in names or not is_whole)
        ]
        known = [number for number in numbers if number is not None]
        ours = sum(known) / len(known) if known and len(known) == len(numbers) else None
        published = system.average if is_whole else None
        difference = _less(ours, published, own)
        yield Cell(paper.name, system.name, AVERAGE, ours, published, difference)


def _less(ours: float | None, published: float | None, own: bool) -> float | None:
    return ours - published if own and ours is not None and published is not None else None
