"""[read] Whose files are believed, and files in a folder from anybody, read without a surprise.

In a common folder (of mode 1777) anybody can put files beside those of others.
"""

from __future__ import annotations

import stat
from pathlib import Path

from geomm_plugin.errors import FileError
from geomm_plugin.files import disk

_WRITABLE_BY_OTHERS = 0o022


def is_own(path: Path) -> bool:
    """True if this user made a file or folder, and it is no link."""
    try:
        return disk.owner_of(path) in (None, disk.this_user()) and not path.is_symlink()
    except OSError:
        return False


def is_private(folder: Path) -> bool:
    """True if this user made a folder, it is no link, and nobody else may write to it."""
    try:
        mode = folder.lstat().st_mode
    except OSError:
        return False
    return stat.S_ISDIR(mode) and not mode & _WRITABLE_BY_OTHERS and is_own(folder)


def is_trusted(path: Path, beside: Path) -> bool:
    """True if what lies beside a file may be read with it: made by a user who might make the file.

    That is this user, the file's owner or the folder's.
    """
    try:
        owners = {disk.owner_of(beside), disk.owner_of(beside.parent), disk.this_user()}
        return disk.owner_of(path) in owners
    except OSError:
        return False


def read_plain_file(path: Path, advice: str = "") -> bytes:
    """Read a file that is in its folder itself: a link may lead anywhere, a device may never end.

    Parameters
    ----------
    advice
        What to do if that fails, as the last sentence of the error.
    """
    with plain_file(path, advice).open("rb") as stream:
        return stream.read()


def plain_file(path: Path, advice: str = "") -> Path:
    """Return where a file is, if it is a plain one in its folder itself."""
    try:
        whole = path.resolve(strict=True)
        if whole.parent != path.parent.resolve():
            raise FileError(
                f"{path} is a link that leads out of its folder, and is not followed. Copy the "
                "file itself to its place."
            )
        if not whole.is_file():
            raise FileError(f"{path} is no plain file. {advice}".rstrip())
        with whole.open("rb"):
            return whole
    except (OSError, RuntimeError, ValueError) as error:  # no file, links in a circle, odd names
        if isinstance(error, FileError):
            raise
        problem = getattr(error, "strerror", None) or error
        raise FileError(f"Cannot read {path}: {problem}. {advice}".rstrip()) from error
