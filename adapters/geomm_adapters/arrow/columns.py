"""Columns of Arrow as words, ranks and vectors, or a sentence that says why not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from geomm_plugin.arrays import Matrix, RowIndices
from geomm_plugin.errors import FormatError, GeommError, missing_extra

_LARGEST_DIMENSION = 2**20


def import_pyarrow(what: str) -> Any:
    """Import the library, or say what needs it and how to install it."""
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError:
        raise missing_extra(what, "arrow") from None
    return pyarrow


@contextmanager
def arrow_errors(path: Path) -> Iterator[None]:
    """Turn what pyarrow raises into a sentence."""
    try:
        yield
    except (GeommError, MemoryError):
        raise
    except Exception as error:  # parsers of files from anybody: anything may be raised
        if isinstance(error, FileNotFoundError | PermissionError | IsADirectoryError):
            raise
        raise FormatError(
            f"{path} is not a whole table of Arrow or Parquet ({str(error)[:200]}). Fetch it "
            "again, or write it again."
        ) from error


def _whole(path: Path, column: Any) -> Any:
    """Return a column as one array, without nulls; a dictionary-encoded one is decoded."""
    pyarrow = import_pyarrow(f"{path}, a table,")
    array = column.combine_chunks() if isinstance(column, pyarrow.ChunkedArray) else column
    if isinstance(array, pyarrow.ChunkedArray):  # too large for one array
        raise FormatError(f"{path}: a part of it is too large. Write it with smaller row groups.")
    array.validate(full=True)
    if pyarrow.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pyarrow.types.is_string_view(array.type):  # for which pyarrow has few functions
        array = array.cast(pyarrow.large_string())
    if array.null_count:
        raise FormatError(f"{path} has rows without a value. Leave them out, and write it again.")
    return array


def texts(path: Path, column: Any) -> list[str]:
    """Return a column of texts."""
    words: list[str] = _text_array(path, column).to_pylist()
    return words


def is_equal(path: Path, column: Any, language: str | None) -> npt.NDArray[np.bool_]:
    """Tell the rows whose text is this one."""
    array = _text_array(path, column)
    from pyarrow import compute, scalar

    same: npt.NDArray[np.bool_] = compute.equal(array, scalar(language, array.type)).to_numpy(
        zero_copy_only=False
    )
    return same


def _text_array(path: Path, column: Any) -> Any:
    array = _whole(path, column)
    types = import_pyarrow("A table").types
    kind = array.type
    if not (types.is_string(kind) or types.is_large_string(kind)):
        raise FormatError(f"{path}: its words are {kind}, not texts. Turn the column into texts.")
    return array


def whole_numbers(path: Path, column: Any) -> npt.NDArray[np.int64]:
    """Return a column of whole numbers."""
    array = _whole(path, column)
    if not import_pyarrow("A table").types.is_integer(array.type):
        raise FormatError(
            f"{path}: its ranks are {array.type}, not whole numbers. Drop the column."
        )
    numbers: npt.NDArray[np.int64] = array.to_numpy(zero_copy_only=False)
    return numbers


def matrix_of(path: Path, column: Any, words: list[str]) -> Matrix:
    """Return lists of numbers as the rows of a matrix."""
    types = import_pyarrow("A table").types
    array = _whole(path, column)
    kind = array.type
    if types.is_fixed_size_list(kind):
        lengths = np.full(len(array), kind.list_size)
    elif types.is_list(kind) or types.is_large_list(kind):
        lengths = array.value_lengths().to_numpy(zero_copy_only=False)
    else:
        raise FormatError(f"{path}: its vectors are {kind}, not lists of numbers.")
    dimension = int(lengths[0]) if len(lengths) else 0
    if (lengths != dimension).any():
        row = int(np.argmax(lengths != dimension))
        raise FormatError(
            f"{path}: the vector of {words[row]!r} has {lengths[row]} numbers, that of "
            f"{words[0]!r} {dimension}. Leave the word out, or fix its vector."
        )
    if not types.is_floating(kind.value_type) or not 0 < dimension <= _LARGEST_DIMENSION:
        raise FormatError(f"{path}: its vectors are {kind}, of {dimension} numbers.")
    values = array.flatten()
    if values.null_count:
        raise FormatError(f"{path}: some vector has a number that is missing. Leave the word out.")
    matrix: Matrix = values.to_numpy(zero_copy_only=False).reshape(-1, dimension)
    return matrix


def taken(path: Path, column: Any, rows: RowIndices) -> Any:
    """Return some rows of a column."""
    if len(rows) == len(column):
        return column
    return _whole(path, column).take(import_pyarrow("A table").array(rows))
