"""Which version of a file was read: its device, inode, size and date; and its content's hash.

A file that is replaced by renaming gets another inode; one that is changed in place gets another
date. So if the stamps of files are the same before and after reading, one version was read.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from geomm_plugin.errors import FileError, GeommError

ATTEMPTS = 5  # to read files that others are replacing
_BLOCK_BYTES = 2**20

Read = TypeVar("Read")


class Stamp(NamedTuple):
    """Numbers that differ between two versions of a file."""

    device: int
    inode: int
    size: int
    modified: int  # nanoseconds


def stamp(path: Path) -> Stamp | None:
    """Return the stamp of a file or folder; None for pipes, devices and what is not there."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        return None
    return Stamp(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def stamps(paths: Iterable[Path]) -> dict[Path, Stamp | None]:
    """Return the stamps of several files at this moment."""
    return {path: stamp(path) for path in paths}


def read_one_version(files: Callable[[], Iterable[Path]], read: Callable[[], Read]) -> Read:
    """Read files as one version: what was replaced meanwhile is read again, some times at most.

    Errors count only if nothing was replaced: half of an old and half of a new set seem damaged.

    Parameters
    ----------
    files
        Which files will be read; asked again before each attempt.
    """
    before: dict[Path, Stamp | None] = {}
    for _ in range(ATTEMPTS):
        is_known = False
        with suppress(FileError):  # a part is missing: read() says which
            before = stamps(files())
            is_known = True
        try:
            result = read()
        except (GeommError, OSError):
            if not is_known or stamps(before) == before:
                raise
        else:
            if is_known and stamps(before) == before:  # what was missing may be of any version
                return result
    raise FileError(
        f"{', '.join(map(str, before))} changed while being read, {ATTEMPTS} times in a row. Wait "
        "for the run that writes there, and try again."
    )


def sha256_of(path: Path) -> str:
    """Return the SHA-256 hash of a file's content in hexadecimal digits, as `sha256sum` does."""
    digest, view = hashlib.sha256(), memoryview(bytearray(_BLOCK_BYTES))
    try:
        with path.open("rb", buffering=0) as stream:
            while count := stream.readinto(view):
                digest.update(view[:count])
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error.strerror or error}.") from error
    return digest.hexdigest()


def sha256_of_arrays(
    arrays: Mapping[str, npt.NDArray[Any]], metadata: Mapping[str, str] | None = None
) -> str:
    """Return the SHA-256 hash of named arrays and of their metadata, in any order."""
    digest, metadata = hashlib.sha256(), metadata or {}
    for name in sorted(metadata):
        digest.update(f"{name!r}: {metadata[name]!r}\n".encode("utf-8", "backslashreplace"))
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name!r}: {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def files_in(path: Path) -> list[Path]:
    """Return a file itself, or all files in a folder and in those within it, by name."""
    if not path.is_dir():
        return [path]
    return sorted(Path(folder, name) for folder, _, names in os.walk(path) for name in names)
