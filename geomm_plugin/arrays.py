"""Arrays by what they hold: rows of vectors, row numbers, masks; blocks and tiles of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from geomm_plugin.errors import FormatError

Matrix: TypeAlias = npt.NDArray[np.floating[Any]]
Vector: TypeAlias = npt.NDArray[np.floating[Any]]
RowIndices: TypeAlias = npt.NDArray[np.intp]
Mask: TypeAlias = npt.NDArray[np.bool_]

BLOCK_ROWS = 8192  # rows that are worked on at a time: 10 MB at d = 300


def slices(count: int, size: int) -> Iterator[slice]:
    """Divide so many rows into slices of at most `size`."""
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))


@dataclass(frozen=True)
class Tiles:
    """How many rows are compared with how many columns in one matrix product: 32 MB of float32."""

    rows: int = 1024
    columns: int = 8192

    def of_rows(self, count: int) -> Iterator[slice]:
        """Divide the rows of a comparison."""
        return slices(count, self.rows)

    def of_columns(self, count: int) -> Iterator[slice]:
        """Divide the columns of a comparison."""
        return slices(count, self.columns)

    @property
    def square(self) -> Tiles:
        """Tiles of twice the rows and half the columns, where both sides learn from a product."""
        return Tiles(2 * self.rows, max(1, self.columns // 2))

    @property
    def half(self) -> Tiles:
        """Tiles of half the rows and half the columns, where products are made in float64."""
        return Tiles(max(1, self.rows // 2), max(1, self.columns // 2))


TILES = Tiles()


def as_numbers(vectors: npt.ArrayLike) -> Matrix:
    """Return an array of floating type; one that has such a type is not copied."""
    try:
        array = np.asarray(vectors)
        if not np.issubdtype(array.dtype, np.floating):
            array = array.astype(np.float32)
    except (OverflowError, TypeError, ValueError) as error:  # odd rows, or no numbers
        problem = f"Vectors must be a table of numbers, one row per word ({error})."
        raise FormatError(problem) from error
    return array
