"""fastText's quantized matrices: a row is cut into parts, each stored as the code of a centroid.

    row i = norm_i * (c_1[code_i1], c_2[code_i2], ...)        256 centroids c for each part

Joulin, Grave, Bojanowski, Douze, Jegou, Mikolov: "FastText.zip: Compressing text classification
models", 2016. In the file, numbers are little-endian:

    bool                norms are quantized, too
    2 int64             rows, columns
    int32, bytes        how many codes, and the codes, row by row
    quantizer           of the parts
    bytes, quantizer    codes of the norms and their quantizer of one number, if they are there

    quantizer: 4 int32 (columns, parts, columns of a part, columns of the last), float32 centroids
"""

from __future__ import annotations

from dataclasses import dataclass
from mmap import mmap
from struct import Struct
from typing import Any

import numpy as np
import numpy.typing as npt

_CENTROIDS = 256  # as many as one byte can name
_HEAD = Struct("<?2qi")
_QUANTIZER = Struct("<4i")


class Cursor:
    """Goes through a file that is mapped into memory; a ValueError says what is not there."""

    def __init__(self, content: mmap):
        self.content = content
        self.position = 0

    def numbers(self, layout: Struct) -> tuple[Any, ...]:
        """Take some numbers."""
        end = self.position + layout.size
        if end > len(self.content):
            raise ValueError("it ends before its matrix")
        values = layout.unpack_from(self.content, self.position)
        self.position = end
        return values

    def array(self, count: int, dtype: str) -> npt.NDArray[Any]:
        """Take an array, which is read from disk when it is used."""
        end = self.position + count * np.dtype(dtype).itemsize
        if count < 0 or end > len(self.content):
            raise ValueError(f"{count} numbers are not all there")
        array = np.frombuffer(self.content, dtype, count, self.position)
        self.position = end
        return array


@dataclass(frozen=True)
class QuantizedMatrix:
    """Rows that are decoded when they are asked for."""

    shape: tuple[int, int]
    codes: npt.NDArray[np.uint8]  # rows x parts
    parts: list[npt.NDArray[np.float32]]  # for each part: centroids x columns
    norms: npt.NDArray[np.float32] | None  # one for each row

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.float32]:
        codes = self.codes[rows]
        decoded = np.concatenate(
            [part[codes[:, number]] for number, part in enumerate(self.parts)], axis=1
        )
        return decoded if self.norms is None else decoded * self.norms[rows, None]


def read_quantized(file: Cursor) -> QuantizedMatrix:
    """Read a matrix; a ValueError says what does not fit together."""
    has_norms, rows, columns, n_codes = file.numbers(_HEAD)
    codes = file.array(n_codes, "u1")
    parts = _quantizer(file, columns)
    if rows < 1 or n_codes != rows * len(parts):
        raise ValueError(f"it has {n_codes} codes for {rows} rows of {len(parts)} parts")
    norms = None
    if has_norms:
        norm_codes = file.array(rows, "u1")
        (centroids,) = _quantizer(file, 1)
        norms = centroids[norm_codes, 0]
    return QuantizedMatrix((rows, columns), codes.reshape(rows, len(parts)), parts, norms)


def _quantizer(file: Cursor, columns: int) -> list[npt.NDArray[np.float32]]:
    """Return the centroids of each part."""
    dimension, count, width, last = file.numbers(_QUANTIZER)
    if not (
        dimension == columns > 0
        and count > 0
        and 0 < last <= width <= columns
        and (count - 1) * width + last == columns
    ):
        raise ValueError(
            f"its {columns} columns are divided into {count} parts of {width}, the last of {last}"
        )
    numbers = file.array(_CENTROIDS * columns, "<f4")
    parts = np.split(numbers, [_CENTROIDS * width * number for number in range(1, count)])
    return [part.reshape(_CENTROIDS, -1) for part in parts]
