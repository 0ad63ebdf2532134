"""fastText `.vec` text, plain or gzipped: `words dimension`, then a word and its numbers a line.

GloVe's files, which have no such first line, are read too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from geomm_adapters.text.gzip_stream import created, opened
from geomm_adapters.text.vec_lines import numbers_at_end
from geomm_adapters.text.vec_reader import VecReader, gathered
from geomm_plugin.arrays import slices
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FormatError, ParameterError
from geomm_plugin.formats import Format, finite_blocks, word_bytes

_COMMA_TO_SPACE = np.uint8(ord(",") ^ ord(" "))
_ROWS_AT_ONCE = 32  # formatted, then written: about 100 kB, which is faster than 1 MB at once


class FastTextVec(Format):
    """Text with a word and its numbers a line, plain or gzipped; float32 reads back bit-equal.

    Parameters
    ----------
    precision
        Digits after the decimal point when writing, for smaller files; by default as many as it
        takes to read back the same float32.
    """

    name: ClassVar[str] = "vec"
    suffixes: ClassVar[tuple[str, ...]] = (".vec", ".vec.gz", ".txt", ".txt.gz")
    in_utf8: ClassVar[bool] = True
    streams: ClassVar[bool] = True
    has_header: ClassVar[bool] = True  # whether files are written with one

    def __init__(self, precision: int | None = None):
        if precision is not None and not 1 <= precision <= 20:
            raise ParameterError(
                f"precision counts digits after the decimal point, 1 to 20; it is {precision}."
            )
        self.precision = precision

    def read(self, path: Path, *, max_words: int | None = None) -> Embeddings:
        """Read the first max_words words, and no more of the file than that takes."""
        return gathered(self.stream(path, max_words))

    def stream(
        self, path: Path, max_words: int | None
    ) -> Iterator[tuple[list[str], npt.NDArray[np.float32]]]:
        """Read a file from its beginning, some words and vectors at a time."""
        with opened(path) as stream:
            reader = VecReader(path, stream, max_words)
            yield from reader
            reader.warn_of_repetitions(stacklevel=8)

    def write(self, path: Path, embeddings: Embeddings) -> None:
        """Write block by block, as the vectors are made."""
        digits = self.precision
        if digits is not None:
            embeddings = embeddings.map(lambda rows: np.round(rows.astype(np.float64), digits))
        with created(path) as stream:
            if self.has_header:
                stream.write(b"%d %d\n" % (len(embeddings), embeddings.dimension))
            elif len(embeddings):
                _check_first(embeddings.words[0], embeddings.dimension)
            for words, rows in finite_blocks(embeddings, path):
                for some in slices(len(rows), _ROWS_AT_ONCE):
                    stream.write(_lines(words[some], rows[some]))


class GloveText(FastTextVec):
    """As `.vec`, but written without `words dimension` at the top; both are read as either."""

    name: ClassVar[str] = "glove"
    suffixes: ClassVar[tuple[str, ...]] = (".glove", ".glove.gz", ".glove.txt", ".glove.txt.gz")
    has_header: ClassVar[bool] = False


def _lines(words: Sequence[str], rows: npt.NDArray[np.float32]) -> bytes:
    """Return lines: the rows as JSON, [[1,2],[3,4]], with spaces, each behind its word."""
    from orjson import OPT_SERIALIZE_NUMPY, dumps

    text = bytearray(dumps(rows, option=OPT_SERIALIZE_NUMPY))
    characters = np.frombuffer(text, np.uint8)
    characters ^= (characters == ord(",")) * _COMMA_TO_SPACE  # in a third of the time of replace()
    view, begin = memoryview(text), 2  # behind "[["
    pieces: list[bytes | memoryview] = []
    for word in _bytes_of_each(words):
        end = text.index(b"]", begin)
        pieces += (word, b" ", view[begin:end], b"\n")
        begin = end + 3  # behind "] ["
    return b"".join(pieces)


def _bytes_of_each(words: Sequence[str]) -> list[bytes]:
    """Return the bytes of words, provided that they read back as the same words."""
    with suppress(FormatError):  # which would name all of them
        together = word_bytes("\n".join(words))
        apart = together.split(b"\n")
        if b" " not in together and len(apart) == len(words):
            return apart
    return [_bytes_of(word) for word in words]


def _bytes_of(word: str) -> bytes:
    """Return the bytes of a word, provided that they read back as the same word."""
    written = word_bytes(word)
    if b"\n" in written:
        problem = "holds a line break"
    elif b" " in written and numbers_at_end(written):
        problem = "ends in a number after a space"
    else:
        return written
    raise FormatError(
        f"The word {word!r} {problem}, which .vec text cannot hold. Rename the word, or write a "
        ".safetensors file, which holds any word."
    )


def _check_first(word: str, dimension: int) -> None:
    """Refuse a first word that a file without a header would read back as another one."""
    line = BytesIO(word_bytes(word) + b" 0.5" * dimension + b"\n")
    read: list[str] = []
    with suppress(FormatError):
        read = list(gathered(VecReader(Path(), line, 1)).words)
    if read != [word]:
        raise FormatError(
            f"The first word {word!r} would be read as another one, since no header says where its "
            "numbers begin. Rename the word, write it further down, or write a .vec file, which "
            "has a header."
        )
