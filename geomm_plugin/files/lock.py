"""[export] Locks that end with their process, however it ends.

Where a system has no such locks (Windows, some network folders), nothing counts as abandoned and
nobody waits: files are whole all the same, but what a killed run left stays there.
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

_TAKEN = (errno.EAGAIN, errno.EACCES)  # how a system says that another holds the lock


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a file or folder in a `with` block; wait for whoever has it."""
    with _opened(path) as handle:
        if handle is not None:
            with suppress(OSError):  # no locks here
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def unlocked(path: Path) -> Iterator[bool]:
    """Tell whether nobody has locked a file or folder; if so, it is locked in the `with` block."""
    with _opened(path) as handle:
        yield handle is not None and _try(handle) is True


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
    """Open a file or folder to lock it, without following links; None where that cannot be."""
    try:
        if fcntl is None:
            raise OSError("This system has no such locks.")
        kind = os.O_RDONLY if path.is_dir() else os.O_RDWR  # some lock only what can be written
        handle = os.open(path, kind | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        handle = None
    try:
        yield handle
    finally:
        if handle is not None:
            os.close(handle)


def _try(handle: int) -> bool | None:
    """Lock without waiting: False where another process has it, None where there are no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in _TAKEN else None
    return True
