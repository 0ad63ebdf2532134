"""Words and vectors in one `.safetensors` file: mapped into memory, it opens at once.

    8 bytes    length of the header
    header     JSON: for each tensor its type, its shape and where its bytes stand
    vectors    float32, words x dimension
    word_ends  int64: where each word ends in `words`
    words      UTF-8, one after the other

Any library for safetensors can open the file. It is written as a stream, so that mapped vectors
need not be in memory all at once, and rows are read from disk when they are used.
"""

from __future__ import annotations

import json
import math
import mmap
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import numpy as np
import numpy.typing as npt

from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FormatError
from geomm_plugin.files import disk
from geomm_plugin.files.packed_words import ENCODING, unpack_words
from geomm_plugin.files.strict_json import parse_json
from geomm_plugin.formats import Format, finite_blocks

_TYPES = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "I64": "<i8", "U8": "|u1"}
_FLOATS = ("F16", "F32", "F64")
_METADATA = {"format": "geomm_plugin embeddings 1"}
_LENGTH_BYTES = 8
_MAX_EMPTY_SIDE = 2**31  # rows or columns of a tensor that holds no numbers
_ALIGNMENT = 64
_LONGEST_HEADER = 10**8  # as the format's own library


class SafetensorsFile(Format):
    """Memory-mapped float32 vectors with their words: for what is read again and again."""

    name: ClassVar[str] = "safetensors"
    suffixes: ClassVar[tuple[str, ...]] = (".safetensors",)

    def read(self, path: Path, *, max_words: int | None = None) -> Embeddings:
        """Map a file into memory; the words are read at once, the vectors when they are used."""
        tensors = _Tensors(path)
        vectors = tensors.mapped("vectors", _FLOATS, dimensions=2)
        ends = tensors.mapped("word_ends", ("I64",), dimensions=1)
        text = tensors.mapped("words", ("U8",), dimensions=1)
        if not vectors.shape[1]:
            raise tensors.error(f"its vectors have the shape {list(vectors.shape)}")
        if len(ends) != len(vectors):
            raise tensors.error(f"there are {len(ends)} words for {len(vectors)} vectors")
        count = len(ends) if max_words is None else min(max_words, len(ends))
        return Embeddings(_cut(tensors, text, ends[:count]), vectors[:count])

    def write(self, path: Path, embeddings: Embeddings) -> None:
        """Write block by block, as the vectors are made."""
        text = "".join(embeddings.words).encode(*ENCODING)
        ends = np.fromiter(
            accumulate(len(word.encode(*ENCODING)) for word in embeddings.words),
            np.int64,
            len(embeddings),
        )
        shape = (len(embeddings), embeddings.dimension)
        tensors = {
            "vectors": ("F32", shape, 4 * shape[0] * shape[1]),
            "word_ends": ("I64", ends.shape, ends.nbytes),
            "words": ("U8", (len(text),), len(text)),
        }
        with disk.create(path) as stream:
            write_header(stream, tensors)
            for _, rows in finite_blocks(embeddings, path, "<f4"):
                stream.write(rows.data)
            stream.write(ends.astype("<i8").tobytes())
            stream.write(text)


def write_header(
    stream: BinaryIO,
    tensors: Mapping[str, tuple[str, Sequence[int], int]],
    metadata: Mapping[str, str] = _METADATA,
) -> None:
    """Write where each tensor stands: its type, its shape and its bytes, which follow."""
    header: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    begin = 0
    for name, (kind, shape, size) in tensors.items():
        offsets = [begin, begin + size]
        header[name] = {"dtype": kind, "shape": list(shape), "data_offsets": offsets}
        begin += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + _LENGTH_BYTES) % _ALIGNMENT)
    stream.write(len(text).to_bytes(_LENGTH_BYTES, "little"))
    stream.write(text)


def _cut(tensors: _Tensors, text: npt.NDArray[Any], ends: npt.NDArray[Any]) -> list[str]:
    """Cut a text into the words that end at `ends`."""
    bounds = np.concatenate([[0], ends]).astype(np.int64)
    # Compared, not subtracted: the difference of two int64 may overflow.
    if bounds[-1] > len(text) or (bounds[1:] < bounds[:-1]).any():
        raise tensors.error("the ends of the words are out of order")
    try:
        return unpack_words(text[: bounds[-1]].tobytes(), bounds)
    except UnicodeDecodeError as error:
        raise tensors.error(f"the words are not UTF-8 ({error})") from error


class _Tensors:
    """The tensors of a file, mapped into memory once and as a whole, for reading only."""

    def __init__(self, path: Path):
        self.path = path
        with path.open("rb") as stream:
            try:
                self._content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
            except ValueError:  # an empty file cannot be mapped
                raise self.error("it has no header of that format") from None
        length = int.from_bytes(self._content[:_LENGTH_BYTES], "little")
        if not 2 <= length <= min(len(self._content) - _LENGTH_BYTES, _LONGEST_HEADER):
            raise self.error("it has no header of that format")
        self._begin = _LENGTH_BYTES + length
        self._size = len(self._content) - self._begin
        try:
            self._header = parse_json(self._content[_LENGTH_BYTES : self._begin])
        except ValueError as error:
            raise self.error(f"its header is not JSON ({error})") from error
        if not isinstance(self._header, dict):
            raise self.error("its header names no tensors")
        metadata = self._header.pop("__metadata__", {})
        if not isinstance(metadata, dict) or not all(type(v) is str for v in metadata.values()):
            raise self.error("its metadata are not texts by name")
        self._check_places()

    def _check_places(self) -> None:
        """Refuse tensors that overlap, holes between them and a tail, as the format's library does.

        Other readers may understand bytes that belong to no tensor, or to two, differently.
        """
        places = sorted(
            self._described(name, described)[2:] for name, described in self._header.items()
        )
        last = 0
        for begin, end in places:
            if begin != last or end < begin:
                raise self.error(f"a tensor begins at byte {begin}, the one before ends at {last}")
            last = end
        if last < self._size:
            raise self.error(f"{self._size - last} bytes follow its last tensor")

    def mapped(self, name: str, kinds: Sequence[str], dimensions: int) -> npt.NDArray[Any]:
        """Return a tensor without reading it."""
        described = self._header.get(name)
        if described is None:
            raise FormatError(
                f"{self.path} holds no tensor {name!r}, but: "
                f"{', '.join(self._header)[:200] or 'nothing'}. "
                "Embeddings are 'vectors', 'words' and 'word_ends', as `geomm convert` writes them."
            )
        kind, shape, begin, end = self._described(name, described)
        if kind not in kinds or len(shape) != dimensions:
            raise self.error(f"{name!r} has the type {kind} and the shape {shape}")
        dtype = np.dtype(_TYPES[kind])
        if math.prod(shape) * dtype.itemsize != end - begin or end > self._size:
            raise self.error(f"the bytes of {name!r} are not all there; it seems cut off")
        if begin == end:  # there is nothing to map
            if max(shape) > _MAX_EMPTY_SIDE:
                raise self.error(f"{name!r} has the shape {shape}")
            return np.empty(shape, dtype)
        return np.frombuffer(self._content, dtype, math.prod(shape), self._begin + begin).reshape(
            shape
        )

    def error(self, problem: str) -> FormatError:
        """Say what is wrong with the file, and what to do."""
        return FormatError(
            f"{self.path} is not a whole file of embeddings in safetensors: {problem}. Fetch it "
            "again, or write it again with `geomm convert`."
        )

    def _described(self, name: str, described: Any) -> tuple[str, list[int], int, int]:
        try:
            kind, shape = described["dtype"], described["shape"]
            begin, end = described["data_offsets"]
        except (TypeError, KeyError, ValueError):
            raise self.error(f"its header does not describe {name!r}") from None
        numbers = [*shape, begin, end] if isinstance(shape, list) else [None]
        if not isinstance(kind, str) or not all(type(n) is int and n >= 0 for n in numbers):
            raise self.error(f"its header does not describe {name!r}")
        return kind, shape, begin, end
