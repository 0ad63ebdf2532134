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
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import numpy as np
import numpy.typing as npt

from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FormatError
from geomm_plugin.files import disk
from geomm_plugin.files.trust import parse_json
from geomm_plugin.formats import Format, finite_blocks

ENCODING = ("utf-8", "surrogatepass")  # any text at all, also bytes that were not UTF-8
_FLOATS = {"F16": "<f2", "F32": "<f4", "F64": "<f8"}
_TENSORS = {"vectors": (_FLOATS, 2), "word_ends": ({"I64": "<i8"}, 1), "words": ({"U8": "u1"}, 1)}
_METADATA = {"format": "geomm_plugin embeddings 1"}
_LENGTH_BYTES = 8
_ALIGNMENT = 64


class SafetensorsFile(Format):
    """Memory-mapped float32 vectors with their words: for what is read again and again."""

    name: ClassVar[str] = "safetensors"
    suffixes: ClassVar[tuple[str, ...]] = (".safetensors",)

    def read(self, path: Path, *, max_words: int | None = None) -> Embeddings:
        """Map a file into memory; the words are read at once, the vectors when they are used."""
        vectors, ends, text = _mapped(path)
        count = len(ends) if max_words is None else min(max_words, len(ends))
        bounds = np.concatenate([[0], ends[:count]]).astype(np.int64)
        # Compared, not subtracted: the difference of two int64 may overflow.
        if bounds[-1] > len(text) or (bounds[1:] < bounds[:-1]).any():
            raise _broken(path, "the ends of the words are out of order")
        try:
            words = unpack_words(text.tobytes(), bounds)
        except UnicodeDecodeError as error:
            raise _broken(path, f"the words are not UTF-8 ({error})") from error
        return Embeddings(words, vectors[:count])

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


def unpack_words(text: bytes, bounds: npt.NDArray[np.int64]) -> list[str]:
    """Return the words between each two bounds, which rise; or a UnicodeDecodeError.

    To decode all and cut the result is several times as fast as to decode each word. Characters are
    counted by the bytes that begin one.
    """
    text = text[: bounds[-1]]
    decoded = text.decode(*ENCODING)
    if len(decoded) < len(text):
        goes_on = (np.frombuffer(text, np.uint8) & 0xC0) == 0x80  # bytes that begin no character
        cut = np.flatnonzero(goes_on[bounds[bounds < len(text)]])
        if len(cut):
            at = int(bounds[cut[0]])
            raise UnicodeDecodeError("utf-8", text, at, at + 1, "a word begins within a character")
        bounds = bounds - np.searchsorted(np.flatnonzero(goes_on), bounds)
    return [decoded[begin:end] for begin, end in pairwise(bounds.tolist())]


def _mapped(path: Path) -> list[npt.NDArray[Any]]:
    """Map vectors, ends of words and words into memory.

    The format's own library checks the file first: types, shapes and places fit, and tensors
    stand one behind the other, with nothing between or behind them.
    """
    from safetensors import safe_open

    try:
        with safe_open(path, "numpy") as checked:
            names = checked.keys()
        with path.open("rb") as stream:
            content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        begin = _LENGTH_BYTES + int.from_bytes(content[:_LENGTH_BYTES], "little")
        header = parse_json(content[_LENGTH_BYTES:begin])
        arrays = []
        for name, (kinds, dimensions) in _TENSORS.items():
            if name not in header:
                raise FormatError(
                    f"{path} holds no tensor {name!r}, but: "
                    f"{', '.join(names)[:200] or 'nothing'}. Embeddings are 'vectors', 'words' and "
                    "'word_ends', as `geomm convert` writes them."
                )
            kind, shape = header[name]["dtype"], header[name]["shape"]
            if kind not in kinds or len(shape) != dimensions:
                raise ValueError(f"{name!r} has the type {kind} and the shape {shape}")
            place = begin + header[name]["data_offsets"][0]
            numbers = np.frombuffer(content, kinds[kind], math.prod(shape), place)
            arrays.append(numbers.reshape(shape))
    except (OSError, MemoryError, FormatError):
        raise
    except Exception as error:  # the library's, or of numbers that lie outside the file
        raise _broken(path, str(error)) from error
    if not arrays[0].shape[1] or len(arrays[0]) != len(arrays[1]):
        raise _broken(path, f"it has {len(arrays[1])} words for vectors {arrays[0].shape}")
    return arrays


def _broken(path: Path, problem: str) -> FormatError:
    return FormatError(
        f"{path} is not a whole file of embeddings in safetensors: {problem}. Fetch it again, or "
        "write it again with `geomm convert`."
    )
