"""[export] Files appear whole or not at all: written beside their place, then renamed.

    .geomm-part-x/lock    held by the process that writes
    .geomm-part-x/new/    what it writes, brought to disk (fsync) before it is renamed into place
    .geomm-part-x/old/    what a set of files replaces, until its last file is in place

A part whose lock nobody holds was left by a killed run: the next run of the same user that writes
into the folder removes it; readers never do. Of a set, the file that names the others leaves first
and comes last: whoever finds it finds what belongs to it.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from filelock import FileLock, Timeout

from geomm_plugin.errors import FileError
from geomm_plugin.files import disk
from geomm_plugin.files.outputs import (
    PART,
    is_stream,
    make_folders,
    place_of,
    refuse_folder,
    refuse_losses,
)
from geomm_plugin.files.trust import is_private, is_trusted

LOCK = ".geomm-lock"  # in a folder that one run at a time writes into
STAGE = ".unfinished"  # in the folder of aligned files: the files of a run that is not at its end
_NEW, _OLD, _REPLACED = "new", "old", "part-replaced"


@contextmanager
def atomic_files(
    path: Path, *, follow_links: bool = True, replaces: Callable[[str], bool] = lambda _: False
) -> Iterator[Path]:
    """Give a path in an empty folder; what is written there, files or folders, moves beside `path`.

    It vanishes if anything fails. Where it is several, `path` itself is what names the others.

    Parameters
    ----------
    follow_links
        Whether the file that a link leads to is replaced, or the link itself.
    replaces
        True for the names of files in an old folder that may go, though none of that name comes.
    """
    place = place_of(path) if follow_links else path
    if follow_links and is_stream(place):
        with _into_stream(path) as new:
            yield new
        return
    with as_file_error(path), _part(place.parent) as part:
        new = part / _NEW / place.name
        yield new
        _check_names(path, place, new.parent)
        refuse_losses(place, lambda name: replaces(name) or (new / name).is_file())
        disk.fsync_tree(new.parent)
        names = sorted(other.name for other in new.parent.iterdir() if other != new)
        move_in(new.parent, place.parent, [*names, place.name])


def atomic_file(path: Path, *, follow_links: bool = True) -> AbstractContextManager[Path]:
    """Give a path to write one file to, as `atomic_files` does; a folder is not replaced by it."""
    refuse_folder(place_of(path) if follow_links else path)
    return atomic_files(path, follow_links=follow_links)


def move_in(source: Path, folder: Path, names: Sequence[str]) -> None:
    """Rename files and folders into a folder, in place of old ones; undo it all if one fails.

    Parameters
    ----------
    source
        Where they are, on the disk already; old ones are kept in `old` beside it meanwhile.
    names
        The last one names the others: it leaves the folder first and comes last.
    """
    if len(names) > 1 or (folder / names[-1]).is_dir():
        old = source.with_name(_OLD)
        disk.remove_tree(old)
        disk.make_folder(old)
        try:
            for name in reversed(names):
                if os.path.lexists(folder / name):
                    disk.rename(folder / name, old / name)
            for name in names[:-1]:
                _replace(source / name, folder / name, old / name)
            disk.fsync_folder(folder)
            _replace(source / names[-1], folder / names[-1], old / names[-1])
            # In one step: what is left of it is not moved back later.
            disk.rename(old, source.with_name(_REPLACED))
        except BaseException:
            move_back(source, folder, names)
            raise
        disk.remove_tree(source.with_name(_REPLACED))
    else:
        _replace(source / names[-1], folder / names[-1])
    disk.fsync_folder(folder)


def move_back(source: Path, folder: Path, names: Sequence[str]) -> None:
    """Undo move_in, however far it came: new files are in `source` again, old ones in place."""
    old = source.with_name(_OLD)
    for name in reversed(names):
        if os.path.lexists(folder / name) and not os.path.lexists(source / name):
            disk.rename(folder / name, source / name)
    for name in names:
        if os.path.lexists(old / name):
            disk.rename(old / name, folder / name)
    disk.fsync_folder(folder)
    disk.remove_tree(old)


def refuse_moving(path: Path) -> None:
    """Refuse to read a file of a folder whose aligned files are being renamed, or half of them are.

    Nothing is repaired here: the run that renames them ends soon, or was stopped.
    """
    for folder in (path.parent, path.parent.parent):
        stage = folder / STAGE
        if os.path.lexists(stage / _OLD) and is_trusted(stage, folder):
            raise FileError(
                f"{path} belongs to files that a run is renaming into {folder}. Try again; if that "
                "run was stopped, start it again, with resume to keep what it had ready."
            )


def open_rows(path: Path) -> BinaryIO:
    """Open a file of rows, one JSON object a line, for append_row; a torn last line is ended."""
    path = place_of(path)
    refuse_folder(path)
    make_folders(path.parent)
    with as_file_error(path):
        torn = path.is_file() and path.read_bytes()[-1:] not in (b"", b"\n")
        stream = disk.create(path, "ab")
        stream.write(b"\n" if torn else b"")
        return stream


def append_row(stream: BinaryIO, row: Mapping[str, Any]) -> None:
    """Write a row to the end of an open file and to the disk: a kill later on does not lose it."""
    text = json.dumps(row, ensure_ascii=False) + "\n"
    stream.write(text.encode("utf-8", "surrogateescape"))
    stream.flush()
    if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):  # a pipe has no disk
        os.fsync(stream.fileno())


@contextmanager
def as_file_error(path: Path) -> Iterator[None]:
    """Raise an OSError as a FileError that names the path."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"Cannot write {path}: {error.strerror or error}.") from error


@contextmanager
def locked(folder: Path, *, wait: bool = True) -> Iterator[None]:
    """Be the only one in a `with` block who has locked a folder or file, also through a link.

    Parameters
    ----------
    wait
        Whether to wait for another run, or to refuse a folder that it has locked.
    """
    place = folder.resolve()
    held = place / LOCK if place.is_dir() else place.with_name(f"{place.name}{LOCK}")
    lock = FileLock(held, timeout=-1 if wait else 0)
    try:
        lock.acquire()
    except Timeout:
        raise FileError(
            f"Another run is writing into {folder}. Wait for its end, or choose another folder."
        ) from None
    try:
        yield
    finally:
        with suppress(OSError):  # on Windows the lock itself does that
            held.unlink(missing_ok=True)
        lock.release()


def check_writable(folder: Path) -> None:
    """Refuse, before the work begins, a folder that files cannot be written into."""
    with as_file_error(folder / "files"), _part(folder):
        pass


def check_output(path: Path) -> None:
    """Refuse, before the work begins, a path that cannot be written to."""
    place = place_of(path)
    refuse_folder(place)
    if not is_stream(place):
        check_writable(place.parent)


def remove_leftovers(folder: Path) -> None:
    """Remove what killed runs of this user had begun to write in a folder."""
    with suppress(OSError):
        for part in sorted(e for e in folder.iterdir() if e.name.startswith(PART)):
            if is_private(part):
                with suppress(Timeout, OSError), FileLock(part / "lock", timeout=0):
                    disk.remove_tree(part)


def _replace(new: Path, place: Path, old: Path | None = None) -> None:
    """Rename a file into its place; the same people may read and write it as the old one."""
    old = place if old is None else old
    if old.is_file() and new.is_file() and not old.is_symlink():
        status = old.stat()
        disk.change_mode(new, stat.S_IMODE(status.st_mode))
        if hasattr(os, "chown"):
            with suppress(OSError):  # not permitted: then it belongs to the user who writes it
                os.chown(new, status.st_uid, status.st_gid)
    disk.rename(new, place)


def _check_names(path: Path, place: Path, folder: Path) -> None:
    """Check that a format wrote the file it was asked for, and that links lead to all its files."""
    if not (folder / place.name).exists():
        raise FileError(f"Cannot write {path}: the format wrote nothing of that name.")
    for new in folder.iterdir():
        link = path.parent / new.name
        target = place.parent / new.name
        if new.name != place.name and path.is_symlink() and link.resolve() != target.resolve():
            raise FileError(
                f"Cannot write {path}: it is a link, and {new.name}, which belongs to it, is no "
                f"link to {target}. Write to {place}, or remove the link."
            )


@contextmanager
def _into_stream(path: Path) -> Iterator[Path]:
    """Give a path to write one file to, which is copied into a pipe or device at the end."""
    with tempfile.TemporaryDirectory() as folder, as_file_error(path):
        new = Path(folder) / path.name
        yield new
        if not new.is_file() or len(list(Path(folder).iterdir())) > 1:
            raise FileError(
                f"Cannot write {path}: it is a pipe or device, which holds one file; this output "
                "is several. Choose a file."
            )
        disk.write_into(path, new)


@contextmanager
def _part(folder: Path) -> Iterator[Path]:
    """Make a locked part, in which nobody else can look; it is removed at the end."""
    make_folders(folder)
    remove_leftovers(folder)
    part = folder / f"{PART}{secrets.token_hex(8)}"
    disk.make_folder(part, 0o700)
    lock = FileLock(part / "lock")
    try:
        while not lock.is_locked:
            with suppress(FileNotFoundError):  # another run took it for a leftover just now
                lock.acquire()  # which makes it again
        disk.make_folder(part / _NEW, 0o700)
        yield part
    finally:
        lock.release()
        disk.remove_tree(part)
