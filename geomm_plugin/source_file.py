"""Where something was read from: the file's path, its size and what was in it.

What was read carries this along, so that a report can name its files without reading them again: a
pipe (`<(head -500 pairs.txt)`) can be read but once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_READ_AT_ONCE = 2**20  # bytes


@dataclass(frozen=True)
class SourceFile:
    """A file, or a folder, that was read; `size` is in bytes, None where a pipe does not tell."""

    path: str
    size: int | None
    content: str  # e.g. "5,000 pairs", "200,000 words x 300"
    # The parts as they were on disk, which tells whether they can be read again as they were.
    parts: tuple[tuple[str, int, int], ...] = field(default=(), repr=False)  # path, size, time

    @classmethod
    def read_from(cls, path: Path, content: str, parts: Iterable[Path] | None = None) -> SourceFile:
        """Describe what was just read.

        Parameters
        ----------
        parts
            The files that were looked into, where they are not the path itself.
        """
        stamps = _stamps([path] if parts is None else parts)
        size = sum(size for _, size, _ in stamps) if stamps else None
        return cls(str(path), size, content, stamps)

    def is_current(self) -> bool:
        """True if the parts are still as they were; of a pipe nothing is known."""
        return _stamps(Path(path) for path, _, _ in self.parts) == self.parts

    def sha256(self) -> str | None:
        """Return the checksum of the bytes on disk; None for a pipe, and for what has changed.

        Of several files, it is the checksum of their checksums, one a line, in order.
        """
        if not self.parts or not self.is_current():
            return None
        try:
            sums = [_checksum(Path(path)) for path, _, _ in self.parts]
        except OSError:
            return None
        if len(sums) == 1:
            return sums[0]
        return hashlib.sha256("".join(f"{one}\n" for one in sums).encode()).hexdigest()

    def row(self) -> dict[str, Any]:
        """Return all of it as one JSON object."""
        return {
            "path": self.path,
            "bytes": self.size,
            "content": self.content,
            "sha256": self.sha256(),
        }


def _stamps(paths: Iterable[Path]) -> tuple[tuple[str, int, int], ...]:
    """Return path, size and time of plain files, also of those in folders; none if one is not."""
    stamps = []
    try:
        for path in paths:
            inside = sorted(path.rglob("*")) if path.is_dir() else [path]
            for file in inside:
                if file.is_file():
                    known = file.stat()
                    stamps.append((str(file), known.st_size, known.st_mtime_ns))
                elif not file.is_dir():  # a pipe
                    return ()
    except OSError:
        return ()
    return tuple(stamps)


def _checksum(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_READ_AT_ONCE):
            digest.update(chunk)
    return digest.hexdigest()
