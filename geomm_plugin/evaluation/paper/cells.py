"""[evaluate] Cells of the paper's tables, ours beside the published, and tables as text."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from geomm_plugin.evaluation.paper.published import PaperTable
from geomm_plugin.evaluation.table import markdown_table, text_table

DIGITS = {"table4": 2, "table5": 2}  # behind the point, as the paper has them; 1 elsewhere
FOLDER = " --folder "  # ends the names of languages in a line that fetches data


@dataclass(frozen=True)
class Cell:
    """One number of ours beside the paper's."""

    table: str
    system: str
    column: str
    ours: float | None
    published: float | None
    difference: float | None  # None also where the data are not the paper's
    missing: tuple[str, ...] = ()  # the lines that would bring the data
    error: str | None = None

    def row(self) -> dict[str, Any]:
        """Return the cell as one JSON object."""
        return asdict(self) | {"missing": list(self.missing)}


@dataclass(frozen=True)
class TableOfPaper:
    """A table of the paper, with our numbers beside the published ones."""

    paper: PaperTable
    data: str
    cells: tuple[Cell, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return one JSON object for each cell."""
        return [cell.row() for cell in self.cells]

    def missing(self) -> list[str]:
        """Return the lines that would bring the data of empty cells, one for each data set."""
        parts: dict[tuple[str, str], list[str]] = {}
        for line in (line for cell in self.cells for line in cell.missing):
            command, _, folder = line.partition(FOLDER)
            geomm, fetch, name, *more = command.split()
            parts.setdefault((f"{geomm} {fetch} {name}", folder), []).extend(more)
        return [
            " ".join([command, *dict.fromkeys(names)]) + FOLDER + folder
            for (command, folder), names in parts.items()
        ]

    def table(self) -> list[list[str]]:
        """Return header and rows as texts: ours, and what was published in brackets."""
        columns = list(dict.fromkeys(cell.column for cell in self.cells))
        lines: dict[str, dict[str, str]] = {}
        for cell in self.cells:
            lines.setdefault(cell.system, {})[cell.column] = _text(cell)
        return [["", *columns]] + [
            [system, *(cells.get(column, "") for column in columns)]
            for system, cells in lines.items()
        ]

    def to_markdown(self) -> str:
        """Return the table in Markdown."""
        return markdown_table(self.table())

    def to_json(self) -> str:
        """Return all cells as a JSON list."""
        return json.dumps(self.rows(), ensure_ascii=False, indent=1)

    def __str__(self) -> str:
        title = f"{self.paper.name}: {self.paper.title} ({self.paper.metric}; ours on {self.data})"
        return "\n".join([title, text_table(self.table()), *self.errors()])

    def errors(self) -> list[str]:
        """Return why cells are empty though their data are there, a line for each reason."""
        columns: dict[tuple[str, str], list[str]] = {}
        for cell in self.cells:
            if cell.error:
                columns.setdefault((cell.system, cell.error), []).append(cell.column)
        return [
            f"{system} ({', '.join(names)}): {error}" for (system, error), names in columns.items()
        ]


def _text(cell: Cell) -> str:
    digits = DIGITS.get(cell.table, 1)
    ours = "-" if cell.ours is None else f"{cell.ours:.{digits}f}"
    if cell.published is None:
        return ours
    gap = "" if cell.difference is None else f"; {cell.difference:+.{digits}f}"
    return f"{ours} ({cell.published:.{digits}f}{gap})"
