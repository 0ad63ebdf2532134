"""All operations that create, fill, move or fsync our files, in one place.

A watcher is called with the name and path of each operation before it is done.
`tests/files/test_every_fault.py` makes the first, the second, the third, ... of them fail, until a
run succeeds. `remove_tree`, which removes files that nobody reads any more, is here too.
"""

from __future__ import annotations

import errno
import io
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

Watcher = Callable[[str, Path], None]

_watchers: list[Watcher] = []
_FOLDER_FSYNC_UNSUPPORTED = (errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES, errno.EISDIR)


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Call a watcher before each operation in a `with` block; if it raises, the operation fails."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.remove(watcher)


class _File(io.FileIO):
    """A file that calls the watchers before each write."""

    def __init__(self, path: Path, mode: str):
        super().__init__(path, mode)
        self._path = path

    def write(self, content: Any) -> int:
        _show("write", self._path)
        return super().write(content)


def create(path: Path, mode: str = "wb") -> BinaryIO:
    """Open a file for writing; one of that name is emptied, or in the mode "ab" added to."""
    _show("open", path)
    return io.BufferedWriter(_File(path, mode))


def write_file(path: Path, content: bytes) -> None:
    """Write a whole file."""
    with create(path) as stream:
        stream.write(content)


def write_into(path: Path, source: Path) -> None:
    """Copy a file into a pipe, a device or an open file; what is in it already stays."""
    _show("open", path)
    with source.open("rb") as content, path.open("ab", 0) as stream:
        while block := content.read(2**16):
            _show("write", path)
            stream.write(block)


def make_folder(path: Path, mode: int = 0o777) -> None:
    """Make a folder, whose parent is there, that is never open to more users than its mode says."""
    _show("mkdir", path)
    path.mkdir(mode)


def rename(source: Path, target: Path) -> None:
    """Move a file or folder within a file system; a file of the target's name is replaced."""
    _show("rename", target)
    source.replace(target)


def change_mode(path: Path, mode: int) -> None:
    """Set who may read and write a file."""
    _show("chmod", path)
    path.chmod(mode)


def fsync(path: Path) -> None:
    """Wait until a file's content is on the disk (fsync)."""
    _show("fsync", path)
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())


def fsync_folder(path: Path) -> None:
    """Wait until the names in a folder are on the disk (fsync), where the system supports it."""
    _show("fsync", path)
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:  # Windows opens no folders
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _FOLDER_FSYNC_UNSUPPORTED:
            raise
    finally:
        os.close(handle)


def fsync_tree(path: Path) -> None:
    """Wait until a file, or a folder with all that is in it, is on the disk."""
    if not path.is_dir():
        fsync(path)
        return
    for folder, _, names in os.walk(path):
        for name in names:
            fsync(Path(folder, name))
        fsync_folder(Path(folder))


def remove_tree(path: Path) -> None:
    """Remove a file or folder, and ignore errors; links are removed, not followed."""
    with suppress(OSError):
        _show("remove", path)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def owner_of(path: Path) -> int | None:
    """Return the user who owns a file or link; None where the system has no such thing."""
    return path.lstat().st_uid if hasattr(os, "geteuid") else None


def this_user() -> int | None:
    """Return the user whom this process works for; None where the system has no such thing."""
    return os.geteuid() if hasattr(os, "geteuid") else None


def _show(operation: str, path: Path) -> None:
    for watcher in tuple(_watchers):
        watcher(operation, path)
