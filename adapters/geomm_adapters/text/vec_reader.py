"""Reading `.vec` text from its beginning: blocks of lines in, words and their vectors out.

Memory follows what the file holds, never what its first line claims.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from geomm_adapters.text.decimals import parse_decimal
from geomm_adapters.text.vec_lines import BadLineError, Lines, ends_in_returns, parse_lines
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FormatError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LONGEST_LINE = 2**26  # bytes
_FIRST_READ, _READ = 2**18, 2**22
_MAX_IDLE_LINES = 10_000  # which are empty or repeat a word, where there are few others
_TOO_MANY = 10**18  # words: more than any file holds
_EXPECTED = "the first line 'words dimension', such as '200000 300', or a word and its numbers"


def gathered(blocks: Iterable[tuple[list[str], npt.NDArray[np.float32]]]) -> Embeddings:
    """Return the words and vectors of all blocks.

    The array grows in place, and has at most an eighth more memory than it needs: large arrays are
    moved by the operating system, not copied, and nobody else holds this one.
    """
    words: list[str] = []
    vectors, dimension = np.empty((0, 0), np.float32), 0
    for some, rows in blocks:
        begin, end, dimension = len(words), len(words) + len(some), rows.shape[1]
        if not begin or end > len(vectors):
            vectors.resize((max(end, begin + begin // 8), dimension), refcheck=False)
        vectors[begin:end] = rows
        words += some
        del some, rows  # while the next ones are made
    vectors.resize((len(words), dimension), refcheck=False)
    return Embeddings(words, vectors)


class VecReader:
    """A stream being read: iterate over it for the words and vectors of each block."""

    def __init__(self, path: Path, stream: BinaryIO, max_words: int | None):
        self.path = path
        self.max_words = max_words
        self._seen: set[str] = set()
        self._repeated: str | None = None  # the first word that came again
        self._lines = 0  # read so far, the header included
        self._entries = 0  # lines with a word, repeated ones included
        self._blocks = _LineBlocks(path, stream)
        self._promised, self._dimension = self._read_header()

    def __iter__(self) -> Iterator[tuple[list[str], npt.NDArray[np.float32]]]:
        nothing = np.empty((0, self._dimension), np.float32)
        yield [], nothing  # shows the dimension, if nothing else does
        while (wanted := self._wanted()) != 0:
            block = self._blocks.take(wanted, self._dimension)
            if not block:
                break
            yield self._first_of_each(self._parse(block))
        self._check_promise()

    def warn_of_repetitions(self, stacklevel: int) -> None:
        """Say how many lines were left out, since they repeat a word."""
        if self._repeated is not None:
            warnings.warn(
                f"{self.path}: {self._entries - len(self._seen)} lines repeat a word of an earlier "
                f"line, e.g. {self._repeated[:60]!r}; the first vector of each word was kept.",
                stacklevel=stacklevel,
            )

    def _wanted(self) -> int | None:
        """Return how many more lines to read; None for all."""
        limits = []
        if self.max_words is not None:
            limits.append(self.max_words - len(self._seen))
        if self._promised is not None:
            limits.append(self._promised - self._entries)
        return min(limits, default=None)

    def _read_header(self) -> tuple[int | None, int]:
        """Return how many words should follow, None if the file does not say, and the dimension."""
        first = self._blocks.first_line()
        if first is None:
            raise FormatError(f"{self.path} is empty; expected {_EXPECTED}.")
        first = first.rstrip(b" \r")
        if ends_in_returns(first):
            raise FormatError(
                f"{self.path}, line 1: lines end in carriage returns alone. Turn each into a line "
                f"feed, e.g. with `tr '\\r' '\\n' < {self.path.name} > new.vec`."
            )
        columns = first.split(b" ")
        promised: int | None = None
        if len(columns) == 2 and columns[0].isdigit() and columns[1].isdigit():
            self._blocks.take(1, 0)
            self._lines = 1
            promised, numbers = map(_bounded, columns)
        else:
            numbers = 0
            for column in reversed(columns[1:]):
                if parse_decimal(column) is None:
                    break
                numbers += 1
        if not 0 < numbers < LONGEST_LINE:
            shown = first[:60].decode("utf-8", "backslashreplace")
            raise FormatError(
                f"{self.path}, line 1: expected {_EXPECTED}; found {shown!r}. "
                + (_hint(first) or "Check that this is a file of word vectors.")
            )
        return promised, numbers

    def _parse(self, block: memoryview) -> Lines:
        try:
            return parse_lines(block, self._dimension)
        except BadLineError as error:
            lines = bytes(block).split(b"\n")[:-1]
            line, number = lines[error.line], self._lines + error.line + 1
            last = self._blocks.is_over and error.line == len(lines) - 1
            raise FormatError(
                f"{self.path}, line {number}: {error} {self._next_step(line, number, last)}"
            ) from None

    def _next_step(self, line: bytes, number: int, last: bool) -> str:
        if hint := _hint(line):
            return hint
        if last and number > 2:
            return "The file seems cut off; fetch it again, or read fewer words with max_words."
        if number == 2 and self._promised is not None:
            return f"Line 1 says {self._dimension} numbers a word; fix whichever is wrong."
        return "Fix the line, or take it out."

    def _first_of_each(self, lines: Lines) -> tuple[list[str], npt.NDArray[np.float32]]:
        """Return the words that were not there before, and their vectors."""
        words, vectors = lines.words, lines.vectors
        self._lines += lines.count
        self._entries += len(words)
        if len(set(words)) == len(words) and self._seen.isdisjoint(words):
            self._seen.update(words)
        else:
            new_rows = []
            for row, word in enumerate(words):
                if word in self._seen:
                    self._repeated = word if self._repeated is None else self._repeated
                else:
                    self._seen.add(word)
                    new_rows.append(row)
            words, vectors = [words[row] for row in new_rows], vectors[new_rows]
        self._refuse_idle(self._lines - len(self._seen))
        return words, vectors

    def _refuse_idle(self, count: int) -> None:
        """Refuse lines without a new word: a small compressed file can hold endlessly many."""
        if count > max(_MAX_IDLE_LINES, 10 * len(self._seen)):
            raise FormatError(
                f"{self.path}, up to line {self._lines}: {count} lines are empty or repeat one of "
                f"{len(self._seen)} words. This is no file of word vectors."
            )

    def _check_promise(self) -> None:
        promised = self._promised
        if promised is None or (self.max_words is not None and len(self._seen) >= self.max_words):
            return
        entries, or_more = self._entries, ""
        while block := self._blocks.take():
            lines = bytes(block).split(b"\n")[:-1]
            self._lines += len(lines)
            entries += sum(1 for line in lines if line.strip(b" \r"))
            self._refuse_idle(self._lines - entries)
            if self.max_words is not None and entries > max(promised, self.max_words):
                or_more = " or more"  # the rest is not counted: max_words keeps reading short
                break
        if entries != promised:
            cut = "The file seems cut off; fetch it again. " if entries < promised else ""
            raise FormatError(
                f"{self.path}: line 1 promises {promised} words, but the file holds "
                f"{entries}{or_more}. {cut}If it is whole, fix line 1: "
                f"'{entries} {self._dimension}', or pass max_words={max(len(self._seen), 1)}."
            )


class _LineBlocks:
    """A stream as blocks of whole lines, each of which ends in a line feed.

    A block stands in a buffer that the next one overwrites.
    """

    def __init__(self, path: Path, stream: BinaryIO):
        self.ended = False  # the stream has been read to its end
        self._path = path
        self._stream: Any = stream
        self._buffer = bytearray()
        self._begin = self._end = 0  # of the lines that are read, but not yet taken

    @property
    def is_over(self) -> bool:
        """True if all lines of the stream were taken."""
        return self.ended and self._begin == self._end

    def first_line(self) -> bytes | None:
        """Return the first line; None if the stream holds nothing but white space."""
        self._fill(_FIRST_READ)
        if self._buffer.startswith(BYTE_ORDER_MARK):
            self._begin = len(BYTE_ORDER_MARK)
        text = bytes(memoryview(self._buffer)[self._begin : self._end])
        return text.partition(b"\n")[0] if text.strip() or not self.ended else None

    def take(self, count: int | None = None, dimension: int = 0) -> memoryview:
        """Return the next block of lines, with at most `count` words; empty at the end.

        A line with a word has two bytes for each number, and its line feed, at least.
        """
        if self._begin == self._end:
            self._fill(_READ)
        begin, end = self._begin, self._end
        if count is not None and count <= (end - begin) // (2 * dimension + 1):
            end = begin
            for _ in range(count):
                end = self._buffer.find(b"\n", end, self._end) + 1
                if end == self._end:
                    break
        self._begin = end
        return memoryview(self._buffer)[begin:end]

    def _fill(self, size: int) -> None:
        """Read about `size` bytes, and on to the end of a line."""
        if len(self._buffer) < size:
            self._buffer = bytearray(size)
        length = self._stream.readinto(memoryview(self._buffer)[:size])
        rest = self._stream.readline(LONGEST_LINE)
        if len(rest) == LONGEST_LINE:
            returns = " Its lines seem to end in carriage returns alone." * (b"\r" in rest)
            raise FormatError(
                f"{self._path} holds a line of over {LONGEST_LINE} bytes; it is not .vec text."
                f"{returns}"
            )
        self.ended = not rest.endswith(b"\n")
        if self.ended and (rest or (length and self._buffer[length - 1] != ord("\n"))):
            rest += b"\n"
        self._begin, self._end = 0, length + len(rest)
        if len(self._buffer) < self._end:
            self._buffer = self._buffer + rest
        self._buffer[length : self._end] = rest


def _bounded(digits: bytes) -> int:
    """Return the number that digits stand for, at most _TOO_MANY."""
    return int(digits) if len(digits) < len(str(_TOO_MANY)) else _TOO_MANY


def _hint(line: bytes) -> str:
    if line.startswith(b"PK\3\4"):
        return "The file seems to be a zip archive; unpack it first."
    if b"\0" in line:
        return "The file seems to be binary, not text; fastText and word2vec call such files .bin."
    if b"\t" in line:
        return "There are tabs on this line; columns are separated by single spaces."
    return ""
