"""float32 rows in an array that grows as they are read, whatever size a file claims."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from geomm_plugin.embeddings import Embeddings


def gathered(blocks: Iterable[tuple[list[str], npt.NDArray[np.float32]]]) -> Embeddings:
    """Return the words and vectors of all blocks; the first one tells the dimension."""
    words: list[str] = []
    rows = GrowingRows(0)
    for some, vectors in blocks:
        rows = rows if words else GrowingRows(vectors.shape[1])
        words += some
        rows.add(vectors)
        del some, vectors  # while the next ones are made
    return Embeddings(words, rows.trimmed())


class GrowingRows:
    """An array of rows that grows in place; it has at most an eighth more memory than it needs.

    Parameters
    ----------
    expected
        Rows to make room for at once, where it is certain that a file is large enough for them.
    """

    def __init__(self, dimension: int, expected: int = 0):
        self._dimension = dimension
        self._count = 0
        self._array = np.empty((expected, dimension), np.float32)

    def add(self, rows: npt.NDArray[np.float32]) -> None:
        """Append some rows."""
        count = self._count + len(rows)
        if count > len(self._array):
            self._resize(max(count, self._count + self._count // 8))
        self._array[self._count : count] = rows
        self._count = count

    def trimmed(self) -> npt.NDArray[np.float32]:
        """Return all rows, without the spare memory behind them."""
        self._resize(self._count)
        return self._array

    def _resize(self, count: int) -> None:
        # Large arrays are moved by the operating system, not copied; nobody else holds this one.
        self._array.resize((count, self._dimension), refcheck=False)
