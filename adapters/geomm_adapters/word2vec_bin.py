r"""word2vec's binary files: a line `words dimension`, then each word, a space, and its float32.

word2vec itself ends each vector with a line break, gensim does not. Both are read; files are
written without line breaks, which both programs read. Plain or gzipped. `.bin` is also the suffix
of fastText's models, `.word2vec.bin` is always this.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, ClassVar

import numpy as np
import numpy.typing as npt

from geomm_adapters.text.gzip_stream import beginning, created, opened
from geomm_adapters.text.vec_reader import gathered
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FormatError
from geomm_plugin.formats import Format, finite_blocks, word_bytes

_HEADER = re.compile(rb"(\d+)[ \t]+(\d+)[ \t]*\r?\n")
_LONGEST_HEADER = 100
_CHUNK = 1 << 22
_LONGEST_WORD = 1 << 24  # bytes
_LARGEST_DIMENSION = 1 << 24


class Word2VecBin(Format):
    """Words and float32 numbers as word2vec and gensim keep them with `binary=True`."""

    name: ClassVar[str] = "word2vec_bin"
    suffixes: ClassVar[tuple[str, ...]] = (".bin", ".bin.gz", ".word2vec.bin")

    @classmethod
    def recognizes(cls, path: Path) -> bool:
        """Look for the first line: fastText's models have the same suffix."""
        return _HEADER.match(beginning(path, _LONGEST_HEADER)) is not None

    def read(self, path: Path, *, max_words: int | None = None) -> Embeddings:
        """Read the first max_words words, and no more of the file than that takes."""
        with opened(path) as stream:
            return gathered(_blocks(path, stream, max_words))

    def write(self, path: Path, embeddings: Embeddings) -> None:
        """Write block by block, as the vectors are made."""
        with created(path) as stream:
            stream.write(b"%d %d\n" % (len(embeddings), embeddings.dimension))
            for words, rows in finite_blocks(embeddings, path, "<f4"):
                pairs = zip(words, rows, strict=True)
                stream.write(b"".join(_bytes_of(word) + row.tobytes() for word, row in pairs))


def _blocks(
    path: Path, stream: BinaryIO, max_words: int | None
) -> Iterator[tuple[list[str], npt.NDArray[np.float32]]]:
    """Yield words and vectors, as many as are whole in what is read at a time."""
    buffer = stream.read(_CHUNK)
    header = _HEADER.match(buffer[:_LONGEST_HEADER])
    if header is None:
        raise FormatError(
            f"{path} does not begin with a line of two numbers, words and dimension, as word2vec's "
            "binary files do. Name its format if it is another one."
        )
    promised, dimension = map(int, header.groups())
    if not 0 < dimension <= _LARGEST_DIMENSION:
        raise FormatError(
            f"{path}: its first line claims vectors of {dimension} numbers; word2vec's have 1 to "
            f"{_LARGEST_DIMENSION}. Name its format if it is another one."
        )
    count = promised if max_words is None else min(promised, max_words)
    size, begin, done = 4 * dimension, header.end(), 0
    while True:
        words: list[str] = []
        rows: list[bytes] = []
        space = buffer.find(b" ", begin)
        while done + len(words) < count and 0 <= space < len(buffer) - size:
            words.append(buffer[begin:space].lstrip(b"\n").decode("utf-8", "surrogateescape"))
            begin = space + 1 + size
            rows.append(buffer[space + 1 : begin])
            space = buffer.find(b" ", begin)
        yield words, np.frombuffer(b"".join(rows), "<f4").reshape(len(rows), dimension)
        done += len(words)
        if done == count:
            break
        if space < 0 and len(buffer) - begin > _LONGEST_WORD:
            raise FormatError(
                f"{path}: word {done + 1} has over {_LONGEST_WORD} bytes. The file is "
                "damaged, or of another format; fetch it again, or name its format."
            )
        more = stream.read(max(_CHUNK, space + 1 + size - len(buffer)))
        if not more:
            raise FormatError(
                f"{path}: {done} of {promised} words are there. The file seems cut off; fetch it "
                "again."
            )
        buffer, begin = buffer[begin:] + more, 0
    whole = max_words is None or promised < max_words
    if whole and (buffer[begin:] + stream.read(_CHUNK)).strip():
        raise FormatError(
            f"{path}: its first line promises {promised} words of {dimension} numbers, but more "
            f"follows. Fetch the file again, or pass max_words={max(promised, 1)}."
        )


def _bytes_of(word: str) -> bytes:
    """Return a word and the space after it, provided that it reads back as the same word."""
    written = word_bytes(word)
    if not written or b" " in written or b"\n" in written:
        raise FormatError(
            f"word2vec's binary files cannot hold the word {word!r}: a space ends a word, a line "
            "break may stand before it. Rename the word, or write a .safetensors file."
        )
    return written + b" "
