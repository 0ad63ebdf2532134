"""Rows of numbers in a plain file, read when they are asked for.

They are read, not mapped into memory: what a process has read once would count as its memory until
the system takes it back.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from geomm_plugin.arrays import BLOCK_ROWS, Matrix, RowIndices, slices
from geomm_plugin.errors import FileError

_NEAR = 8  # rows: it takes less time to read a few in between than to go to the next one


class RowsOnDisk:
    """A table on disk: `rows[5:9]`, `rows[array_of_numbers]`, `len(rows)`, `np.asarray(rows)`."""

    ndim = 2

    def __init__(self, path: Path, shape: tuple[int, int], dtype: npt.DTypeLike):
        self.path = path
        self.shape = shape
        self.dtype = np.dtype(dtype)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Matrix:
        if isinstance(rows, slice):
            start, stop, step = rows.indices(len(self))
            if step == 1:
                return self._read([(start, max(start, stop))])
            rows = np.arange(start, stop, step)
        numbers = np.asarray(rows)
        if numbers.dtype == bool:
            numbers = np.flatnonzero(numbers)
        if numbers.ndim == 0:
            one: Matrix = self._gather(numbers[None])[0]
            return one
        return self._gather(numbers)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Matrix:
        everything = self[:]
        return everything if dtype is None else everything.astype(dtype)

    def blocks(self, size: int = BLOCK_ROWS) -> Iterator[Matrix]:
        """Go through the rows in order, some at a time."""
        for rows in slices(len(self), size):
            yield self[rows]

    def mapped(self) -> Matrix:
        """Return the same as an array that is mapped into memory, for whoever needs an array."""
        if not self.shape[0] * self.shape[1]:
            return np.empty(self.shape, self.dtype)
        return np.asarray(np.memmap(self.path, self.dtype, "r", shape=self.shape))

    def _gather(self, rows: RowIndices) -> Matrix:
        """Return rows in any order; those near each other on disk are read at once."""
        if not len(rows):
            return self._read([])
        if rows.min() < -len(self) or rows.max() >= len(self):
            raise IndexError(f"There are {len(self)} rows; some of {rows} are none of them.")
        distinct, places = np.unique(
            np.where(rows < 0, rows + len(self), rows), return_inverse=True
        )
        bounds = np.flatnonzero(np.diff(distinct, prepend=-_NEAR - 1) > _NEAR).tolist()
        bounds.append(len(distinct))
        runs = [(int(distinct[a]), int(distinct[b - 1]) + 1) for a, b in pairwise(bounds)]
        begins = np.cumsum([0, *(stop - start for start, stop in runs[:-1])])
        shifts = np.repeat(begins - [start for start, _ in runs], np.diff(bounds))
        gathered: Matrix = self._read(runs)[(distinct + shifts)[places]]
        return gathered

    def _read(self, runs: list[tuple[int, int]]) -> Matrix:
        result = np.empty((sum(stop - start for start, stop in runs), self.shape[1]), self.dtype)
        done = 0
        with self.path.open("rb", buffering=0) as file:
            for start, stop in runs:
                part = result[done : done + stop - start]
                file.seek(start * self.shape[1] * self.dtype.itemsize)
                self._fill(file, part)
                done += len(part)
        return result

    def _fill(self, file: BinaryIO, part: Matrix) -> None:
        view = part.reshape(-1).view(np.uint8).data
        while len(view):
            count = file.readinto(view)  # type: ignore[attr-defined]
            if not count:
                raise FileError(f"{self.path} was cut off while it was in use. Run it again.")
            view = view[count:]
