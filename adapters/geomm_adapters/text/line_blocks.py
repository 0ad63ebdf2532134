"""A text file as blocks of whole lines, plain or gzipped, read no further than is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import numpy as np

from geomm_adapters.text.gzip_stream import broken_gzip_errors, gzip_reader
from geomm_plugin.errors import FormatError

LONGEST_LINE = 2**26  # bytes
_FIRST_READ, _READ = 2**18, 2**22
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class LineBlocks:
    """A file, plain or gzipped, as blocks of whole lines; each line ends in a line feed.

    A block stands in a buffer that the next one overwrites.
    """

    def __init__(self, path: Path, file: BinaryIO):
        self.ended = False  # the file has been read to its end
        self._path = path
        is_gzip = file.peek(2)[:2] == b"\x1f\x8b"  # type: ignore[attr-defined]
        self._stream = gzip_reader(file) if is_gzip else file
        self._buffer = bytearray()
        self._lines = memoryview(b"")  # read, but not yet taken
        self._bytes_per_line = 0.0  # estimated from the first lines

    def first_line(self) -> bytes | None:
        """Return the first line; None if the file holds nothing but white space."""
        self._fill(_FIRST_READ)
        if self._lines[:3] == BYTE_ORDER_MARK:
            self._lines = self._lines[3:]
        text = bytes(self._lines)
        if not text.strip() and self.ended:
            return None
        self._bytes_per_line = len(text) / text.count(b"\n")
        return text.partition(b"\n")[0]

    def skip_line(self) -> None:
        """Leave out the first line."""
        self._lines = self._lines[bytes(self._lines).index(b"\n") + 1 :]

    def take(self, count: int | None, dimension: int) -> memoryview:
        """Return the next block of lines, with at most `count` words; empty at the file's end."""
        shortest = (
            2 * dimension + 1
        )  # bytes of a line: a word, then a space and a digit for each number
        if not self._lines:
            size = _READ
            if count is not None:
                size = min(size, int(1.1 * count * self._bytes_per_line) + 1024)
            self._fill(size)
        block, self._lines = self._lines, self._lines[:0]
        if count is not None and count < len(block) // shortest:
            end = self._end_of(count, block)
            block, self._lines = block[:end], block[end:]
        return block

    def give_back(self, lines: memoryview) -> None:
        """Take back the last lines of the block that was taken."""
        self._lines = lines

    def _end_of(self, count: int, block: memoryview) -> int:
        """Return where `count` lines end; fewer lines if they are longer than was estimated."""
        for size in (int(2 * count * self._bytes_per_line) + 1024, len(block)):
            feeds = np.flatnonzero(np.frombuffer(block[:size], np.uint8) == ord("\n"))
            if len(feeds):
                return int(feeds[min(count, len(feeds)) - 1]) + 1
        return len(block)

    def _fill(self, size: int) -> None:
        """Read about `size` bytes, and on to the end of a line."""
        if len(self._buffer) < size:
            self._buffer = bytearray(size)
        try:
            start = memoryview(self._buffer)[:size]
            length = self._stream.readinto(start)  # type: ignore[attr-defined]
            rest = self._stream.readline(LONGEST_LINE)
        except broken_gzip_errors() as error:
            raise FormatError(
                f"{self._path}: the compressed data break off or are damaged ({error}). Fetch the "
                "file again, or read fewer words with max_words."
            ) from error
        if len(rest) == LONGEST_LINE:
            returns = " Its lines seem to end in carriage returns alone." * (b"\r" in rest)
            raise FormatError(
                f"{self._path} holds a line of over {LONGEST_LINE} bytes; it is not .vec text."
                f"{returns}"
            )
        self.ended = not rest.endswith(b"\n")
        if rest or (length and self._buffer[length - 1] != ord("\n")):
            rest = rest.removesuffix(b"\n") + b"\n"
        if len(self._buffer) < length + len(rest):
            self._buffer = self._buffer + rest
        self._buffer[length : length + len(rest)] = rest
        self._lines = memoryview(self._buffer)[: length + len(rest)]
