"""Files that gzip may have packed: with `isal` (the extra `fast`) two to three times faster."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from geomm_plugin import progress
from geomm_plugin.errors import FormatError
from geomm_plugin.files import disk

_LEVEL = 1  # level 6 takes six times as long, for files that are only 11 % smaller
_BUFFER = 2**16


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file, plain or packed as its first bytes say, with a bar of how far it is read."""
    with (
        progress.task(f"Reading {path.name}", path.stat().st_size, "bytes") as advance,
        path.open("rb", buffering=0) as file,
        _unpacked(path, io.BufferedReader(_Watched(file, advance), _BUFFER)) as stream,
    ):
        yield stream


def beginning(path: Path, count: int) -> bytes:
    """Return the first bytes of what a file holds; none of a folder, or where they are damaged."""
    if not path.is_file():
        return b""
    try:
        with path.open("rb") as file, _unpacked(path, file) as stream:
            return stream.read(count)
    except FormatError:
        return b""


@contextmanager
def created(path: Path) -> Iterator[BinaryIO]:
    """Create a file to write to, packed if its suffix is `.gz`: equal content, equal files."""
    with disk.create(path) as file:
        if path.suffix.lower() != ".gz":
            yield file
            return
        packer, _ = _gzip()
        with packer("", "wb", _LEVEL, file, mtime=0) as stream:
            yield stream


@contextmanager
def _unpacked(path: Path, file: Any) -> Iterator[BinaryIO]:
    if file.peek(2)[:2] != b"\x1f\x8b":
        yield file
        return
    unpacker, errors = _gzip()
    try:
        yield unpacker(fileobj=file, mode="rb")
    except errors as error:
        raise FormatError(
            f"{path}: the compressed data are cut off or damaged ({error}). Fetch the file again, "
            "or read fewer words with max_words."
        ) from error


class _Watched(io.RawIOBase):
    """A file that reports how many bytes were read."""

    def __init__(self, file: Any, advance: Callable[..., None]):
        self._file, self._advance = file, advance

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(buffer) or 0
        self._advance(count)
        return count


def _gzip() -> tuple[Any, tuple[Any, ...]]:
    """Return the class of packed streams, and what is raised where they are damaged."""
    errors: tuple[Any, ...] = (EOFError, gzip.BadGzipFile, zlib.error)
    try:
        from isal import igzip, isal_zlib
    except ImportError:
        return gzip.GzipFile, errors
    return igzip.IGzipFile, (*errors, isal_zlib.error)
