"""Where something was read from: the file's path, its size and what was in it.

What was read carries this along, so that a report can name its files without reading them again: a
pipe (`<(head -500 pairs.txt)`) can be read but once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from geomm_plugin.errors import FileError
from geomm_plugin.files.stamps import Stamp, files_in, sha256_of, stamps


@dataclass(frozen=True)
class SourceFile:
    """A file, or a folder, that was read; `size` is in bytes, None for a pipe."""

    path: str
    size: int | None
    content: str  # e.g. "5,000 pairs", "200,000 words x 300"
    # The files as they were on disk: whether they can be read again as they were.
    parts: tuple[tuple[Path, Stamp], ...] = field(default=(), repr=False)
    encoding: str | None = None  # of its text, where it was named

    @classmethod
    def read_from(
        cls,
        path: Path,
        content: str,
        parts: Iterable[Path] | None = None,
        encoding: str | None = None,
    ) -> SourceFile:
        """Describe what was just read.

        Parameters
        ----------
        parts
            The files that were looked into, where they are not the path itself.
        """
        inside = [file for part in ([path] if parts is None else parts) for file in files_in(part)]
        known = [(file, stamp) for file, stamp in stamps(inside).items() if stamp is not None]
        if len(known) < len(set(inside)):  # a pipe
            known = []
        size = sum(stamp.size for _, stamp in known) if known else None
        return cls(str(path), size, content, tuple(known), encoding)

    def is_current(self) -> bool:
        """True if the files are still as they were; of a pipe nothing is known."""
        return stamps(path for path, _ in self.parts) == dict(self.parts)

    def sha256(self) -> str | None:
        """Return the checksum of the bytes on disk; None for a pipe, and for what has changed.

        Of several files, it is the checksum of their checksums, one a line, in order.
        """
        if not self.parts or not self.is_current():
            return None
        try:
            sums = [sha256_of(path) for path, _ in self.parts]
        except FileError:
            return None
        if len(sums) == 1:
            return sums[0]
        return hashlib.sha256("".join(f"{one}\n" for one in sums).encode()).hexdigest()
