"""A file that several processes write at once, each of its parts behind the one before.

    begin of part n = end of part n - 1      FILE.ends holds the ends that are known

Whoever has made a part waits until the end of the part before is known, tells its own, and writes.
So nothing is copied to be joined, and the file is the same whoever was faster. A part may be put
twice, by who takes the place of a process that was killed: its bytes and its place are the same.

Parts must be begun in their order, or nobody might be left to end the wait; and all processes must
be on one machine, where what one has written is there for the others at once. A part that cannot be
made gives up its turn, so that those behind it do not wait.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from geomm_plugin.errors import WorkError
from geomm_plugin.files import disk

_ENTRY = struct.Struct("<qq")  # an end, and all its bits turned over: an entry that is whole
_GIVEN_UP = -1
_LOOK_EVERY = 0.002  # seconds

CAN_WRITE_AT = hasattr(os, "pwrite")  # Windows has no such call


@dataclass(frozen=True)
class FileInTurns:
    """A file in parts, numbered from 0; it can be sent to other processes."""

    path: Path

    @classmethod
    def create(cls, path: Path, head: bytes = b"") -> FileInTurns:
        """Make a file with what stands before the first part."""
        disk.write_file(path, head)
        file = cls(path)
        disk.write_file(file._ends, _entry(len(head)))
        return file

    def put(self, number: int, pieces: Sequence[bytes | memoryview]) -> int:
        """Write a part, in several pieces, when it is its turn; return where it ends."""
        begin = self._end_before(number)
        end = begin + sum(map(len, pieces))
        self._tell(number, end)
        disk.write_at(self.path, begin, pieces)
        return end

    @contextmanager
    def turn(self, number: int) -> Iterator[None]:
        """Give up the turn of a part that is made and put in a `with` block, if either fails."""
        try:
            yield
        except BaseException:
            self._tell(number, _GIVEN_UP)
            raise

    @property
    def _ends(self) -> Path:
        return self.path.with_name(f"{self.path.name}.ends")

    def _tell(self, number: int, end: int) -> None:
        disk.write_at(self._ends, (number + 1) * _ENTRY.size, [_entry(end)])

    def _end_before(self, number: int) -> int:
        with self._ends.open("rb", buffering=0) as file:
            while True:
                entry = os.pread(file.fileno(), _ENTRY.size, number * _ENTRY.size)
                if len(entry) == _ENTRY.size:
                    end, turned_over = _ENTRY.unpack(entry)
                    if turned_over == ~end:
                        break
                time.sleep(_LOOK_EVERY)
        if end == _GIVEN_UP:
            raise WorkError(f"{self.path}: the part before part {number} could not be made.")
        return int(end)


def _entry(end: int) -> bytes:
    return _ENTRY.pack(end, ~end)
