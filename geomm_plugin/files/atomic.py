"""[export] Files appear whole or not at all: written beside their place, then renamed.

A file that is being written is called .geomm-part-... and locked by its process. One without a lock
was left by a killed run: the next run of the same user that writes into the folder removes it;
readers never do. The content is on the disk (fsync) before the file gets its name, and the name is
on the disk before the call returns: after a loss of power there is the old file or the new one.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from geomm_plugin.errors import FileError
from geomm_plugin.files import disk
from geomm_plugin.files.lock import locked, unlocked
from geomm_plugin.files.outputs import (
    is_stream,
    make_folders,
    place_of,
    refuse_folder,
    refuse_losses,
)
from geomm_plugin.files.publication import (
    NEW,
    PART,
    is_own,
    keep_mode,
    publish,
    recover,
    short_name,
)

_MAX_NAME_BYTES = 100  # of a file's own name, within the name of its .geomm-part-


@contextmanager
def written_beside(path: Path, *, follow_links: bool = True) -> Iterator[Path]:
    """Give a path to write to; it becomes `path` at the end, or vanishes if anything fails.

    Parameters
    ----------
    follow_links
        Whether the file that a link leads to is replaced, or the link itself.
    """
    place = place_of(path) if follow_links else path
    refuse_folder(place)
    if follow_links and is_stream(place):
        with _into_stream(path) as part:
            yield part
        return
    with sentences(path), _part(place) as part:
        yield part
        disk.secure(part)
        if place.exists() and not place.is_symlink():
            keep_mode(place, part)
        disk.rename(part, place)
        disk.secure_folder(place.parent)


@contextmanager
def all_written_beside(path: Path) -> Iterator[Path]:
    """Give a path in an empty folder; what is written there, files or folders, moves beside `path`.

    Readers of this package see all of it appear at once.
    """
    place = place_of(path)
    if is_stream(place):
        with _into_stream(path) as part:
            yield part
        return
    with sentences(path):
        make_folders(place.parent)
        recover(place)
        with _part_folder(place.parent) as stage:
            disk.make_folder(stage / NEW)
            part = stage / NEW / place.name
            yield part
            _check_names(path, place, stage / NEW)
            refuse_losses(place, lambda name: (part / name).is_file())
            disk.secure_tree(stage / NEW)
            if len(list((stage / NEW).iterdir())) > 1 or part.is_dir() or place.is_dir():
                publish(stage, place.name)
                return
            if place.exists():
                keep_mode(place, part)
            disk.rename(part, place)
            disk.secure_folder(place.parent)


@contextmanager
def sentences(path: Path) -> Iterator[None]:
    """Turn an error of the system into a sentence that names the path."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"Cannot write {path}: {error.strerror or error}.") from error


def check_writable(folder: Path) -> None:
    """Refuse, before the work begins, a folder that files cannot be written into."""
    with sentences(folder / "files"), _part(folder / "files"):
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
        for entry in sorted(e for e in folder.iterdir() if e.name.startswith(PART)):
            with unlocked(entry) as is_abandoned:
                if is_abandoned and is_own(entry):
                    disk.remove_tree(entry)


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
    with tempfile.TemporaryDirectory() as folder, sentences(path):
        part = Path(folder) / path.name
        yield part
        if not part.is_file() or len(list(Path(folder).iterdir())) > 1:
            raise FileError(
                f"Cannot write {path}: it is a pipe or device, which holds one file; this output "
                "is several. Choose a file."
            )
        disk.write_into(path, part)


@contextmanager
def _part(place: Path) -> Iterator[Path]:
    """Make a locked file; at the end it is removed, unless it was renamed."""
    make_folders(place.parent)
    remove_leftovers(place.parent)
    # The suffix stays at the end: formats may choose what to write by it.
    end = short_name(place.name, _MAX_NAME_BYTES)
    while True:
        part = place.parent / f"{PART}{secrets.token_hex(8)}-{end}"
        disk.create(part, exclusive=True).close()
        try:
            with locked(part):
                if part.exists():  # no other run removed it as a leftover before it was locked
                    if place.exists():  # users who may not read the old file may not read this one
                        disk.change_mode(part, (place.stat().st_mode & 0o777) | 0o600)
                    yield part
                    return
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def _part_folder(parent: Path) -> Iterator[Path]:
    """Make a locked folder, which is removed at the end with what is still in it."""
    remove_leftovers(parent)
    while True:
        part = parent / f"{PART}{secrets.token_hex(8)}"
        disk.make_folder(part, 0o700)
        try:
            with locked(part):
                if part.exists():
                    yield part
                    return
        finally:
            disk.remove_tree(part)
