r"""word2vec's binary files: a line `words dimension`, then each word, a space, and its float32.

word2vec itself ends each vector with a line break, gensim does not. Both are read; files are
written without line breaks, which both programs read. Plain or gzipped. `.bin` is also the suffix
of fastText's models, `.word2vec.bin` is always this.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, ClassVar

import numpy as np

from geomm_adapters.text.growing_rows import GrowingRows
from geomm_adapters.text.gzip_stream import (
    broken_gzip_errors,
    create_plain_or_gzip,
    gzip_reader,
)
from geomm_plugin import progress
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
        if not path.is_file():
            return False
        with _opened_to_read(path) as stream:
            try:
                return _HEADER.match(stream.read(_LONGEST_HEADER)) is not None
            except broken_gzip_errors():
                return False

    def read(self, path: Path, *, max_words: int | None = None) -> Embeddings:
        """Read the first max_words words, and no more of the file than that takes."""
        with _opened_to_read(path) as stream:
            try:
                compressed = path.suffix.lower() == ".gz"
                return _read(path, stream, max_words, 0 if compressed else path.stat().st_size)
            except broken_gzip_errors() as error:
                raise _cut_off(path, f"its compressed data end too early ({error})") from error

    def write(self, path: Path, embeddings: Embeddings) -> None:
        """Write block by block, as the vectors are made."""
        with (
            create_plain_or_gzip(path) as stream,
            progress.task(f"Writing {len(embeddings)} words", total=len(embeddings)) as advance,
        ):
            stream.write(b"%d %d\n" % (len(embeddings), embeddings.dimension))
            for words, rows in finite_blocks(embeddings, "<f4"):
                pairs = zip(words, rows, strict=True)
                stream.write(b"".join(_bytes_of(word) + row.tobytes() for word, row in pairs))
                advance(len(rows))


def _read(
    path: Path, stream: BinaryIO, max_words: int | None, certain_bytes: int = 0
) -> Embeddings:
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
    size, position = 4 * dimension, header.end()
    words: list[str] = []
    rows = GrowingRows(dimension, min(count, certain_bytes // (size + 1)))
    with progress.task(f"Reading {count} words", total=count) as advance:
        while len(words) < count:
            space = buffer.find(b" ", position)
            if space < 0 and len(buffer) - position > _LONGEST_WORD:
                raise FormatError(
                    f"{path}: word {len(words) + 1} has over {_LONGEST_WORD} bytes. The file is "
                    "damaged, or of another format; fetch it again, or name its format."
                )
            if space < 0 or space + 1 + size > len(buffer):
                more = stream.read(max(_CHUNK, space + 1 + size - len(buffer)))
                if not more:
                    raise _cut_off(path, f"{len(words)} of {promised} words are there")
                buffer, position = buffer[position:] + more, 0
                continue
            words.append(buffer[position:space].lstrip(b"\n").decode("utf-8", "surrogateescape"))
            rows.add(np.frombuffer(buffer, "<f4", dimension, space + 1)[None])
            position = space + 1 + size
            advance(1)
    whole = max_words is None or promised < max_words
    if whole and (buffer[position:] + stream.read(_CHUNK)).strip():
        raise FormatError(
            f"{path}: its first line promises {promised} words of {dimension} numbers, but more "
            f"follows. Fetch the file again, or pass max_words={max(promised, 1)}."
        )
    return Embeddings(words, rows.trimmed())


def _bytes_of(word: str) -> bytes:
    """Return a word and the space after it, provided that it reads back as the same word."""
    written = word_bytes(word)
    if not written or b" " in written or b"\n" in written:
        raise FormatError(
            f"word2vec's binary files cannot hold the word {word!r}: a space ends a word, a line "
            "break may stand before it. Rename the word, or write a .safetensors file."
        )
    return written + b" "


def _cut_off(path: Path, problem: str) -> FormatError:
    return FormatError(f"{path}: {problem}. The file seems cut off; fetch it again.")


@contextmanager
def _opened_to_read(path: Path) -> Iterator[BinaryIO]:
    with path.open("rb") as file:
        yield gzip_reader(file) if path.suffix.lower() == ".gz" else file
