"""[export] Locks that the system releases when their process ends, even if it is killed.

Where a system has no such locks (Windows, some network folders), nothing counts as abandoned and no
process waits: files are still whole, but the leftovers of a killed run are not removed.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from geomm_plugin.errors import FileError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_TAKEN = (errno.EAGAIN, errno.EACCES)  # another process holds the lock


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a file or folder in a `with` block; wait until no other process has locked it."""
    with _opened(path) as handle:
        if handle is not None:
            with suppress(OSError):  # no locks here
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def unlocked(path: Path) -> Iterator[bool]:
    """Give True if no process had locked a file or folder; then the `with` block locks it."""
    with _opened(path) as handle:
        yield handle is not None and _try(handle) is True


def is_locked(path: Path) -> bool:
    """True if a process has locked a file or folder now."""
    with _opened(path) as handle:
        return handle is not None and _try(handle, fcntl.LOCK_SH) is False


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Lock a folder in a `with` block, also through a link to it; refuse one that is locked."""
    with _opened(folder.resolve()) as handle:
        if handle is not None and _try(handle) is False:
            raise FileError(
                f"Another run is writing into {folder}. Wait for its end, or choose another folder."
            )
        yield


@contextmanager
def _opened(path: Path) -> Iterator[int | None]:
    """Open a file or folder to lock it, without following links; None if that fails."""
    try:
        if fcntl is None:
            raise OSError("This system has no such locks.")
        # Some systems lock only files that are open for writing.
        kind = os.O_RDONLY if path.is_dir() else os.O_RDWR
        handle = os.open(path, kind | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        handle = None
    try:
        yield handle
    finally:
        if handle is not None:
            os.close(handle)


def _try(handle: int, kind: int | None = None) -> bool | None:
    """Lock without waiting: False where another process has it, None where there are no locks."""
    try:
        fcntl.flock(handle, (fcntl.LOCK_EX if kind is None else kind) | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in _TAKEN else None
    return True
