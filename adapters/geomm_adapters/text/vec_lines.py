"""Lines of `.vec` text: a word, then its numbers, each after a plain space.

The word ends where the last d numbers begin, so it may hold spaces of every kind, quotes, and bytes
that are not UTF-8 (kept as surrogates, and written back as they were). A line ends in a line feed
and nowhere else; spaces and a carriage return before it are ignored.

`parse_lines` reads most lines as JSON, [number,number,...], which the same library reads that also
writes them: the nearest float64, then the nearest float32. Each line that may mean something else
in JSON goes to `parse_line`, which reads one line slowly and says what is wrong with it.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

DECIMAL_BYTES = b"0123456789.+-eE"
TOO_LARGE = 2.0**128 - 2.0**103  # half way from the largest float32 to 2^128: infinity is nearer

_NOT_FINITE = re.compile(rb"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_NUMBER_AND_RETURN = re.compile(rb" [+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?\r+(?![ \r])")
_LONGEST_NUMBER = 32  # bytes, on average: a line of longer ones is read slowly


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
    ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n")).tolist()
    if 2 * dimension * len(ends) > len(block):  # lines are too short for so many numbers:
        return _parse_line_by_line(bytes(block), dimension)  # never reserve memory by the header
    places = list(map(slice, [0, *(end + 1 for end in ends)], ends))
    vectors = np.empty((len(places), dimension), np.float32)
    words, suspects = _parse_as_json(block, places, vectors)
    empty = []
    for row in sorted(suspects):
        entry = _parse_numbered(bytes(block[places[row]]), row, dimension)
        if entry is None:
            empty.append(row)
        else:
            words[row], vectors[row] = entry
    if empty:
        vectors = np.delete(vectors, empty, axis=0)
        skipped = set(empty)
        words = [word for row, word in enumerate(words) if row not in skipped]
    return Lines(words, vectors, len(places))


def _parse_as_json(
    block: bytes | memoryview, places: list[slice], vectors: npt.NDArray[np.float32]
) -> tuple[list[str], set[int]]:
    """Fill rows with the numbers of lines; return the words, and the rows to parse slowly."""
    from orjson import loads

    dimension = vectors.shape[1]
    pack = struct.Struct(f"={dimension}f").pack_into  # refuses what is no number, or too large
    words: list[str] = []
    suspects: set[int] = set()
    for row, place in enumerate(places):
        word, _, numbers = bytes(block[place]).partition(b" ")
        words.append(word.decode("utf-8", "surrogateescape"))
        numbers = numbers.rstrip(b" \r")
        if _means_more_in_json(numbers) or len(numbers) > _LONGEST_NUMBER * dimension:
            suspects.add(row)
            continue
        try:
            pack(vectors.data, 4 * dimension * row, *loads(b"[%b]" % numbers.replace(b" ", b",")))
        except (ValueError, OverflowError, struct.error):
            suspects.add(row)
    for row in np.flatnonzero((vectors == 0).any(axis=1)).tolist():
        if b"-0 " in bytes(block[places[row]]).rstrip(b" \r") + b" ":  # 0 in JSON
            suspects.add(row)
    return words, suspects


def _means_more_in_json(numbers: bytes) -> bool:
    """True for commas, white space other than ours, and letters of true, false and null."""
    return (
        b"," in numbers
        or b"\t" in numbers
        or b"\r" in numbers
        or b"t" in numbers
        or b"l" in numbers
    )


def _parse_line_by_line(block: bytes, dimension: int) -> Lines:
    lines = block.split(b"\n")[:-1]
    parsed = (_parse_numbered(line, number, dimension) for number, line in enumerate(lines))
    entries = [entry for entry in parsed if entry is not None]
    vectors = np.array([values for _, values in entries], np.float64).astype(np.float32)
    words = [word for word, _ in entries]
    return Lines(words, vectors.reshape(len(entries), dimension), len(lines))


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


def parse_decimal(token: bytes) -> float | None:
    """Return one number of any form, or None if it is none."""
    # float() takes more than decimal numbers (nan, 1_000, other digits), but not of these bytes.
    if token.translate(None, DECIMAL_BYTES):
        return None
    try:
        return float(token)
    except ValueError:
        return None


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
    """Tell whether a carriage return follows a number: lines then end in it, not in a line feed."""
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
