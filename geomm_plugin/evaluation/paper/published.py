"""[evaluate] The tables of the GeoMM paper, as they were published.

Jawanpuria, Balgovind, Kunchukuttan, Mishra: "Learning Multilingual Word Embeddings in Latent Metric
Space: A Geometric Approach", TACL 2019. The numbers are data (`published.json`), in the paper's own
rows, columns and units.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from geomm_plugin.errors import UnknownNameError, did_you_mean

FILE = Path(__file__).parent / "published.json"
AVERAGE = "avg."
UNMAPPED = "none"  # the mapper of a row that is about the original embeddings


@dataclass(frozen=True)
class Column:
    """A pair of languages (or a path of three) and the data set that it is tried on."""

    name: str
    data: str

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages, in the order of the name."""
        return tuple(self.name.split("-"))


@dataclass(frozen=True)
class System:
    """A row: what was published, and which of our mappers is the same method, if any."""

    name: str
    mapper: str | None
    published: tuple[float | None, ...] = ()  # by column; None where the paper has no number
    average: float | None = None
    retrieval: str = "csls"
    method: str | None = None  # of one-hop translation: composition, pipeline, joint, direct
    joint: bool = False  # whether one model is fitted on all columns at once


@dataclass(frozen=True)
class PaperTable:
    """One table of the paper."""

    name: str
    title: str
    kind: Literal["translation", "similarity", "analogy", "one_hop"]
    metric: str
    columns: tuple[Column, ...]
    systems: tuple[System, ...]

    @property
    def has_average(self) -> bool:
        """True if the paper has the average of some row."""
        return any(system.average is not None for system in self.systems)

    def published(self, system: System, column: str) -> float | None:
        """Return the paper's number in a cell, if it has one."""
        names = [known.name for known in self.columns]  # a system of one's own has no numbers
        known = dict(zip(names, system.published, strict=False)) | {AVERAGE: system.average}
        return known.get(column)


@cache
def paper_tables() -> dict[str, PaperTable]:
    """Return all tables by name: table1, table2, ..."""
    tables = {}
    for name, entry in json.loads(FILE.read_text(encoding="utf-8")).items():
        columns = tuple(Column(**column) for column in entry["columns"])
        systems = (row | {"published": tuple(row["published"])} for row in entry["systems"])
        entry |= {"columns": columns, "systems": tuple(System(**row) for row in systems)}
        tables[name] = PaperTable(name, **entry)
    return tables


def find_table(name: str) -> PaperTable:
    """Return a table of the paper."""
    known = paper_tables()
    if name not in known:
        raise UnknownNameError(
            f"The paper has no {name!r}.{did_you_mean(name, known)} There are: {', '.join(known)}."
        )
    return known[name]
