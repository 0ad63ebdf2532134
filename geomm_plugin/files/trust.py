"""[read] Files that anybody may have made: whose are believed, and what is in them without trust.

In a common folder (of mode 1777) anybody can put files beside those of others. JSON is in UTF-8,
with each name once and at most 100 levels deep; arrays are in safetensors files.
"""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import numpy.typing as npt

from geomm_plugin.errors import FileError, FormatError
from geomm_plugin.files import disk

Arrays = dict[str, npt.NDArray[Any]]

_WRITABLE_BY_OTHERS = 0o022
_MAX_DEPTH = 100  # levels, so that code may walk through it by recursion


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
    try:
        whole = path.resolve(strict=True)
        if whole.parent != path.parent.resolve():
            raise FileError(
                f"{path} is a link that leads out of its folder, and is not followed. Copy the "
                "file itself to its place."
            )
        if not whole.is_file():
            raise FileError(f"{path} is no plain file. {advice}".rstrip())
        return whole.read_bytes()
    except (OSError, RuntimeError, ValueError) as error:  # no file, links in a circle, odd names
        if isinstance(error, FileError):
            raise
        problem = getattr(error, "strerror", None) or error
        raise FileError(f"Cannot read {path}: {problem}. {advice}".rstrip()) from error


def parse_json(content: bytes | str) -> Any:
    """Parse JSON; a ValueError says what is wrong with it."""
    text = content if isinstance(content, str) else content.decode("utf-8")
    try:
        value = json.loads(text, object_pairs_hook=_each_name_once)
    except RecursionError:
        raise _too_deep() from None
    level = [value]
    for _ in range(_MAX_DEPTH):
        level = [
            part
            for whole in level
            if isinstance(whole, (dict, list))
            for part in (whole.values() if isinstance(whole, dict) else whole)
        ]
        if not level:
            return value
    raise _too_deep()


def _too_deep() -> ValueError:
    return ValueError("its lists and objects are nested too deeply")


def _each_name_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in values:
            raise ValueError(f"it has {name[:60]!r} twice")
        values[name] = value
    return values


def load_arrays(content: bytes, path: Path) -> Arrays:
    """Take the arrays from the bytes of a file."""
    from safetensors.numpy import load

    try:
        return load(content)
    except Exception as error:  # raised by the library, or by numpy for types that numpy lacks
        raise _damaged(path, error) from error


def read_arrays(path: Path) -> tuple[dict[str, str], Arrays]:
    """Read the metadata of a file and its arrays."""
    from safetensors import safe_open

    try:
        with safe_open(path, "numpy") as stream:
            return stream.metadata() or {}, {n: stream.get_tensor(n) for n in stream.keys()}
    except OSError:
        raise
    except Exception as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> FormatError:
    return FormatError(f"{path}: not arrays ({error}). The file is damaged; make it again.")
