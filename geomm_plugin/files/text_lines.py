"""Lists as text files, one item a line: dictionaries, scored pairs, questions, sentences.

Text is UTF-8. Bytes that are not are read as half surrogates, so that they can be written again.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from geomm_plugin.errors import DictionaryError, FileError, FormatError, ParameterError

LONGEST_LINE = 2**24  # bytes
ALWAYS_READ, MAX_COMPRESSION = 2**20, 50  # bytes; text shrinks to a tenth as a rule


def split_columns(line: str) -> list[str]:
    """Split a line at its tabs, where a column may be empty, or else at spaces.

    Empty columns at the end are dropped: they say nothing.
    """
    if "\t" not in line:
        return [column for column in line.split(" ") if column]
    columns = [column.strip(" ") for column in line.split("\t")]
    while columns and not columns[-1]:
        columns.pop()
    return columns


def not_utf8(texts: Sequence[str]) -> list[int]:
    """Return which texts were read from bytes that are not UTF-8."""
    try:
        "\n".join(texts).encode()
    except UnicodeEncodeError:
        return [n for n, text in enumerate(texts) if any("\udc80" <= c <= "\udcff" for c in text)]
    return []


def why_not_utf8(path: Path, texts: Sequence[str], odd: Sequence[int], what: str) -> str:
    """Say how many texts are not UTF-8, show the first one, and what to do."""
    first = texts[odd[0]][:60]
    latin = first.encode("utf-8", "surrogateescape").decode("latin-1")
    option = "--encoding latin-1" if what == "lines" else "`geomm convert --encoding latin-1`"
    return (
        f"{path}: {len(odd):,} of {len(texts):,} {what} are not UTF-8; the first, {what[:-1]} "
        f"{odd[0] + 1}, is {first!r}, in Latin-1 {latin!r}. Convert the file, e.g. with iconv -f "
        f"LATIN1 -t UTF-8, or name its encoding: {option}."
    )


def decoded(path: Path, texts: Sequence[str], encoding: str) -> list[str]:
    """Return texts that were read from a file as what they are in another encoding."""
    try:
        return [text.encode("utf-8", "surrogateescape").decode(encoding) for text in texts]
    except LookupError:
        raise ParameterError(
            f"There is no encoding {encoding!r}. Choose one that Python knows, e.g. 'latin-1'."
        ) from None
    except UnicodeError as error:
        raise FormatError(
            f"{path} is not in the encoding {encoding!r} ({error}). Name another one."
        ) from error


def read_lines(path: Path) -> Iterator[str]:
    """Read the lines of a text file (or .gz), in UTF-8; bytes that are not survive as they are."""
    try:
        with path.open("rb") as file:
            compressed = path.suffix == ".gz"
            stream = gzip.GzipFile(fileobj=file) if compressed else file
            sized = compressed and file.seekable()  # a pipe does not say how far it was read
            size = number = 0
            while line := stream.readline(LONGEST_LINE):
                size, number = size + len(line), number + 1
                swollen = sized and size > ALWAYS_READ and size > MAX_COMPRESSION * file.tell()
                if len(line) == LONGEST_LINE or b"\0" in line or swollen:
                    raise DictionaryError(
                        f"{path}, line {number}: {_why_no_text(line, swollen)} Give a text file in "
                        "UTF-8."
                    )
                if number == 1:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                yield line.rstrip(b"\r\n").decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        raise FileError(f"There is no file {path}. Check its path.") from None
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or error
        raise FileError(f"Cannot read {path}: {why}.") from error
    except ValueError as error:
        if isinstance(error, DictionaryError):
            raise
        raise FileError(f"{str(path)!r} is no name of a file: {error}.") from error


def _why_no_text(line: bytes, swollen: bool) -> str:
    if swollen:
        return "up to here it holds far more bytes than text of its compressed size has."
    if b"\0" in line:
        return "it holds a zero byte; it is binary, or in UTF-16."
    return f"it is longer than {LONGEST_LINE} bytes."
