"""Which version of a file was read: its device, inode, date and size; and its content's hash.

A file that is replaced by renaming gets another inode; one that is changed in place gets another
date. So if the stamps of files are the same before and after reading, one version was read.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from geomm_plugin.errors import FileError

ATTEMPTS = 20  # to read files that others are replacing
_BLOCK_BYTES = 2**20


class Stamp(NamedTuple):
    """Numbers that differ between two versions of a file."""

    device: int
    inode: int
    modified: int
    size: int


class Version:
    """The stamps of some files at one moment; a file that is not there has none."""

    def __init__(self, paths: Iterable[Path]):
        self.stamps = {path: stamp_of(path) for path in paths}

    def is_current(self) -> bool:
        """True if every path still names the file that it named then."""
        return all(stamp_of(path) == stamp for path, stamp in self.stamps.items())

    def can_be_read_again(self) -> bool:
        """True unless a path is a pipe or a device, which can be read only once."""
        return all(path.is_file() or not path.exists() for path in self.stamps)


def stamp_of(path: Path) -> Stamp | None:
    """Return the stamp of a file; None for one that is not there, and for pipes and devices."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        return None
    return Stamp(status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)


def replaced_too_often(path: object) -> FileError:
    """Return the error for a file that changed during every attempt to read it."""
    return FileError(
        f"{path} was replaced while it was read, {ATTEMPTS} times in a row. Wait for the run that "
        "writes it, and read it again."
    )


def content_hash(path: Path) -> str:
    """Return the SHA-256 hash of a file's content in hexadecimal digits, as `sha256sum` does."""
    return hash_of_growing(path, [None])


def hash_of_growing(path: Path, ends: Iterable[int | None]) -> str:
    """Return the same of a file that is still written, always up to the end of what is there."""
    digest = hashlib.sha256()
    begin = 0
    for end in ends:
        begin += _update(digest, path, begin, None if end is None else end - begin)
        if end is not None and begin < end:
            raise FileError(f"{path} was cut off while it was in use. Run it again.")
    return digest.hexdigest()


def hash_of_range(path: Path, begin: int, size: int) -> bytes:
    """Return the SHA-256 hash of a range of a file's bytes."""
    digest = hashlib.sha256()
    _update(digest, path, begin, size)
    return digest.digest()


def _update(digest: Any, path: Path, begin: int, size: int | None) -> int:
    """Feed bytes of a file, so many or all that there are, to a hash; return how many it was."""
    view, done = memoryview(bytearray(_BLOCK_BYTES)), 0
    try:
        with path.open("rb", buffering=0) as stream:
            stream.seek(begin)
            while count := stream.readinto(view if size is None else view[: size - done]):
                digest.update(view[:count])
                done += count
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error.strerror or error}.") from error
    return done


def files_in(path: Path) -> list[Path]:
    """Return a file itself, or all files in a folder and in those within it, by name."""
    if not path.is_dir():
        return [path]
    return sorted(Path(folder, name) for folder, _, names in os.walk(path) for name in names)
