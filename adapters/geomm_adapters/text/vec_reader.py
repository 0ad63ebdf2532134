"""Reading `.vec` text from its beginning: blocks of lines in, words and their vectors out.

Memory follows what the file holds, never what its first line claims.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from geomm_adapters.text.decimals import parse_decimal
from geomm_adapters.text.line_blocks import LONGEST_LINE, LineBlocks
from geomm_adapters.text.vec_lines import (
    BadLineError,
    Lines,
    ends_in_returns,
    parse_lines,
)
from geomm_plugin.errors import FormatError

_MAX_BLANK_BYTES = 2**16  # of empty lines in a row
_MAX_REPETITIONS = 10_000  # lines with a word seen before, where there are few others
_TOO_MANY = 10**18  # words: more than any file holds
_EXPECTED = "the first line 'words dimension', such as '200000 300', or a word and its numbers"


@dataclass(frozen=True)
class _Header:
    promised: int | None  # words that should follow; None if the file has no such line
    dimension: int


class VecReader:
    """One file being read: iterate over it for the words and vectors of each block."""

    def __init__(self, path: Path, file: BinaryIO, max_words: int | None):
        self.path = path
        self.max_words = max_words
        self._count = 0  # words so far, each once
        self._seen: set[str] = set()
        self._repeated: str | None = None  # the first word that came again
        self._repetitions = 0
        self._blank = 0  # bytes of empty lines since the last line with a word
        self._lines = 0  # lines read so far, the header included
        self._entries = 0  # lines with a word read so far, repeated words included
        self._blocks = LineBlocks(path, file)
        self._header = self._read_header()

    def __iter__(self) -> Iterator[tuple[list[str], npt.NDArray[np.float32]]]:
        nothing = np.empty((0, self._header.dimension), np.float32)
        yield [], nothing  # tells the dimension, if nothing else does
        while (wanted := self._wanted()) != 0:
            block = self._blocks.take(wanted, self._header.dimension)
            if not block:
                break
            self._refuse_blank(block)
            yield self._first_of_each(self._parse(block, wanted))
        self._check_promise()

    def warn_of_repetitions(self, stacklevel: int = 6) -> None:
        """Say how many lines were left out, since they repeat a word."""
        if self._repeated is not None:
            warnings.warn(
                f"{self.path}: {self._repetitions} lines repeat a word of an earlier line, e.g. "
                f"{self._repeated[:60]!r}; the first vector of each word was kept.",
                stacklevel=stacklevel,
            )

    def _wanted(self) -> int | None:
        """Return how many more lines to read; None for all."""
        limits = []
        if self.max_words is not None:
            limits.append(self.max_words - self._count)
        if self._header.promised is not None:
            limits.append(self._header.promised - self._entries)
        return min(limits, default=None)

    def _read_header(self) -> _Header:
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
            self._blocks.skip_line()
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
        return _Header(promised, numbers)

    def _parse(self, block: memoryview, wanted: int | None) -> Lines:
        """Parse a block; if a line after the wanted ones is bad, only the wanted ones."""
        try:
            lines = parse_lines(block, self._header.dimension)
        except BadLineError as error:
            all_lines = bytes(block).split(b"\n")[:-1]
            good = [n for n, line in enumerate(all_lines[: error.line]) if line.strip(b" \r")]
            if wanted is not None and len(good) >= wanted:  # the bad line is after the wanted ones
                end = sum(len(line) + 1 for line in all_lines[: good[wanted - 1] + 1])
                self._blocks.give_back(block[end:])
                return self._parse(block[:end], wanted)
            line = all_lines[error.line]
            number = self._lines + error.line + 1
            last = self._blocks.ended and error.line == len(all_lines) - 1
            raise FormatError(
                f"{self.path}, line {number}: {error} {self._next_step(line, number, last)}"
            ) from None
        self._lines += lines.count
        self._entries += len(lines.words)
        return lines

    def _next_step(self, line: bytes, number: int, last: bool) -> str:
        if hint := _hint(line):
            return hint
        if last and number > 2:
            return "The file seems cut off; fetch it again, or read fewer words with max_words."
        if number == 2 and self._header.promised is not None:
            return f"Line 1 says {self._header.dimension} numbers a word; fix whichever is wrong."
        return "Fix the line, or take it out."

    def _first_of_each(self, lines: Lines) -> tuple[list[str], npt.NDArray[np.float32]]:
        """Return the words that were not there before, and their vectors."""
        words, vectors = lines.words, lines.vectors
        if len(set(words)) == len(words) and self._seen.isdisjoint(words):
            self._seen.update(words)
        else:
            new_rows = []
            for row, word in enumerate(words):
                if word in self._seen:
                    self._repeated = word if self._repeated is None else self._repeated
                    self._repetitions += 1
                else:
                    self._seen.add(word)
                    new_rows.append(row)
            words, vectors = [words[row] for row in new_rows], vectors[new_rows]
        self._count += len(words)
        if self._repetitions > max(_MAX_REPETITIONS, 10 * self._count):
            raise FormatError(
                f"{self.path}, up to line {self._lines}: {self._repetitions} lines repeat one of "
                f"{self._count} words. This is no file of word vectors."
            )
        return words, vectors

    def _refuse_blank(self, block: memoryview) -> None:
        """Refuse long runs of empty lines: a small compressed file can hold endlessly many."""
        is_blank = not (bytes(block[:99]).strip(b" \r\n") or bytes(block).strip(b" \r\n"))
        self._blank = self._blank + len(block) if is_blank else 0
        if self._blank > _MAX_BLANK_BYTES:
            raise FormatError(
                f"{self.path}: over {_MAX_BLANK_BYTES} bytes of empty lines follow line "
                f"{self._lines}. Take them out, or read fewer words with max_words."
            )

    def _check_promise(self) -> None:
        promised = self._header.promised
        if promised is None or (self.max_words is not None and self._count >= self.max_words):
            return
        entries, or_more = self._entries, ""
        while block := self._blocks.take(None, 1):
            self._refuse_blank(block)
            entries += sum(1 for line in bytes(block).split(b"\n") if line.strip(b" \r"))
            if self.max_words is not None and entries > max(promised, self.max_words):
                or_more = " or more"  # the rest is not counted: max_words keeps reading short
                break
        if entries != promised:
            cut = "The file seems cut off; fetch it again. " if entries < promised else ""
            raise FormatError(
                f"{self.path}: line 1 promises {promised} words, but the file holds "
                f"{entries}{or_more}. {cut}If it is whole, fix line 1: "
                f"'{entries} {self._header.dimension}', or pass "
                f"max_words={max(self._count, 1)}."
            )


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
