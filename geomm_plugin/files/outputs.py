"""[export] Where an output is written, and which outputs are refused.

a link                   is followed; the file that it leads to is replaced
a pipe or a device       is written into, if the output is one file
a folder, a socket       is refused where a file is asked for
an input                 is never replaced: not through links, hard links or other letter case
a neighbor of a file     that needs it (x.txt beside x.npy) is not replaced either
a folder that holds      anything but what is written anew is not replaced
"""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path

from geomm_plugin.errors import FileError, ParameterError
from geomm_plugin.files import disk
from geomm_plugin.files.stamps import files_in

PART = ".geomm-part-"  # begins the name of what is being written
_OPEN_FILES = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")
LONGEST_NAME = 255  # bytes, of any file system in use
_DEVICES = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(1, 10))}
_NOT_IN_NAMES = set('<>:"/\\|?*')


def place_of(path: Path) -> Path:
    """Return where an output is written: the path itself, or the file that a link leads to."""
    if len(os.fsencode(path.name)) > LONGEST_NAME:
        raise FileError(
            f"Cannot write {path}: its name has {len(os.fsencode(path.name))} bytes, and a file's "
            f"name may have {LONGEST_NAME}. Choose a shorter one."
        )
    if is_stream(path):
        return path
    try:
        place = path.resolve() if path.is_symlink() else path
    except (OSError, RuntimeError) as error:  # links in a circle
        raise FileError(f"Cannot write {path}: it is a link that leads in a circle.") from error
    if place.is_symlink():
        raise FileError(f"Cannot write {path}: it is a link that leads in a circle.")
    if place.is_socket():
        raise FileError(f"Cannot write {path}: it is a socket. Choose a file.")
    return place


def is_stream(path: Path) -> bool:
    """True for a pipe, a device or an open file (/dev/stdout): it is written into, as it is."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    if str(path.absolute()).startswith(_OPEN_FILES) and not stat.S_ISDIR(mode):
        return True
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode)


def refuse_folder(path: Path) -> None:
    """Refuse a folder in the place of a file."""
    if path.is_dir():
        raise FileError(f"Cannot write {path}: it is a folder. Name a file in it.")


def refuse_inputs(outputs: Iterable[Path], inputs: Iterable[str | Path], advice: str) -> None:
    """Refuse outputs that would replace an input, under any of its names.

    Parameters
    ----------
    inputs
        Files, and folders with all that is in them; pipes and devices are ignored.
    """
    files = [file for path in inputs for file in files_in(Path(path))]
    places = {Path(os.path.realpath(path)) for path in files}
    identities = {identity for path in files if (identity := _identity(path))}
    for output in outputs:
        is_input = Path(os.path.realpath(output)) in places and not is_stream(output)
        if is_input or _identity(output) in identities:
            raise ParameterError(f"{output} would replace an input. {advice}")


def refuse_losses(folder: Path, is_written: Callable[[str], bool]) -> None:
    """Refuse to replace a folder that holds a file which is not written anew, by its name in it."""
    for file in files_in(folder) if folder.is_dir() else []:
        name = file.relative_to(folder).as_posix()
        if not is_written(name) and not name.startswith(PART):
            raise FileError(
                f"{folder} would be replaced as a whole, and holds {name}, which would be lost. "
                "Move that file away, or choose another name for the output."
            )


def check_names(names: Iterable[str], advice: str) -> None:
    """Refuse names of files that some system does not have, or takes for one and the same.

    Windows has devices called aux or con and no colons; there and on macOS en and EN are one file.
    """
    taken: dict[str, str] = {}
    for name in names:
        stem = name.partition(".")[0].rstrip().lower()
        is_name = bool(stem) and stem not in _DEVICES and name.isprintable()
        is_name = is_name and not _NOT_IN_NAMES & set(name) and name[-1] not in " ."
        if not is_name or len(name.encode("utf-8", "replace")) > LONGEST_NAME:
            raise ParameterError(f"{name!r} is no name of a file on every system. {advice}")
        folded = unicodedata.normalize("NFC", name).casefold()
        if folded in taken:
            sentence = f"{taken[folded]!r} and {name!r} are one file on some systems."
            raise ParameterError(f"{sentence} {advice}")
        taken[folded] = name


def make_folders(path: Path) -> None:
    """Make a folder and those above it."""
    try:
        if not path.is_dir():
            for folder in [*reversed(path.parents), path]:
                if not folder.is_dir():
                    _make_folder(folder)
    except OSError as error:
        raise FileError(f"Cannot make the folder {path}: {error.strerror}.") from error


def _make_folder(path: Path) -> None:
    try:
        disk.make_folder(path)
    except FileExistsError:
        if not path.is_dir():  # another run may have made it just now
            raise


def _identity(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of a file, which all its names share; None if it is not there."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None
