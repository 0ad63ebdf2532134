"""The words and vectors of a language, on disk for as long as a run lasts.

    STEM.rows   the vectors, one row after the other
    STEM.words  the words in UTF-8, one after the other
    STEM.ends   int64: where each word ends

Whoever has the path can read any rows, so that work on a language can be done in parts anywhere,
and nobody has to hold all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import accumulate
from pathlib import Path
from secrets import token_hex
from types import MappingProxyType
from typing import Any, BinaryIO, overload

import numpy as np
import numpy.typing as npt

from geomm_plugin.arrays import BLOCK_ROWS, Matrix, RowIndices, slices
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.files import disk
from geomm_plugin.files.packed_words import ENCODING, unpack_words
from geomm_plugin.files.rows_on_disk import RowsOnDisk
from geomm_plugin.files.turns import FileInTurns
from geomm_plugin.rows import Rows

_ROWS, _WORDS, _ENDS = ".rows", ".words", ".ends"


def new_path(folder: Path, name: str) -> Path:
    """Return a path that nobody else writes to, not even an earlier attempt at the same work."""
    return folder / f"{name}.{token_hex(8)}"


class WordsOnDisk(Sequence[str]):
    """Words that are read when they are asked for."""

    def __init__(self, stem: str, count: int):
        self._text = Path(f"{stem}{_WORDS}")
        self._ends = RowsOnDisk(Path(f"{stem}{_ENDS}"), (count, 1), np.int64)

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, rows: int) -> str: ...
    @overload
    def __getitem__(self, rows: slice) -> list[str]: ...
    def __getitem__(self, rows: int | slice) -> str | list[str]:
        if isinstance(rows, slice):
            start, stop, step = rows.indices(len(self))
            if step != 1:
                return [self[row] for row in range(start, stop, step)]
            return self._read(start, max(start, stop))
        row = range(len(self))[rows]
        return self._read(row, row + 1)[0]

    def __iter__(self) -> Iterator[str]:
        for rows in slices(len(self), BLOCK_ROWS):
            yield from self[rows]

    def _read(self, start: int, stop: int) -> list[str]:
        if start == stop:
            return []
        first = max(0, start - 1)
        bounds = self._ends[first:stop].ravel().astype(np.int64)
        bounds = bounds if start else np.concatenate([np.zeros(1, np.int64), bounds])
        with self._text.open("rb") as file:
            file.seek(bounds[0])
            text = file.read(bounds[-1] - bounds[0])
        return unpack_words(text, bounds - bounds[0])


class RowOf(Mapping[str, int]):
    """The row of each word; those of words that were looked up are known, others take a pass."""

    def __init__(self, words: WordsOnDisk):
        self._words = words
        self._known: dict[str, int | None] = {}
        self._every: dict[str, int] | None = None

    def look_up(self, words: Iterable[str]) -> None:
        """Find the rows of some words in one pass, if any is new; forget what else was known."""
        before, self._known = self._known, dict.fromkeys(words)
        new = self._known.keys() - before.keys()
        self._known |= {word: row for word, row in before.items() if word in self._known}
        if new:
            for row, word in enumerate(self._words):
                if word in new:
                    self._known[word] = row
        self._every = None

    def know(self, row_of: Mapping[str, int | None]) -> None:
        """Take in the rows of some words; None for those that have none."""
        self._known |= row_of

    def __getitem__(self, word: object) -> int:
        row = self._find(word)
        if row is None:
            raise KeyError(word)
        return row

    def __contains__(self, word: object) -> bool:
        return self._find(word) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __len__(self) -> int:
        return len(self._words)

    def _find(self, word: Any) -> int | None:
        if word in self._known:
            return self._known[word]
        if self._every is None:
            self._every = dict(zip(self._words, range(len(self._words)), strict=True))
        return self._every.get(word)


class Scratch(Embeddings):
    """Embeddings on disk; no word repeats.

    Parameters
    ----------
    shape, dtype
        Words and dimension, and the type of the numbers.
    is_finite
        Whether every number is known to be finite.
    """

    def __init__(
        self,
        stem: str,
        shape: tuple[int, int],
        dtype: str,
        attributes: Mapping[str, npt.NDArray[Any]] = MappingProxyType({}),
        is_finite: bool = False,
    ):
        self._arguments = (stem, shape, dtype, dict(attributes), is_finite)
        self.attributes = dict(attributes)
        self.subwords = None
        self.words = WordsOnDisk(stem, shape[0])
        self.rows = Rows(ScratchRows(Path(f"{stem}{_ROWS}"), shape, dtype))
        self.rows.is_finite = is_finite
        self._row_of = RowOf(self.words)

    def __reduce__(self) -> tuple[Any, ...]:
        return Scratch, self._arguments

    def look_up(self, words: Iterable[str]) -> None:
        """Find the rows of some words in one pass over all words, unless they are known."""
        self._row_of.look_up(words)

    def know(self, row_of: Mapping[str, int | None]) -> None:
        """Take in the rows of some words; None for those that have none."""
        self._row_of.know(row_of)

    @property
    def row_of(self) -> Mapping[str, int]:  # type: ignore[override]
        """The row of each word."""
        return self._row_of

    def head(self, count: int) -> Scratch:
        """Return the first words only."""
        if count >= len(self):
            return self
        stem, _, dtype, _, is_finite = self._arguments
        attributes = {name: array[:count] for name, array in self.attributes.items()}
        return Scratch(stem, (count, self.dimension), dtype, attributes, is_finite)

    def distinct(self) -> Scratch:
        """Return these: no word repeats."""
        return self


class ScratchRows(RowsOnDisk):
    """The rows of a scratch file; all of them at once are mapped into memory."""

    def __getitem__(self, rows: Any) -> Matrix:
        everything = isinstance(rows, slice) and rows == slice(None)
        return self.mapped() if everything else super().__getitem__(rows)

    def select(self, rows: RowIndices | slice) -> Matrix:
        """Return some of the rows."""
        return self.mapped()[rows]


def rows_in_turns(folder: Path) -> FileInTurns:
    """Return a file for the rows of a language, to be put there by several processes."""
    return FileInTurns.create(_rows_path(folder))


def _rows_path(folder: Path) -> Path:
    return Path(f"{new_path(folder, 'scratch')}{_ROWS}")


class ScratchWriter:
    """Writes the scratch files of a language, words and rows in order.

    Parameters
    ----------
    folder
        Where the files are made.
    others
        The file of rows, if others put them there.
    wanted
        Words that will be looked up.
    """

    def __init__(self, folder: Path, others: FileInTurns | None = None, wanted: Iterable[str] = ()):
        self._path = _rows_path(folder) if others is None else others.path
        self._stem = str(self._path).removesuffix(_ROWS)
        self._count = self._bytes = 0
        self._shape: tuple[int, npt.DTypeLike] = (0, np.float32)
        self._row_of: dict[str, int | None] = dict.fromkeys(wanted)
        self._put = 0  # rows by others so far, those that are left out included
        self._kept: list[slice] = []  # which of them are not
        self._files = ExitStack()
        self._words, self._ends = map(self._create, (_WORDS, _ENDS))
        self._rows = self._create(_ROWS) if others is None else None

    def __enter__(self) -> ScratchWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self._files.close()

    def add(self, words: Sequence[str], rows: Matrix) -> None:
        """Write words and their vectors; none, to say their form only."""
        self._shape = rows.shape[1], rows.dtype.newbyteorder("=")
        if len(rows):
            assert self._rows is not None
            self._rows.write(np.ascontiguousarray(rows, self._shape[1]).data)
            self._add_words(words)

    def add_part(
        self, words: Sequence[str], part: Path, kept: Iterable[slice], dimension: int
    ) -> None:
        """Write words, and some rows of float32 that are in a file already."""
        assert self._rows is not None
        row_bytes = 4 * dimension
        for rows in kept:
            size = (rows.stop - rows.start) * row_bytes
            disk.append(self._rows, part, rows.start * row_bytes, size)
        self._add_words(words)

    def add_put(self, words: Sequence[str], kept: Iterable[slice], count: int) -> None:
        """Write words; their rows are some of the next ones that others put there, so many."""
        self._kept += [slice(self._put + rows.start, self._put + rows.stop) for rows in kept]
        self._put += count
        self._add_words(words)

    def close(
        self,
        attributes: Mapping[str, npt.NDArray[Any]] = MappingProxyType({}),
        is_finite: bool = False,
    ) -> Scratch:
        """Return what was written."""
        self._files.close()
        dimension, dtype = self._shape
        if self._count < self._put:
            row_bytes = 4 * dimension
            bounds = [(rows.start * row_bytes, rows.stop * row_bytes) for rows in self._kept]
            disk.close_gaps(self._path, bounds)
        shape = (self._count, dimension)
        scratch = Scratch(self._stem, shape, np.dtype(dtype).str, attributes, is_finite)
        scratch.know(self._row_of)
        return scratch

    def _create(self, suffix: str) -> BinaryIO:
        return self._files.enter_context(disk.create(Path(f"{self._stem}{suffix}")))

    def _add_words(self, words: Sequence[str]) -> None:
        encoded = [word.encode(*ENCODING) for word in words]
        ends = np.fromiter(accumulate(map(len, encoded)), np.int64, len(encoded)) + self._bytes
        self._words.write(b"".join(encoded))
        self._ends.write(ends.tobytes())
        if self._row_of:
            for row, word in enumerate(words, self._count):
                if word in self._row_of:
                    self._row_of[word] = row
        self._count += len(encoded)
        self._bytes = int(ends[-1]) if len(ends) else self._bytes


def to_scratch(embeddings: Embeddings, folder: Path) -> Scratch:
    """Put words and vectors onto scratch files."""
    with ScratchWriter(folder) as writer:
        writer.add([], embeddings.rows.take(slice(0, 0)))
        start = 0
        for block in embeddings.blocks():
            writer.add(embeddings.words[start : start + len(block)], block)
            start += len(block)
        return writer.close(attributes=embeddings.attributes)
