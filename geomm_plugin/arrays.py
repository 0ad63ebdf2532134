"""Arrays by what they hold: rows of vectors, numbers of rows, masks; and blocks of rows."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from geomm_plugin.errors import FormatError

Matrix: TypeAlias = npt.NDArray[np.floating[Any]]
Vector: TypeAlias = npt.NDArray[np.floating[Any]]
RowIndices: TypeAlias = npt.NDArray[np.intp]
Mask: TypeAlias = npt.NDArray[np.bool_]

BLOCK_ROWS = 8192  # rows that are worked on at a time: 10 MB at d = 300


def as_numbers(vectors: npt.ArrayLike) -> Matrix:
    """Return an array of floating type; one that has such a type is not copied."""
    try:
        array = np.asarray(vectors)
        if not np.issubdtype(array.dtype, np.floating):
            array = array.astype(np.float32)
    except (TypeError, ValueError) as error:  # rows of different lengths, or no numbers
        raise FormatError(
            f"Vectors must be a table of numbers, one row per word ({error})."
        ) from error
    return array
