"""[read/export] Files that are read and written in parts, each by whoever is free."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from geomm_plugin.arrays import Matrix
from geomm_plugin.files import disk
from geomm_plugin.formats import Format


class IrregularFileError(Exception):
    """A file that must be read from its beginning, to be read right or to say what is wrong."""


@dataclass(frozen=True)
class Part:
    """What was read from a part of a file."""

    words: list[str]
    vectors: npt.NDArray[np.float32] | None  # None where they were put aside
    size: int  # bytes of the file
    blank: int = 0  # lines without a word
    is_whole: bool = True  # False: something in it cannot be read


class PartedFile(ABC):
    """A file that is read in parts: in any order, and put together in their own."""

    dimension: int

    @abstractmethod
    def parts(self) -> Iterator[Callable[[], Part]]:
        """Yield calls that read one part each; they can be sent to other processes."""

    @abstractmethod
    def needs_more(self) -> bool:
        """Tell whether `parts` is to be asked again, after all parts so far were added."""

    @abstractmethod
    def add(self, part: Part) -> list[slice]:
        """Take in the next part, in order; return which of its rows count.

        Raises
        ------
        IrregularFileError
            Where the file must be read from its beginning instead.
        """

    @abstractmethod
    def finish(self) -> None:
        """Check what only the whole file tells, and warn of what was left out."""


class PartwiseFormat(Format):
    """A format whose files can be read and written in parts."""

    @abstractmethod
    def in_parts(self, path: Path, max_words: int | None) -> PartedFile | None:
        """Return a file that can be read in parts; None for one that cannot."""

    @abstractmethod
    def stream(self, path: Path, max_words: int | None) -> Iterator[tuple[Sequence[str], Matrix]]:
        """Read a file from its beginning, some words and vectors at a time; no word repeats."""

    @abstractmethod
    def head(self, words: Sequence[str], dimension: int) -> bytes:
        """Return what stands before the first word of a file."""

    @abstractmethod
    def part(self, words: Sequence[str], rows: Matrix) -> Iterator[bytes]:
        """Yield what words and vectors become in the midst of a file, in pieces."""

    def is_sum_of_parts(self, path: Path) -> bool:
        """Tell whether a file is its head and its parts as they are, not compressed."""
        return True

    def join_parts(self, path: Path, head: bytes, parts: Iterable[Path]) -> None:
        """Make a file from its parts, as `write` would; each part is removed when it is there."""
        with disk.create(path) as stream:
            stream.write(head)
            for part in parts:
                disk.append(stream, part)
                disk.remove(part)
