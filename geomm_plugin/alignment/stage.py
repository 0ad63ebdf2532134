"""The files of a run that are whole, aside until all of them are there, then published together.

    OUTPUT/.geomm-unfinished/new/{mapper, en.vec, es.vec}   ->   OUTPUT/{mapper, en.vec, es.vec}
    OUTPUT/.geomm-unfinished/align.json                          what of it is whole, and from what

A run that is stopped, by whatever, leaves its stage: the next one with `resume` goes on from there,
any other one removes it. A stage that is no plain folder of this user's, made here, is not used.
`scratch` in it is for files that are needed while a run lasts; every end of a run removes them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from geomm_plugin.alignment.record import NAME, Record, content_of, read_record
from geomm_plugin.errors import FileError, ParameterError
from geomm_plugin.files import disk
from geomm_plugin.files.lock import locked
from geomm_plugin.files.publication import NEW, publish
from geomm_plugin.files.trust import is_private

UNFINISHED = ".geomm-unfinished"
PART = "part"  # in a stage: what is being written
SCRATCH = "scratch"  # in a stage: what is removed at its end, in any case
MARK = "mark"  # in a stage: an empty file, of which no copy has the inode and the time of change
IDENTITY = "identity"  # in a stage: both of them, as they were when it was made


@contextmanager
def open_stage(output: Path, fingerprints: Mapping[str, str], resume: bool) -> Iterator[Record]:
    """Give the record of what is whole in the stage of a folder; nothing else is in it.

    Parameters
    ----------
    fingerprints
        Of every file that is to be there at the end, by name.
    resume
        Whether what an earlier run left is used, as far as it is what this one would write.
    """
    folder = output / UNFINISHED
    record = Record(folder / NEW)
    if resume and _is_own(folder):
        record = read_record(folder / NAME, folder / NEW).matching(fingerprints)
    if not record.files:
        remove_stage(output)
        _make(folder)
    disk.remove_tree(folder / SCRATCH)
    disk.make_folder(folder / SCRATCH)
    empty_stage(record, but_for=record.files)
    with locked(folder):
        try:
            yield record
        finally:
            disk.remove_tree(folder / PART)
            disk.remove_tree(folder / SCRATCH)
            if not record.files:
                remove_stage(output)


def scratch_folder(record: Record) -> Path:
    """Return the folder of a stage for files that are needed while the run lasts."""
    return (record.folder.parent / SCRATCH).absolute()  # workers may be in another folder


def empty_stage(record: Record, but_for: Iterable[str] = ()) -> None:
    """Remove all from a stage but for some files that its record names."""
    record.files = {name: record.files[name] for name in but_for}
    whole = {name.split("/")[0] for entry in record.files.values() for name in entry["content"]}
    for path in list(record.folder.iterdir()):
        if path.name not in whole:
            disk.remove_tree(path)


def add_to_stage(
    record: Record, name: str, fingerprint: str, write: Callable[[Path], Mapping[str, str]]
) -> None:
    """Write a file, or several that belong together, into the stage; then it is on the disk.

    Parameters
    ----------
    write
        Writes a path, and returns the hashes of files that it knows, by name.
    """
    folder = record.folder.parent
    part = folder / PART
    disk.remove_tree(part)
    disk.make_folder(part)
    known = write(part / name)
    if not (part / name).exists():
        raise FileError(f"Cannot write {name}: the format wrote nothing of that name.")
    with ThreadPoolExecutor(1) as beside:  # one waits for the disk, the other for the processor
        hashing = beside.submit(content_of, sorted(part.iterdir()), part, known)
        disk.fsync_tree(part)
        content = hashing.result()
    for path in sorted(part.iterdir()):
        if os.path.lexists(record.folder / path.name):
            raise ParameterError(
                f"Two languages would be written to {path.name} in this folder. Rename one."
            )
        disk.rename(path, record.folder / path.name)
    record.files[name] = {"from": fingerprint, "content": content}
    _replace(folder / NAME, record.to_json())


def publish_stage(record: Record, beside: Record, options: Mapping[str, Any] | None = None) -> None:
    """Move all that is in the stage into its place, and with it the record of the folder.

    Parameters
    ----------
    beside
        What is in its place already and belongs to it.
    options
        How the run was started, for the record.
    """
    folder = record.folder.parent
    whole = Record(beside.folder, beside.files | record.files, options)
    _replace(record.folder / NAME, whole.to_json())
    publish(folder, NAME)
    record.files = {}


def remove_stage(output: Path) -> None:
    """Remove what an earlier run left; a link in its place is removed, not followed."""
    folder = output / UNFINISHED
    disk.remove_tree(folder)
    if os.path.lexists(folder):
        raise FileError(f"Cannot remove {folder}, which is in the way. Remove it by hand.")


def _make(folder: Path) -> None:
    disk.make_folder(folder, 0o700)
    disk.make_folder(folder / NEW)
    disk.write_file(folder / MARK, b"")
    disk.write_file(folder / IDENTITY, _identity(folder / MARK))


def _is_own(folder: Path) -> bool:
    """True for a stage that this user made here, and that nobody else could write to."""
    if not is_private(folder):
        return False
    try:
        expected = _identity(folder / MARK)
        if not (folder / IDENTITY).is_file() or not (folder / NEW).is_dir():  # a pipe has no end
            return False
        with (folder / IDENTITY).open("rb") as file:
            return file.read(len(expected) + 1) == expected
    except OSError:
        return False


def _identity(path: Path) -> bytes:
    """Return what an archive cannot know: inodes are used again, but not at the same time."""
    status = path.lstat()
    return f"{status.st_ino} {status.st_ctime_ns}".encode()


def _replace(path: Path, content: bytes) -> None:
    """Write a small file in one step."""
    part = path.with_name(f"{path.name}-part")
    disk.write_file(part, content)
    disk.fsync(part)
    disk.rename(part, path)
