"""[evaluate] Computed cells in a file, so that a run goes on where another one stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from geomm_plugin.errors import FormatError
from geomm_plugin.files.outputs import make_folders

Score: TypeAlias = float | str  # a number, or why there is none
Scores: TypeAlias = dict[tuple[str, str], Score]  # by system and column


class ComputedRows:
    """Rows in a file, one JSON object a line: what was computed with the same data and limits."""

    def __init__(self, path: str | Path | None, settings: dict[str, Any]):
        self.path = None if path is None else Path(path)
        self.settings = settings

    def of_table(self, table: str) -> Iterator[tuple[tuple[str, str], float]]:
        """Go through the numbers of a table, by system and column."""
        if self.path is None or not self.path.exists():
            return
        whole = self.path.read_text(encoding="utf-8").rpartition("\n")[0]  # the last may be torn
        for number, line in enumerate(filter(None, whole.split("\n")), start=1):
            try:
                row = json.loads(line)
                key, value = (str(row["system"]), str(row["column"])), float(row["ours"])
                settings = {name: row[name] for name in ("table", *self.settings)}
            except (ValueError, KeyError, TypeError):
                raise FormatError(
                    f"{self.path}, line {number}: no row of a table. Delete the line, or name "
                    "another file."
                ) from None
            if settings == {"table": table} | self.settings:
                yield key, value

    def add(self, table: str, key: tuple[str, str], value: Score) -> None:
        """Add a row at the end, at once: a run that is stopped loses only what it works on."""
        if self.path is None or isinstance(value, str):
            return
        row = {"table": table, "system": key[0], "column": key[1], "ours": value} | self.settings
        make_folders(self.path.parent)
        with self.path.open("a+b") as stream:
            stream.seek(0)
            stream.truncate(stream.read().rfind(b"\n") + 1)  # without a line that a kill tore off
            stream.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
