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

import struct
from dataclasses import dataclass
from mmap import mmap
from typing import Any

import numpy as np
import numpy.typing as npt

_CENTROIDS = 256  # as many as one byte can name
_HEAD = struct.Struct("<?2qi")
_QUANTIZER = struct.Struct("<4i")


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


def read_quantized(content: mmap, position: int) -> QuantizedMatrix:
    """Read a matrix at a position; a ValueError says what does not fit together."""
    has_norms, rows, columns, n_codes = _HEAD.unpack_from(content, position)
    codes, position = _take(content, position + _HEAD.size, n_codes, np.uint8)
    parts, position = _quantizer(content, position, columns)
    if rows < 1 or n_codes != rows * len(parts):
        raise ValueError(f"it has {n_codes} codes for {rows} rows of {len(parts)} parts")
    norms = None
    if has_norms:
        norm_codes, position = _take(content, position, rows, np.uint8)
        (centroids,), position = _quantizer(content, position, 1)
        norms = centroids[norm_codes, 0]
    return QuantizedMatrix((rows, columns), codes.reshape(rows, len(parts)), parts, norms)


def _quantizer(
    content: mmap, position: int, columns: int
) -> tuple[list[npt.NDArray[np.float32]], int]:
    """Return the centroids of each part."""
    dimension, count, width, last = _QUANTIZER.unpack_from(content, position)
    if not (
        dimension == columns > 0
        and count > 0
        and 0 < last <= width <= columns
        and (count - 1) * width + last == columns
    ):
        raise ValueError(
            f"its {columns} columns are divided into {count} parts of {width}, the last of {last}"
        )
    numbers, position = _take(
        content, position + _QUANTIZER.size, _CENTROIDS * columns, np.dtype("<f4")
    )
    bounds = [_CENTROIDS * width * number for number in range(count)]
    parts = np.split(numbers, bounds[1:])
    return [part.reshape(_CENTROIDS, -1) for part in parts], position


def _take(content: mmap, position: int, count: int, dtype: npt.DTypeLike) -> tuple[Any, int]:
    """Copy some numbers from a file, all of which must be there."""
    kind = np.dtype(dtype)
    end = position + count * kind.itemsize
    if count < 0 or end > len(content):
        raise ValueError(f"{count} numbers are not all there")
    return np.frombuffer(content[position:end], kind), end
