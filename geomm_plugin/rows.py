"""[read] Rows of numbers, made when they are asked for.

What a word goes through, from a file to a search, is a chain of functions of its row:

    Rows(array)  or  Rows.of_file(path)  ->  .map(normalize)  ->  .map(transform)  ->  .map(unit)

Nothing is computed before somebody asks, and then for the rows that were asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.lib.mixins import NDArrayOperatorsMixin

from geomm_plugin.arrays import BLOCK_ROWS, Matrix, RowIndices, slices
from geomm_plugin.errors import FileError

RowFunction: TypeAlias = Callable[[Matrix], Matrix]  # of each row by itself


class Rows(NDArrayOperatorsMixin):
    """A table of rows: `take(numbers)` makes some, `blocks()` all in turn, `all()` one array.

    It can be asked for rows as an array (`rows[3:9]`), and numpy takes it for the array of all
    rows, so that `rows @ query`, `rows.T` or `rows.mean(axis=0)` work.

    Parameters
    ----------
    source
        An array, which is not copied, a table in a file; or other rows, with a function.
    function
        What is done to rows of the source, in blocks of any size; nothing by default.
    keep
        Keep all rows once they were made.
    """

    ndim = 2
    is_finite = False  # whether every number is known to be finite

    def __init__(self, source: Any, function: RowFunction | None = None, *, keep: bool = False):
        self.source = source if function is None else Rows.of(source)
        self.function = function
        self.keep = keep
        self._kept: Matrix | None = None
        self._grams: dict[int, Matrix] = {}

    @classmethod
    def of(cls, vectors: Matrix | Rows) -> Rows:
        """Return rows themselves, or those of an array."""
        return vectors if isinstance(vectors, Rows) else cls(vectors)

    @classmethod
    def of_file(cls, path: Path) -> Rows:
        """Return the rows of a .npy file, which is mapped into memory only while rows are used.

        So what was read once does not count as memory, and another process gets the path alone.
        """
        return cls(_RowFile(path))

    @cached_property
    def shape(self) -> tuple[int, int]:
        """How many rows, of how many numbers."""
        return (len(self.source), int(self._form.shape[1]))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        dtype: np.dtype[Any] = self._form.dtype
        return dtype

    @cached_property
    def _form(self) -> Any:
        """What has as many columns, of the same type, as the rows: the source, or a row made."""
        return self.source if self.function is None else self.function(self._given(slice(0, 1)))

    @property
    def stored(self) -> Matrix | None:
        """All rows where they lie, in memory or in a file; None if they are yet to be made."""
        if self.function is not None:
            return self._kept
        table: Matrix = self.source if isinstance(self.source, np.ndarray) else self.source[:]
        return table

    @property
    def raw(self) -> Rows:
        """The rows at the beginning of the chain, before any function."""
        return self if self.function is None else self.source.raw

    @property
    def functions(self) -> list[RowFunction]:
        """The functions that raw rows go through, the first one first."""
        return [] if self.function is None else [*self.source.functions, self.function]

    def on(self, raw: Rows) -> Rows:
        """Return what the same functions make of other raw rows, such as one of a new word."""
        if self.function is None:
            return raw
        return self.source.on(raw).map(self.function, keep=self.keep)

    def take(self, rows: RowIndices | slice) -> Matrix:
        """Return some rows as an array; no others are made."""
        if self._kept is not None:
            return self._kept[rows]
        given = self._given(rows)
        return given if self.function is None else self.function(given)

    def blocks(self, size: int = BLOCK_ROWS) -> Iterator[Matrix]:
        """Go through all rows in order, some at a time."""
        for part in slices(len(self), size):
            yield self.take(part)

    def all(self) -> Matrix:
        """Return all rows as one array; made once, where they are kept."""
        stored = self.stored
        if stored is not None:
            return stored
        made = np.empty(self.shape, self.dtype)
        for part in slices(len(self), BLOCK_ROWS):
            made[part] = self.take(part)
        if self.keep:
            self._kept = made
        return made

    def map(self, function: RowFunction, *, keep: bool = False) -> Rows:
        """Return the rows that a function makes of these, when they are asked for."""
        return Rows(self, function, keep=keep)

    def select(self, rows: RowIndices | slice) -> Rows:
        """Return some of the rows, still to be made."""
        table = self.source
        if self.function is None:
            selected = Rows(table[rows] if isinstance(table, np.ndarray) else table.select(rows))
        else:
            selected = Rows(table.select(rows), self.function, keep=self.keep)
            selected._kept = None if self._kept is None else self._kept[rows]
        selected.is_finite = self.is_finite
        return selected

    def gram(self, count: int) -> Matrix:
        """Return the sum of x x' over the first rows, in float64; worked out once."""
        count = min(count, len(self))
        if count not in self._grams:
            total = np.zeros((self.shape[1], self.shape[1]))
            for part in slices(count, BLOCK_ROWS):
                block = self.take(np.arange(part.start, part.stop)).astype(np.float64)
                total += block.T @ block
            self._grams[count] = total
        return self._grams[count]

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, rows: Any) -> Any:
        if isinstance(rows, (int, np.integer)):
            return self.take(np.array([rows]))[0]
        if isinstance(rows, tuple) and rows and isinstance(rows[0], slice):
            return self.take(rows[0])[(slice(None), *rows[1:])]  # whole rows first, then columns
        if isinstance(rows, tuple) or rows is None or rows is Ellipsis:
            return self.all()[rows]
        return self.take(rows)

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        array = np.asarray(self.all(), dtype)
        return array.copy() if copy else array

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        arrays = (value.all() if isinstance(value, Rows) else value for value in inputs)
        return getattr(ufunc, method)(*arrays, **options)

    def __getattr__(self, name: str) -> Any:
        if hasattr(type(self), name):  # a property of ours, which raised an AttributeError
            return object.__getattribute__(self, name)
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(f"Rows have no attribute {name!r}.")
        return getattr(self.all(), name)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} x {self.shape[1]}>"

    def _given(self, rows: RowIndices | slice) -> Matrix:
        """Return some rows of the source."""
        given: Matrix = self.source[rows] if self.function is None else self.source.take(rows)
        return given


class _RowFile:
    """Rows of a .npy file: the file is mapped anew each time, and let go with the rows."""

    def __init__(self, path: Path, part: slice = slice(None)):
        self.path = path
        self.part = part

    @cached_property
    def shape(self) -> tuple[int, int]:
        shape: tuple[int, int] = self[:].shape
        return shape

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        return self[:].dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: RowIndices | slice) -> Matrix:
        try:
            every: Matrix = np.asarray(np.load(self.path, mmap_mode="r"))
        except ValueError as error:
            raise FileError(
                f"{self.path} was cut off while it was in use. Run it again."
            ) from error
        return every[self.part][rows]

    def select(self, rows: RowIndices | slice) -> _RowFile | Matrix:
        """Return some rows: still in the file, if they are the first choice from it."""
        if isinstance(rows, slice) and self.part == slice(None):
            return _RowFile(self.path, rows)
        return self[rows]
