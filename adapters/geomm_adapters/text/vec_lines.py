"""Lines of `.vec` text: a word, then its numbers, each after a plain space.

The word ends where the last d numbers begin, so it may hold spaces of every kind, quotes, and bytes
that are not UTF-8 (kept as surrogates, and written back as they were). A line ends in a line feed
and nowhere else; spaces and a carriage return before it are ignored.

`parse_lines` reads whole blocks at once. Each line that the fast way may not read correctly goes to
`parse_line`, which reads one line slowly and says what is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from geomm_adapters.text.decimals import (
    DECIMAL_BYTES,
    MARGIN,
    TOO_LARGE,
    Bytes,
    parse_decimal,
    parse_decimals,
)
from geomm_plugin.arrays import RowIndices

_SPACE, _RETURN, _LINE_FEED = np.uint8(32), np.uint8(13), np.uint8(10)
_NOT_FINITE = re.compile(rb"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_NUMBER_AND_RETURN = re.compile(rb" [+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?\r+(?![ \r])")
_NUMBERS_AT_ONCE = 20_000  # so that the arrays stay in the processor's cache


class BadLineError(Exception):
    """A line that is not a word and its numbers; `line` counts from 0 within the block."""

    def __init__(self, problem: str):
        super().__init__(problem)
        self.line = 0


@dataclass(frozen=True)
class Lines:
    """The words and float32 vectors of some lines; `count` also counts the empty ones."""

    words: list[str]
    vectors: npt.NDArray[np.float32]
    count: int


def parse_lines(block: bytes | memoryview, dimension: int) -> Lines:
    """Read lines, the last of which ends in a line feed too.

    Raises
    ------
    BadLineError
        For the first line that is not a word and its numbers.
    """
    text = np.frombuffer(block, np.uint8)
    separators, feeds = _find_separators(text)
    if 2 * dimension * len(feeds) > len(block):  # lines are too short for so many numbers:
        return _parse_line_by_line(bytes(block), dimension)  # never reserve memory by the header
    ends = separators[feeds]
    begins = np.concatenate(([0], ends[:-1] + 1))
    vectors = np.empty((len(feeds), dimension), np.float32)
    suspects = np.ones(len(feeds), bool)
    word_ends = begins.copy()
    for rows, columns in _runs_of_equal_lines(text, separators, feeds, dimension):
        bounds = separators[feeds[rows.start - 1] : feeds[rows.stop - 1] + 1]
        word_ends[rows] = bounds[1::columns]
        vectors[rows], suspects[rows] = _parse_numbers(text, bounds, columns, dimension)
    words = [
        str(block[begin:end], "utf-8", "surrogateescape")
        for begin, end in zip(begins.tolist(), word_ends.tolist(), strict=True)
    ]
    empty = []
    for row in np.flatnonzero(suspects).tolist():
        entry = _parse_numbered(bytes(block[begins[row] : ends[row]]), row, dimension)
        if entry is None:
            empty.append(row)
        else:
            words[row], vectors[row] = entry
    if empty:
        vectors = np.delete(vectors, empty, axis=0)
        skipped = set(empty)
        words = [word for row, word in enumerate(words) if row not in skipped]
    return Lines(words, vectors, len(feeds))


def _parse_line_by_line(block: bytes, dimension: int) -> Lines:
    lines = block.split(b"\n")[:-1]
    parsed = (_parse_numbered(line, number, dimension) for number, line in enumerate(lines))
    entries = [entry for entry in parsed if entry is not None]
    vectors = np.array([values for _, values in entries], np.float64).astype(np.float32)
    words = [word for word, _ in entries]
    return Lines(words, vectors.reshape(len(entries), dimension), len(lines))


def _find_separators(text: Bytes) -> tuple[RowIndices, RowIndices]:
    """Return the positions of spaces and line feeds, and which of these are line feeds."""
    separators = np.flatnonzero(text <= _SPACE)  # and other control characters, which are rare
    kinds = text.take(separators)
    feeds = kinds == _LINE_FEED
    is_separator = feeds | (kinds == _SPACE)
    if not is_separator.all():
        separators, feeds = separators[is_separator], feeds[is_separator]
    return separators, np.flatnonzero(feeds)


def _runs_of_equal_lines(
    text: Bytes, separators: RowIndices, feeds: RowIndices, dimension: int
) -> Iterator[tuple[slice, int]]:
    """Yield runs of lines with the same number of columns: a word without spaces, then numbers.

    A space at the end of a line makes one more column, which is empty. Lines of another form, and
    those at the edges of the block, are in no run.
    """
    columns = np.diff(feeds, prepend=-1)
    spare = separators[feeds] - separators[np.maximum(feeds - 1, 0)] == 1
    inside = (separators[feeds - columns] >= MARGIN) & (separators[feeds] < len(text) - MARGIN)
    inside[0] = False
    regular = inside & (columns - spare == dimension + 1)
    columns[~regular] = 0
    at_once = max(1, _NUMBERS_AT_ONCE // dimension)
    changes = np.flatnonzero(np.diff(columns)) + 1
    for start, stop in pairwise([0, *changes.tolist(), len(columns)]):
        if columns[start]:
            for first in range(start, stop, at_once):
                yield slice(first, min(first + at_once, stop)), int(columns[start])


def _parse_numbers(
    text: Bytes, bounds: RowIndices, columns: int, dimension: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return the numbers of lines with equally many columns, and which lines to parse slowly.

    `bounds` are the separators before, between and after the columns, the word's included.
    """
    starts, ends = bounds[:-1] + 1, bounds[1:]
    last = ends[dimension::columns]
    returns = text.take(last - 1) == _RETURN
    if returns.any():
        ends = ends.copy()
        ends[dimension::columns] = last - returns
    values, is_exact = parse_decimals(text, starts, ends)
    column_of = np.arange(columns)
    is_exact.reshape(-1, columns)[:, (column_of == 0) | (column_of > dimension)] = (
        True  # no numbers
    )
    doubts = np.flatnonzero(~is_exact)
    suspects = np.zeros(len(values) // columns, bool)
    if len(doubts) > len(values) // 8:  # line by line is faster than number by number
        suspects[doubts // columns] = True
        doubts = doubts[:0]
    for place in doubts.tolist():
        value = parse_decimal(text[starts[place] : ends[place]].tobytes())
        if value is None or abs(value) >= TOO_LARGE:
            suspects[place // columns] = True
        else:
            values[place] = value
    return values.reshape(-1, columns)[:, 1 : dimension + 1], suspects


def _parse_numbered(line: bytes, number: int, dimension: int) -> tuple[str, list[float]] | None:
    try:
        return parse_line(line, dimension)
    except BadLineError as error:
        error.line = number
        raise


def parse_line(line: bytes, dimension: int) -> tuple[str, list[float]] | None:
    """Read one line slowly and exactly; None if it is empty."""
    line = line.rstrip(b" \r")
    if not line:
        return None
    word, *tokens = line.rsplit(b" ", dimension)
    if b"" in tokens:  # several spaces between numbers
        word, tokens = _split_at_runs(line, dimension)
    if len(tokens) < dimension:
        raise BadLineError(f"expected {_count(dimension, 'number')}, found {len(tokens)}.")
    values = _parse_tokens(tokens)
    extra = numbers_at_end(word, all(map(_is_whole, tokens))) if b" " in word else 0
    if extra:
        raise BadLineError(
            f"expected {_count(dimension, 'number')}, found {dimension + extra} after the word "
            f"{_shown(word.split(b' ')[0])}."
        )
    return word.decode("utf-8", "surrogateescape"), values


def _parse_tokens(tokens: list[bytes]) -> list[float]:
    if not b"".join(tokens).translate(None, DECIMAL_BYTES):
        try:
            values = list(map(float, tokens))  # as parse_decimal would, all at once
        except ValueError:
            pass
        else:
            if max(values) < TOO_LARGE and min(values) > -TOO_LARGE:
                return values
    for column, token in enumerate(tokens, start=1):
        value = parse_decimal(token)
        where = f"{_shown(token)} (number {column} of {len(tokens)})"
        if value is not None and abs(value) >= TOO_LARGE:
            raise BadLineError(f"{where} is too large for float32.")
        if value is None and _NOT_FINITE.fullmatch(token):
            raise BadLineError(f"{where} is not finite; every number must be.")
        if value is None:
            expected = f"expected {_count(len(tokens), 'number')} after the word"
            raise BadLineError(f"{expected}, but {where} is not a number.")
    raise AssertionError("one of these was no number")


def numbers_at_end(word: bytes, integers: bool = False) -> int:
    """Count the numbers at the end of a word with spaces: probably the line has too many numbers.

    Whole numbers count only where all numbers of the line are whole: "windows 95" is a word.
    """
    count = 0
    for piece in reversed(word.split(b" ")[1:]):
        if parse_decimal(piece) is None or (_is_whole(piece) and not integers):
            break
        count += 1
    return count


def ends_in_returns(text: bytes) -> bool:
    """True if a carriage return follows a number: lines then end in it, not in a line feed."""
    return _NUMBER_AND_RETURN.search(text) is not None


def _is_whole(number: bytes) -> bool:
    return number.lstrip(b"+-").isdigit()


def _split_at_runs(line: bytes, dimension: int) -> tuple[bytes, list[bytes]]:
    tokens: list[bytes] = []
    while len(tokens) < dimension and b" " in line:
        line, _, token = line.rpartition(b" ")
        line = line.rstrip(b" ")
        tokens.append(token)
    return line, tokens[::-1]


def _shown(piece: bytes) -> str:
    text = piece.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= 40 else text[:40] + "...")


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
