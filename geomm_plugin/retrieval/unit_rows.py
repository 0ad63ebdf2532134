"""Unit rows and their words: what a retrieval asks a language for; arrays are checked here.

A row whose length is 1 but for float32's rounding stays as it is. So a file of such rows, as
`align` writes them, is searched where it lies: mapped into memory, not copied.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import BLOCK_ROWS, Mask, Matrix, RowIndices, slices
from geomm_plugin.errors import ParameterError
from geomm_plugin.normalize import unit
from geomm_plugin.rows import Rows

if TYPE_CHECKING:
    from geomm_plugin.embeddings import Embeddings
    from geomm_plugin.source_file import SourceFile

MAX_LENGTH_ERROR = 1e-6  # of a row that is at length 1 already

AnyRows: TypeAlias = Matrix | Rows  # what a retrieval takes; `as_unit_rows` makes UnitRows of them


class UnitRows(Rows):
    """Rows of length 1 (or zero) in float32, with their words where they are known.

    The constructor trusts its rows; `as_unit_rows` checks an array first.
    """

    file: SourceFile | None = None  # what all the rows were read from

    def __init__(self, rows: AnyRows, words: Sequence[str] | None = None):
        super().__init__(rows)
        self.words = words

    def select(self, rows: RowIndices | slice) -> UnitRows:
        """Return some rows with their words, such as queries; no others are made for them."""
        words = self.words
        if words is not None:
            words = words[rows] if isinstance(rows, slice) else [words[row] for row in rows]
        return UnitRows(self.take(rows), words)

    def head(self, count: int | None) -> UnitRows:
        """Return the first rows; these themselves, if that is all of them."""
        return self if count is None or count >= len(self) else self.select(slice(count))

    @cached_property
    def content_hash(self) -> str:
        """The SHA-256 of all rows, as they are compared."""
        digest = hashlib.sha256(f"{self.shape}".encode())
        rows = self.all()
        for part in slices(len(rows), BLOCK_ROWS):
            digest.update(np.ascontiguousarray(rows[part], "<f4").data)
        return digest.hexdigest()


class LanguageRows(UnitRows):
    """The unit rows of a language, made from its embeddings when they are asked for."""

    def __init__(self, embeddings: Embeddings, language: str):
        super().__init__(embeddings.rows, embeddings.words)
        self.function = _at_unit_length
        self.file = embeddings.file
        self._form = np.empty((0, embeddings.dimension), np.float32)  # no row is mapped to see it
        self._language = language

    def all(self) -> Matrix:
        """Return all rows; mapped once, and kept."""
        if self._kept is None:
            stored = self.source.stored
            if stored is not None and _all_unit(stored):
                self._kept = stored.view()
                self._kept.flags.writeable = False  # they are the embeddings' own
            else:
                rows = np.empty(self.shape, np.float32)
                with progress.task(f"Mapping {self._language}", len(rows), "words") as advance:
                    for part in slices(len(rows), BLOCK_ROWS):
                        rows[part] = self.take(part)
                        advance(part.stop - part.start)
                self._kept = rows
        return self._kept

    def take(self, rows: RowIndices | slice) -> Matrix:
        """Return some rows as an array; one that is not finite is refused by its number."""
        if self._kept is not None:
            return self._kept[rows]
        with np.errstate(invalid="ignore", over="ignore"):
            made = super().take(rows)
            is_finite = np.isfinite(made.sum(axis=1))
        if not is_finite.all():
            numbers = np.arange(len(self))[rows]
            row = int(numbers[np.argmin(is_finite)])
            raise not_unit(row, f"{self._language} vectors", float("nan"))
        return made


def as_unit_rows(vectors: AnyRows, what: str) -> UnitRows:
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


def _at_unit_length(rows: Matrix) -> Matrix:
    """Scale rows to length 1, but for those that are; zeros stay zero."""
    kept = _is_unit(rows)
    if kept.all():
        return rows
    scaled: Matrix = unit(rows).astype(np.float32, copy=False)
    scaled[kept] = rows[kept]
    return scaled


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
