"""[export] Files appear whole or not at all: written beside their place, then renamed.

What is being written is called PART...; several files, or a folder, that are whole but not yet all
in their place are a folder called READY.... Both are locked by the process that writes them: what
is there without a lock was left by a killed run. The next one that writes into the folder removes
the parts and moves what was ready into its place; the next one that reads there moves it, too.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from geomm_plugin.errors import FileError
from geomm_plugin.files.lock import held, unlocked

PART = ".geomm-part-"
READY = ".geomm-ready-"
LAST = ".last"  # in a folder that is ready: what moves last, so that it finds the others there
OLD = ".old"  # in a folder that is ready: what was there before
LONGEST_NAME = 100  # of a file, in the name of its part


@contextmanager
def written_beside(path: Path) -> Iterator[Path]:
    """Give a path to write to; it becomes `path` at the end, or vanishes if anything fails."""
    with _writing(path), _part(path) as part:
        yield part
        _to_disk(part)
        part.replace(path)


@contextmanager
def all_written_beside(path: Path) -> Iterator[Path]:
    """Give a path in an empty folder; what is written there, files or folders, moves beside `path`.

    The one called like `path` moves last, so that it finds the others in their place.
    """
    with _writing(path), _part_folder(path.parent) as folder:
        part = folder / path.name
        yield part
        if not part.exists():
            raise FileError(f"Cannot write {path}: the format wrote nothing of that name.")
        for file in folder.rglob("*"):
            if file.is_file():
                _to_disk(file)
        if len(list(folder.iterdir())) == 1 and part.is_file() and not path.is_dir():
            part.replace(path)
            return
        (folder / LAST).mkdir()
        part.rename(folder / LAST / part.name)
        _move_ready(folder)


def move_up(folder: Path) -> None:
    """Move all that a folder holds beside it; of what is there by the same names nothing stays.

    The old goes away before the new comes: nobody finds some of these and some of those.
    """
    with _writing(folder), _part_folder(folder.parent) as part:
        folder.rename(part / LAST)
        _move_ready(part)


def make_folder(path: Path) -> None:
    """Make a folder and those above it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"Cannot make the folder {path}: {error.strerror}.") from error


def check_writable(folder: Path) -> None:
    """Find out before the work, not after it, whether files can be written into a folder."""
    with _writing(folder / "files"), _part(folder / "files"):
        pass


def finish_stopped(folder: Path, left: tuple[str, ...] = (PART, READY)) -> None:
    """Remove what killed runs left in a folder; what was whole already moves into its place."""
    try:
        entries = [e for e in folder.iterdir() if e.name.startswith(left)]
    except OSError:
        return
    for entry in sorted(entries):
        with suppress(OSError), unlocked(entry) as abandoned:  # a failure here is not the user's
            if not abandoned:
                continue
            if not entry.is_dir():
                entry.unlink(missing_ok=True)
            elif entry.name.startswith(READY) and _is_missed(entry):
                _move_in(entry)
            else:
                shutil.rmtree(entry, ignore_errors=True)


def finish_moves(folder: Path) -> None:
    """Before files are read: move those into their place that a killed run had ready."""
    finish_stopped(folder, (READY,))


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Make the folder and clean it; an error of the system is a sentence that names the path."""
    make_folder(path.parent)
    finish_stopped(path.parent)
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"Cannot write {path}: {error.strerror or error}.") from error


@contextmanager
def _part(path: Path) -> Iterator[Path]:
    """Make a locked file, which is removed if it has not moved by the end."""
    # The suffix stays at the end: what a file holds may follow its name.
    suffix = f"-{path.name[-LONGEST_NAME:]}"
    while True:
        part = path.parent / f"{PART}{secrets.token_hex(8)}{suffix}"
        part.open("xb").close()  # readable for whom the system's mask says, as any new file
        try:
            with held(part):
                if part.exists():  # no other run took it for a leftover before it was locked
                    yield part
                    return
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def _part_folder(parent: Path) -> Iterator[Path]:
    """Make a locked folder, which is removed at the end with what is still in it."""
    while True:
        part = Path(tempfile.mkdtemp(prefix=PART, dir=parent))
        try:
            with held(part):
                if part.exists():
                    yield part
                    return
        finally:
            shutil.rmtree(part, ignore_errors=True)


def _move_ready(folder: Path) -> None:
    """Mark what a folder holds as whole; from here on it is moved, by this run or by the next."""
    ready = folder.with_name(READY + folder.name.removeprefix(PART))
    folder.rename(ready)
    try:
        _move_in(ready)
    except BaseException:  # Ctrl-C: what has begun is ended
        _move_in(ready)
        raise


def _is_missed(ready: Path) -> bool:
    """Tell whether what a run had ready is not there: neither moved yet nor made by another.

    A folder may come from anybody: where links lead out of it, nothing is moved.
    """
    if (ready / LAST).is_symlink() or (ready / OLD).is_symlink():
        return False
    return any(not (ready.parent / entry.name).exists() for entry in (ready / LAST).iterdir())


def _move_in(ready: Path) -> None:
    """Move what is ready beside its folder: the old goes away, the others come, the last comes.

    So nobody finds new words beside old vectors; where it stopped, it can go on.
    """
    old = ready / OLD
    old.mkdir(exist_ok=True)
    last = sorted((ready / LAST).iterdir())
    for entry in last:
        _put_aside(ready.parent / entry.name, old)
    for entry in [e for e in sorted(ready.iterdir()) if e.name not in (LAST, OLD)] + last:
        place = ready.parent / entry.name
        if place.is_dir():  # a folder is never replaced by rename
            _put_aside(place, old)
        entry.replace(place)
    emptied = ready.with_name(PART + ready.name.removeprefix(READY))
    ready.rename(emptied)
    shutil.rmtree(emptied, ignore_errors=True)


def _put_aside(place: Path, folder: Path) -> None:
    if place.exists():
        place.rename(Path(tempfile.mkdtemp(dir=folder)) / place.name)


def _to_disk(path: Path) -> None:
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())
