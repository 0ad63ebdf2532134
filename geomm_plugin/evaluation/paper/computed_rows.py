"""[evaluate] Computed cells in a file, so that a run goes on where another one stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from geomm_plugin.errors import FileError, FormatError
from geomm_plugin.files.outputs import make_folders, place_of, refuse_folder

Score: TypeAlias = float | str  # a number, or why there is none
Scores: TypeAlias = dict[tuple[str, str], Score]  # by system and column

_BEGIN = b'{"table": '  # of every row


class ComputedRows:
    """Rows in a file, one JSON object a line: what was computed with the same data and limits.

    A file that holds other things is refused, and stays as it is.
    """

    def __init__(self, path: str | Path | None, settings: dict[str, Any]):
        self.path = None if path is None else place_of(Path(path))
        self.settings = settings

    def of_table(self, table: str) -> Iterator[tuple[tuple[str, str], float]]:
        """Go through the numbers of a table, by system and column."""
        if self.path is None or not os.path.lexists(self.path):
            return
        refuse_folder(self.path)
        if not self.path.is_file():
            raise FileError(f"{self.path} is no plain file, which rows could be read from again.")
        content = self.path.read_bytes()
        whole = content[: _end_of_rows(self.path, content)]
        for number, line in enumerate(filter(None, whole.split(b"\n")), start=1):
            try:
                row = json.loads(line)
                key, value = (str(row["system"]), str(row["column"])), float(row["ours"])
                settings = {"table": row["table"]} | {name: row.get(name) for name in self.settings}
            except (ValueError, KeyError, TypeError):
                raise _no_rows(self.path, number) from None
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
            stream.truncate(_end_of_rows(self.path, stream.read()))
            stream.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
            stream.flush()
            os.fsync(stream.fileno())


def _end_of_rows(path: Path, content: bytes) -> int:
    """Return where whole lines end; behind them may be a row that a kill tore off, nothing else."""
    end = content.rfind(b"\n") + 1
    rest = content[end:]
    if not (rest.startswith(_BEGIN) or _BEGIN.startswith(rest)):
        raise _no_rows(path, content.count(b"\n") + 1)
    return end


def _no_rows(path: Path, number: int) -> FormatError:
    return FormatError(
        f"{path}, line {number}: no row of a table. Delete the line, or name another file."
    )
