"""Plain `.vec` text in parts: ranges of bytes, each moved to the ends of lines.

A line belongs to the range that it begins in. Ranges are parsed in any order, by whoever is free,
and put together in their own: words that repeat are left out, and reading stops at max_words, as
VecReader does. Whatever is odd (a line that cannot be parsed, a wrong first line) is left to it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from geomm_adapters.text.line_blocks import LONGEST_LINE
from geomm_adapters.text.vec_lines import BadLineError, Lines, parse_lines
from geomm_adapters.text.vec_reader import VecReader, are_too_many, repetitions_message
from geomm_plugin.file_parts import IrregularFileError, Part, PartedFile

_PART_BYTES = 2**24
_BLOCK_BYTES = 2**22  # parsed at once
_MAX_BLANK_LINES = 1000  # in a part


class VecParts(PartedFile):
    """One plain file that is read in parts."""

    @classmethod
    def of(cls, path: Path, max_words: int | None) -> VecParts | None:
        """Return the parts of a file; None for gzip, pipes and devices."""
        if not path.is_file():
            return None
        with path.open("rb") as file:
            if file.peek(2)[:2] == b"\x1f\x8b":
                return None
            return cls(path, VecReader(path, file, max_words), max_words)

    def __init__(self, path: Path, reader: VecReader, max_words: int | None):
        self.path = path
        self.dimension = reader.dimension
        self._promised, self._max_words = reader.promised, max_words
        self._bytes_per_line = reader.bytes_per_line
        self._begin = self._position = reader.begin
        self._end = path.stat().st_size
        self._seen: set[str] = set()
        self._entries = 0  # lines with a word so far, repeated words included
        self._repetitions = 0
        self._repeated = ""

    def parts(self) -> Iterator[partial[Part]]:
        """Yield calls that parse one range each: to the end, or as far as max_words may reach."""
        stop = self._end
        if self._max_words is not None:
            lines = self._max_words - len(self._seen)
            stop = min(stop, self._position + int(1.1 * lines * self._bytes_per_line) + 1024)
        while self._position < stop:
            start = self._position
            self._position = min(start + _PART_BYTES, stop)
            from_line = start == self._begin
            yield partial(parse_range, self.path, start, self._position, self.dimension, from_line)

    def needs_more(self) -> bool:
        """Tell whether lines were longer than estimated, or words repeated."""
        return self._position < self._end and not self._is_full()

    def add(self, part: Part) -> list[slice]:
        """Take in the next part; return its rows with new words, as far as they are wanted."""
        if self._is_full():
            return []
        words = part.words
        is_regular = (
            len(set(words)) == len(words)
            and self._seen.isdisjoint(words)
            and not (self._max_words and len(self._seen) + len(words) > self._max_words)
        )
        if is_regular:
            self._seen.update(words)
            self._entries += len(words)
            kept = [slice(0, len(words))]
        else:
            kept = self._kept_one_by_one(words)
        if (
            (self._promised is not None and self._entries > self._promised)
            or (not part.is_whole and not self._is_full())
            or part.blank > _MAX_BLANK_LINES
            or are_too_many(self._repetitions, len(self._seen))
        ):
            raise IrregularFileError(self.path)
        return kept

    def finish(self) -> None:
        """Check that there are as many words as the first line says; warn of repeated ones."""
        if not self._is_full() and self._promised not in (None, self._entries):
            raise IrregularFileError(self.path)
        if self._repetitions:
            message = repetitions_message(self.path, self._repetitions, self._repeated)
            warnings.warn(message, stacklevel=2)

    def _is_full(self) -> bool:
        return self._max_words is not None and len(self._seen) >= self._max_words

    def _kept_one_by_one(self, words: list[str]) -> list[slice]:
        kept: list[slice] = []
        for row, word in enumerate(words):
            if self._is_full():
                break
            self._entries += 1
            if word in self._seen:
                self._repeated = self._repeated if self._repetitions else word
                self._repetitions += 1
                continue
            self._seen.add(word)
            if kept and kept[-1].stop == row:
                kept[-1] = slice(kept[-1].start, row + 1)
            else:
                kept.append(slice(row, row + 1))
        return kept


def parse_range(path: Path, start: int, stop: int, dimension: int, from_line: bool) -> Part:
    """Parse the lines that begin in a range of bytes; up to the first that cannot be parsed.

    Parameters
    ----------
    from_line
        Whether the range begins with a line, as the first one does.
    """
    parsed: list[Lines] = []
    is_whole = True
    with path.open("rb") as file:
        file.seek(start if from_line else start - 1)
        if not from_line and len(file.readline(LONGEST_LINE)) == LONGEST_LINE:
            return Part([], np.empty((0, dimension), np.float32), stop - start, is_whole=False)
        while is_whole and (position := file.tell()) < stop:
            block = file.read(min(_BLOCK_BYTES, stop - position))
            if not block.endswith(b"\n"):  # else the next line begins in the next block
                block += file.readline(LONGEST_LINE)
            is_whole = len(block) < LONGEST_LINE
            if not block.endswith(b"\n"):
                block += b"\n"
            try:
                parsed.append(parse_lines(block, dimension))
            except BadLineError as error:
                is_whole = False
                good = b"".join(line + b"\n" for line in block.split(b"\n")[: error.line])
                if good:
                    parsed.append(parse_lines(good, dimension))
    words = [word for lines in parsed for word in lines.words]
    empty = np.empty((0, dimension), np.float32)
    vectors = np.concatenate([empty, *(lines.vectors for lines in parsed)])
    blank = sum(lines.count for lines in parsed) - len(words)
    return Part(words, vectors, stop - start, blank, is_whole)
