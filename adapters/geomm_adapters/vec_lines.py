"""Lines of `.vec` text: a word, then its numbers, each after a plain space.

The word ends where the last d numbers begin, so it may hold spaces of every kind, quotes, and bytes
that are not UTF-8 (kept as surrogates, and written back as they were). A line ends in a line feed
and nowhere else; spaces and a carriage return before it are ignored.

`parse_lines` reads whole blocks at once, and gives each line that it cannot vouch for to
`parse_line`, which reads one line with care and says what is wrong with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from geomm_adapters.decimals import MARGIN, NUMBER, Bytes, parse_decimal, parse_decimals
from geomm_plugin.embeddings import RowIndices

_SPACE, _RETURN, _LINE_FEED = np.uint8(32), np.uint8(13), np.uint8(10)
_INTEGER = re.compile(rb"[+-]?[0-9]+")
_NOT_FINITE = re.compile(rb"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_NUMBERS_AT_ONCE = 20_000  # so that what is worked on stays in the processor's cache


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


def parse_lines(block: bytes, dimension: int) -> Lines:
    """Read lines, the last of which ends in a line feed too.

    Raises
    ------
    BadLineError
        For the first line that is not a word and its numbers.
    """
    if dimension >= len(block):  # no line can be whole, whatever a header claims: allocate nothing
        lines = block.split(b"\n")[:-1]
        for number, line in enumerate(lines):
            _parse_numbered(line, number, dimension)
        return Lines([], np.empty((0, dimension), np.float32), len(lines))
    text = np.frombuffer(block, np.uint8)
    separators = np.flatnonzero((text == _SPACE) | (text == _LINE_FEED))
    layout = _Layout.of(text, separators, dimension)
    vectors = np.empty((len(layout.begins), dimension), np.float32)
    suspects = np.ones(len(vectors), bool)
    at_once = max(1, _NUMBERS_AT_ONCE // dimension)
    for start in range(0, len(layout.regular), at_once):
        rows = layout.regular[start : start + at_once]
        vectors[rows], suspects[rows] = _parse_numbers(
            text, separators, layout.firsts[rows], dimension
        )
    words = [
        block[begin:end].decode("utf-8", "surrogateescape")
        for begin, end in zip(layout.begins.tolist(), layout.word_ends.tolist(), strict=True)
    ]
    empty = []
    for row in np.flatnonzero(suspects).tolist():
        line = block[layout.begins[row] : layout.ends[row]]
        found = _parse_numbered(line, row, dimension)
        if found is None:
            empty.append(row)
        else:
            words[row], vectors[row] = found
    if empty:
        vectors = np.delete(vectors, empty, axis=0)
        skipped = set(empty)
        words = [word for row, word in enumerate(words) if row not in skipped]
    return Lines(words, vectors, len(layout.begins))


@dataclass(frozen=True)
class _Layout:
    """Where the lines of a block stand: positions in it, and indices into its separators."""

    begins: RowIndices  # of lines
    ends: RowIndices
    word_ends: RowIndices  # right for the regular lines
    firsts: RowIndices  # the separator before the first number
    regular: RowIndices  # the lines whose word holds no space, except at the edges of the block

    @classmethod
    def of(cls, text: Bytes, separators: RowIndices, dimension: int) -> _Layout:
        feeds = np.flatnonzero(text.take(separators) == _LINE_FEED)
        ends = separators[feeds]
        begins = np.concatenate(([0], ends[:-1] + 1)).astype(np.intp)
        line_firsts = np.concatenate(([0], feeds[:-1] + 1))
        lasts = feeds  # the separator after the last number: before any trailing spaces
        for _ in range(2):
            before = np.maximum(lasts - 1, line_firsts)
            lasts = np.where(separators[lasts] - separators[before] == 1, before, lasts)
        firsts = lasts - dimension
        far_from_edges = (begins >= MARGIN) & (ends + MARGIN <= len(text))
        regular = np.flatnonzero((firsts == line_firsts) & far_from_edges)
        word_ends = begins.copy()
        word_ends[regular] = separators[firsts[regular]]
        return cls(begins, ends, word_ends, firsts, regular)


def _parse_numbers(
    text: Bytes, separators: RowIndices, firsts: RowIndices, dimension: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Return the numbers of some lines, and which lines need care after all."""
    bounds = separators.take(firsts[:, None] + np.arange(dimension + 1))
    bounds[:, -1] -= text.take(bounds[:, -1] - 1) == _RETURN
    starts, ends = (bounds[:, :-1] + 1).ravel(), bounds[:, 1:].ravel()
    values, vouched = parse_decimals(text, starts, ends)
    suspects = np.zeros(len(firsts), bool)
    for position in np.flatnonzero(~vouched).tolist():
        value = parse_decimal(text[starts[position] : ends[position]].tobytes())
        if value is None:
            suspects[position // dimension] = True
        values[position] = 0 if value is None else value
    return values.reshape(-1, dimension), suspects


def _parse_numbered(line: bytes, number: int, dimension: int) -> tuple[str, list[float]] | None:
    try:
        return parse_line(line, dimension)
    except BadLineError as error:
        error.line = number
        raise


def parse_line(line: bytes, dimension: int) -> tuple[str, list[float]] | None:
    """Read one line with care; None if there is nothing on it."""
    line = line.rstrip(b" \r")
    if not line:
        return None
    word, *tokens = line.rsplit(b" ", dimension)
    if b"" in tokens:  # several spaces between numbers
        word, tokens = _split_at_runs(line, dimension)
    if len(tokens) < dimension:
        raise BadLineError(f"expected {_count(dimension, 'number')}, found {len(tokens)}.")
    values = []
    for column, token in enumerate(tokens, start=1):
        value = parse_decimal(token)
        if value is None:
            raise BadLineError(_bad_number(token, column, dimension))
        values.append(value)
    extra = numbers_at_end(word, all(_INTEGER.fullmatch(token) for token in tokens))
    if extra:
        raise BadLineError(
            f"expected {_count(dimension, 'number')}, found {dimension + extra} after the word "
            f"{_shown(word.split(b' ')[0])}."
        )
    return word.decode("utf-8", "surrogateescape"), values


def numbers_at_end(word: bytes, integers: bool = False) -> int:
    """Count the numbers that a word with spaces ends in: more likely numbers too many on its line.

    Whole numbers count only where all numbers of the line are whole: "windows 95" is a word.
    """
    count = 0
    for piece in reversed(word.split(b" ")[1:]):
        if not NUMBER.fullmatch(piece) or (_INTEGER.fullmatch(piece) and not integers):
            break
        count += 1
    return count


def _split_at_runs(line: bytes, dimension: int) -> tuple[bytes, list[bytes]]:
    tokens: list[bytes] = []
    while len(tokens) < dimension and b" " in line:
        line, _, token = line.rpartition(b" ")
        line = line.rstrip(b" ")
        tokens.append(token)
    return line, tokens[::-1]


def _bad_number(token: bytes, column: int, dimension: int) -> str:
    where = f"{_shown(token)} (number {column} of {dimension})"
    if NUMBER.fullmatch(token):
        return f"{where} is too large for float32."
    if _NOT_FINITE.fullmatch(token):
        return f"{where} is not finite; every number must be."
    return f"expected {_count(dimension, 'number')} after the word, but {where} is not a number."


def _shown(piece: bytes) -> str:
    text = piece.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= 40 else text[:40] + "...")


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
