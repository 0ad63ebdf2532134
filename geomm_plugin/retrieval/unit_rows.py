"""Unit rows and their words: what a retrieval asks a language for, and the one door for arrays.

A row whose length is 1 but for float32's rounding stays as it is. So a file of such rows, as
`align` writes them, is searched where it lies: mapped into memory, not copied.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.lib.mixins import NDArrayOperatorsMixin

from geomm_plugin import progress
from geomm_plugin.arrays import BLOCK_ROWS, Mask, Matrix, RowIndices, slices
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import ParameterError
from geomm_plugin.normalize import unit
from geomm_plugin.source_file import SourceFile

MAX_LENGTH_ERROR = 1e-6  # of a row that is at length 1 already


class UnitRows(NDArrayOperatorsMixin):
    """Rows of length 1 (or zero) in float32, with their words where they are known.

    The constructor trusts its rows; `as_unit_rows` checks an array first. numpy takes the object
    for the array of all rows, so that `target @ query` works.
    """

    file: SourceFile | None = None  # what all the rows were read from

    def __init__(self, rows: Matrix, words: Sequence[str] | None = None):
        self.words = words
        self.shape: tuple[int, int] = (rows.shape[0], rows.shape[1])
        self._all: Matrix | None = rows

    def __len__(self) -> int:
        return self.shape[0]

    def all(self) -> Matrix:
        """Return all rows; made once, and kept."""
        assert self._all is not None
        return self._all

    def rows(self, rows: RowIndices | slice) -> Matrix:
        """Return some rows, and make no others."""
        return self.all()[rows]

    def take(self, rows: RowIndices | slice) -> UnitRows:
        """Return some rows with their words, as queries."""
        words = self.words
        if words is not None:
            words = words[rows] if isinstance(rows, slice) else [words[row] for row in rows]
        return UnitRows(self.rows(rows), words)

    def head(self, count: int | None) -> UnitRows:
        """Return the first rows; these themselves, if that is all of them."""
        return self if count is None or count >= len(self) else self.take(slice(count))

    @cached_property
    def content_hash(self) -> str:
        """The SHA-256 of all rows, as they are compared."""
        digest = hashlib.sha256(f"{self.shape}".encode())
        rows = self.all()
        for part in slices(len(rows), BLOCK_ROWS):
            digest.update(np.ascontiguousarray(rows[part], "<f4").data)
        return digest.hexdigest()

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        array = np.asarray(self.all(), dtype)
        return array.copy() if copy else array

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        arrays = [value.all() if isinstance(value, UnitRows) else value for value in inputs]
        return getattr(ufunc, method)(*arrays, **options)


class LanguageRows(UnitRows):
    """The unit rows of a language, made from its embeddings when they are asked for."""

    def __init__(self, embeddings: Embeddings, language: str):
        self.file = embeddings.file
        self.words = embeddings.words
        self.shape = (len(embeddings), embeddings.dimension)
        self._all = None
        self._embeddings = embeddings
        self._language = language

    def all(self) -> Matrix:
        """Return all rows; mapped once, and kept."""
        if self._all is None:
            stored = self._embeddings.rows.stored
            if stored is not None and _all_unit(stored):
                self._all = stored.view()
                self._all.flags.writeable = False  # they are the embeddings' own
            else:
                self._all = self._make_all()
        return self._all

    def _make_all(self) -> Matrix:
        rows = np.empty(self.shape, np.float32)
        with progress.task(f"Mapping {self._language}", len(rows), "words") as advance:
            for part in slices(len(rows), BLOCK_ROWS):
                rows[part] = self._make(part, range(part.start, part.stop))
                advance(part.stop - part.start)
        return rows

    def rows(self, rows: RowIndices | slice) -> Matrix:
        """Return some rows; no others are mapped for them."""
        if self._all is not None:
            return self._all[rows]
        numbers = range(len(self))[rows] if isinstance(rows, slice) else rows
        return self._make(rows, numbers)

    def _make(self, rows: RowIndices | slice, numbers: Iterable[int]) -> Matrix:
        given = self._embeddings.rows.take(rows)
        with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is refused below
            kept = _is_unit(given)
            if kept.all():
                return given
            made = unit(given).astype(np.float32, copy=False)
            made[kept] = given[kept]
            is_finite = np.isfinite(made.sum(axis=1))
        if not is_finite.all():
            row = list(numbers)[int(np.argmin(is_finite))]
            raise not_unit(row, f"{self._language} vectors", float("nan"))
        return made


Rows: TypeAlias = Matrix | UnitRows  # what a retrieval takes: an array is checked at its door


def as_unit_rows(vectors: Rows, what: str) -> UnitRows:
    """Return unit rows as they are; check that an array's are finite and of length 1 (or zero)."""
    if isinstance(vectors, UnitRows):
        if not len(vectors):
            raise no_vectors(what)
        return vectors
    rows = np.asarray(vectors)
    if rows.ndim != 2:
        raise ParameterError(
            f"The {what} vectors must be a table, one row per word; their shape is {rows.shape}."
        )
    if not rows.size:
        raise no_vectors(what)
    rows = rows.astype(np.float32, copy=False)
    for part in slices(len(rows), BLOCK_ROWS):
        lengths = np.sqrt(np.einsum("ij,ij->i", rows[part], rows[part]))
        # A comparison with NaN is false, so that this also finds what is not finite.
        is_unit = (np.abs(lengths - 1) < 1e-3) | (lengths == 0)
        if not is_unit.all():
            row = int(np.argmin(is_unit))
            raise not_unit(part.start + row, f"{what} vectors", float(lengths[row]))
    return UnitRows(rows)


def _is_unit(rows: Matrix) -> Mask:
    """Say which rows are float32 and of length 1, or zero, already."""
    if rows.dtype != np.float32:
        return np.zeros(len(rows), bool)
    squares = np.einsum("ij,ij->i", rows, rows)
    is_unit: Mask = np.abs(squares - 1) < 2 * MAX_LENGTH_ERROR
    tiny = np.flatnonzero(squares == 0)  # squares of tiny numbers vanish
    is_unit[tiny] = ~rows[tiny].any(axis=1)
    return is_unit


def _all_unit(rows: Matrix) -> bool:
    """Say whether all rows are, one after the other in memory; stops where a block has another."""
    if not rows.flags.c_contiguous:
        return False
    with np.errstate(invalid="ignore", over="ignore"):
        return all(_is_unit(rows[part]).all() for part in slices(len(rows), BLOCK_ROWS))


def no_vectors(what: str) -> ParameterError:
    """Say that there is nothing to compare with."""
    return ParameterError(f"There are no {what} vectors; retrieval needs at least one.")


def not_unit(row: int, vectors: str, length: float) -> ParameterError:
    """Say which row cannot be compared."""
    return ParameterError(
        f"Retrieval compares finite vectors of length 1; row {row} of the {vectors} has the length "
        f"{length:g}. Scale rows with normalize.unit, and look for NaN in the mapped vectors."
    )
