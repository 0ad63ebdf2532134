"""[evaluate] Scores of one space on several tests, as a table with the mean over pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from geomm_plugin.evaluation.provenance import Provenance, mapper_columns
from geomm_plugin.evaluation.runs import AVERAGE
from geomm_plugin.evaluation.tables import Cell, Table
from geomm_plugin.fit_report import report_of
from geomm_plugin.mapper import Mapper

HIDDEN = ("task",)  # columns that are the same in every row


@dataclass(frozen=True, eq=False)
class Scores(Table):
    """Numbers of one space, one row for each test: what evaluations' row() and rows() give."""

    numbers: tuple[Mapping[str, Any], ...]
    mapper: Mapper | None = None  # whose space it is, if it was made here
    provenance: Provenance = field(default_factory=Provenance)

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """One JSON-like object for each test, with the mean over pairs of languages."""
        about: dict[str, Any] = {}
        if self.mapper is not None:
            about = mapper_columns(self.mapper.get_params(), report_of(self.mapper))
        return [row | about | self.provenance.columns() for row in self._plain()]

    def cells(self) -> list[list[Cell]]:
        """Return header and rows as short texts."""
        rows = self._plain()
        shown = [name for name in rows[0] if name not in (*HIDDEN, "mapper")] if rows else []
        header = [Cell(name) for name in shown]
        return [header, *([_cell(row[name]) for name in shown] for row in rows)]

    def _plain(self) -> list[dict[str, Any]]:
        names = dict.fromkeys(name for row in self.numbers for name in row)
        named = {"mapper": None if self.mapper is None else self.mapper.name} | dict.fromkeys(names)
        return [named | row for row in with_averages(self.numbers)]


def with_averages(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Add the mean over pairs, where one retrieval was scored on several."""
    averaged = [dict(row) for row in rows]
    by_retrieval: dict[str, list[dict[str, Any]]] = {}
    for row in averaged:
        if "retrieval" in row and "n_words" in row:  # translation; other tasks have other means
            by_retrieval.setdefault(row["retrieval"], []).append(row)
    for same in by_retrieval.values():
        if len(same) > 1:
            columns = {
                name: [row[name] for row in same if row.get(name) is not None] for name in same[0]
            }
            mean = {name: _mean(name, values) for name, values in columns.items()}
            averaged.append(mean | {"pair": AVERAGE, "retrieval": same[0]["retrieval"]})
    return averaged


def _mean(name: str, values: list[Any]) -> Any:
    """Return the mean of scores, the sum of numbers of words; other columns have none."""
    if name.startswith("n_words"):
        return sum(values)
    numbers = [value for value in values if isinstance(value, float)]
    return sum(numbers) / len(numbers) if numbers else None


def _cell(value: object) -> Cell:
    if value is None:
        return Cell("", number=True)
    if isinstance(value, float):
        return Cell(f"{value:.3f}", number=True)
    return Cell(str(value), number=isinstance(value, int))
