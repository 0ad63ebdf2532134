"""[export] Several files, or a folder, replaced together: readers get all old files or all new.

    .geomm-part-x/new/{x.npy, x.vocab}     the new files, whole and on the disk
    .geomm-part-x/old/{x.npy, x.vocab}     second names of the old ones
    .geomm-part-x/journal.json             which files these are

    1  the folder is renamed to .geomm-publish-x.npy: from here on readers read old/
    2  each new file is renamed into its place
    3  the folder is renamed back: from here on readers read the new files; then it is removed

A process that is killed in between leaves the folder. Readers then read the old files and change
nothing; the next run that writes this output does steps 2 and 3. Both ignore a journal unless it
was made in this place: it must belong to this user (for readers: or to the folder's owner), nobody
else may write to it, and it must name its own inode and those of its files, which a copy cannot.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from geomm_plugin.errors import FileError
from geomm_plugin.files import disk
from geomm_plugin.files.lock import is_locked, locked, unlocked
from geomm_plugin.files.outputs import PART
from geomm_plugin.files.strict_json import parse_json
from geomm_plugin.files.trust import is_own

PUBLISH = ".geomm-publish-"  # begins the name of what is being moved into its place
ALIGNED = "align.json"  # the output of `geomm align` goes by the name of its record
NEW, OLD, JOURNAL = "new", "old", "journal.json"
FORMAT = 1
_MAX_JOURNAL_BYTES = 2**20
_MAX_NAME_BYTES = 200  # of an output, after PUBLISH; a name may have 255 in all
_WRITABLE_BY_OTHERS = 0o022
_READ_PAUSE = 0.02  # seconds; moving the files takes some milliseconds
_READ_ATTEMPTS, _READ_ATTEMPTS_WHILE_MOVING = 25, 1500  # half a minute, on a busy machine
_COMMIT_ATTEMPTS = 1000  # each waits until another run has published the same output


class Replacement(NamedTuple):
    """The inodes of a new file and of the old one, 0 where there was none."""

    new: int
    old: int


def publish(stage: Path, name: str) -> None:
    """Move all that stage/new holds beside the stage, under the same names, and remove the stage.

    Parameters
    ----------
    stage
        Locked by this process; its files are on the disk already.
    name
        What the output is called: its main file.
    """
    folder = stage.parent
    replacements = _prepare(stage)
    journal = journal_folder(folder / name)
    _commit(stage, journal)
    try:
        _move_in(journal, replacements)
    except OSError:
        _move_back(journal, replacements)
        disk.rename(journal, stage)
        raise
    except BaseException:  # Ctrl-C: complete the moves that have begun, then stop
        _move_in(journal, replacements)
        _finish(journal)
        raise
    _finish(journal)


def recover(path: Path) -> None:
    """Complete the moves that a killed run had begun, before its output is written again."""
    journal = journal_folder(path)
    if not os.path.lexists(journal):
        return
    with unlocked(journal) as is_abandoned:
        if not is_abandoned:
            return
        replacements = _trusted_journal(journal, {os.geteuid()} if hasattr(os, "geteuid") else None)
        if replacements is not None and _fits(journal, replacements):
            _move_in(journal, replacements)
            _finish(journal)
        elif is_own(journal):
            disk.remove_tree(journal)


def published(path: Path) -> Path:
    """Return where to read a file: at its path or, while it is being replaced, its old version.

    Nothing on the disk is changed.
    """
    if path.is_symlink():
        target = path.resolve()
        place = published(target)
        return path if place == target else place
    for attempt in range(_READ_ATTEMPTS_WHILE_MOVING):
        now = _place_now(path)
        if now is not None:
            return now
        if attempt >= _READ_ATTEMPTS and not any(map(is_locked, _journals(path))):
            break  # no running process moves these files
        time.sleep(_READ_PAUSE)
    raise FileError(
        f"{path} belongs to files that a run was moving into their place when it was stopped. Run "
        "that command again: it ends what was begun."
    )


def _place_now(path: Path) -> Path | None:
    """Return where to read a file now; None while its files are being moved."""
    for journal in _journals(path):
        if not os.path.lexists(journal):
            continue
        replacements = _trusted_journal(journal, _trusted_owners(path.parent))
        replacement = None if replacements is None else replacements.get(path.name)
        if replacements is not None and replacement and _in_place(path, replacement):
            return _old_place(path, journal, replacements)
    return path


def _old_place(path: Path, journal: Path, replacements: Mapping[str, Replacement]) -> Path | None:
    """Return where the old file is, if the other old files of its output are beside it."""
    olds = {name: pair.old for name, pair in replacements.items() if pair.old}
    if path.name not in olds and not os.path.lexists(path):
        return path
    if path.name in olds:
        for folder in (path.parent, journal / OLD):
            if all(_inode(folder / name) == old for name, old in olds.items()):
                return folder / path.name
    return None


def _journals(path: Path) -> list[Path]:
    """Return where the journal of a file may be: its own, or that of aligned files."""
    return [journal_folder(path.parent / name) for name in (path.name, ALIGNED)]


def journal_folder(path: Path) -> Path:
    """Return the folder that an output has while it is moved into its place."""
    return path.parent / (PUBLISH + short_name(path.name, _MAX_NAME_BYTES))


def short_name(name: str, longest: int) -> str:
    """Return the end of a name, with its suffix, in at most `longest` bytes."""
    while len(os.fsencode(name)) > longest:
        name = name[1:]
    return name


def _prepare(stage: Path) -> dict[str, Replacement]:
    """Give the old files a second name, and write the journal."""
    folder, old = stage.parent, stage / OLD
    disk.remove_tree(old)
    disk.make_folder(old)
    replacements = {}
    for new in sorted((stage / NEW).iterdir()):
        place = folder / new.name
        replacements[new.name] = Replacement(_inode(new), _inode(place))
        if place.is_file() and not place.is_symlink():
            keep_mode(place, new)
            try:
                disk.link(place, old / new.name)
            except OSError:  # no hard links here: the old file is moved after the commit instead
                continue
    names = {name: list(inodes) for name, inodes in replacements.items()}
    content = {"format": FORMAT, "folder": _inode(stage), "files": names}
    disk.remove(stage / JOURNAL)
    disk.write_file(stage / JOURNAL, json.dumps(content).encode())
    disk.change_mode(stage / JOURNAL, 0o644)  # independent of the umask: only this user may write
    disk.change_mode(stage, 0o755)  # others who may read the folder read the old files
    disk.fsync(stage / JOURNAL)
    for path in (stage / NEW, old, stage):
        disk.fsync_folder(path)
    return replacements


def keep_mode(old: Path, new: Path) -> None:
    """Let the same people read and write a new file as the old one that it replaces."""
    status = old.stat()
    disk.change_mode(new, stat.S_IMODE(status.st_mode))
    if hasattr(os, "chown"):
        try:
            os.chown(new, status.st_uid, status.st_gid)
        except OSError:  # not permitted: then it belongs to the user who writes it
            return


def _commit(stage: Path, journal: Path) -> None:
    """Rename the stage to the journal; wait for another run's journal, complete a killed run's."""
    for _ in range(_COMMIT_ATTEMPTS):
        try:
            disk.rename(stage, journal)
        except OSError:
            if not os.path.lexists(journal):
                raise
        else:
            disk.fsync_folder(journal.parent)
            return
        if not (journal.is_dir() and is_own(journal)):
            break
        with locked(journal):  # waits until the other run has ended
            pass
        recover(journal.parent / journal.name.removeprefix(PUBLISH))
    raise FileError(
        f"{journal} is in the way: a folder of another user, or of a run that still goes on. "
        "Remove it, or choose another folder for the output."
    )


def _move_in(journal: Path, replacements: Mapping[str, Replacement]) -> None:
    """Move the old files aside where they have no second name, then the new ones in."""
    folder = journal.parent
    for name in replacements:
        place, old = folder / name, journal / OLD / name
        is_there = os.path.lexists(place) and _inode(place) != replacements[name].new
        if is_there and not os.path.lexists(old):
            disk.rename(place, old)
    for name in replacements:
        if os.path.lexists(journal / NEW / name):
            disk.rename(journal / NEW / name, folder / name)
    disk.fsync_folder(folder)


def _move_back(journal: Path, replacements: Mapping[str, Replacement]) -> None:
    """Undo _move_in: the new files are in new/ again, the old ones in their place."""
    folder = journal.parent
    for name, replacement in replacements.items():
        place, new, old = folder / name, journal / NEW / name, journal / OLD / name
        if _inode(place) == replacement.new and not os.path.lexists(new):
            disk.rename(place, new)
        if os.path.lexists(old) and not os.path.lexists(place):
            disk.rename(old, place)
    disk.fsync_folder(folder)


def _finish(journal: Path) -> None:
    """Let readers see the new files, and remove what is left."""
    emptied = journal.with_name(PART + secrets.token_hex(8))
    disk.rename(journal, emptied)
    disk.fsync_folder(journal.parent)
    disk.remove_tree(emptied)


def _trusted_journal(journal: Path, owners: set[int] | None) -> dict[str, Replacement] | None:
    """Read a journal that one of these owners made in this place; None if it is not trusted."""
    try:
        for path, is_kind in ((journal, stat.S_ISDIR), (journal / JOURNAL, stat.S_ISREG)):
            status = path.lstat()
            if not is_kind(status.st_mode) or status.st_mode & _WRITABLE_BY_OTHERS:
                return None
            if owners is not None and status.st_uid not in owners:
                return None
        if status.st_size > _MAX_JOURNAL_BYTES:
            return None
        content = parse_json((journal / JOURNAL).read_bytes())
        if content["format"] != FORMAT or content["folder"] != _inode(journal):
            return None
        replacements = {name: Replacement(*pair) for name, pair in content["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    has_bad_name = any(name.startswith(PART) or Path(name).name != name for name in replacements)
    are_numbers = all(type(inode) is int for pair in replacements.values() for inode in pair)
    return replacements if are_numbers and not has_bad_name else None


def _fits(journal: Path, replacements: Mapping[str, Replacement]) -> bool:
    """True if all files are still those that the journal names."""
    folder = journal.parent
    for name, replacement in replacements.items():
        new, old = journal / NEW / name, journal / OLD / name
        if os.path.lexists(new) and _inode(new) != replacement.new:
            return False
        if os.path.lexists(old) and _inode(old) != replacement.old:
            return False
        if not _in_place(folder / name, replacement):
            return False
        if not os.path.lexists(new) and _inode(folder / name) != replacement.new:
            return False
    return True


def _in_place(path: Path, replacement: Replacement) -> bool:
    """True if a path holds the old file, the new one, or none for the moment."""
    return _inode(path) in (0, *replacement)


def _trusted_owners(folder: Path) -> set[int] | None:
    """Return the users whose journals a reader trusts: the reader and the folder's owner."""
    return {os.geteuid(), folder.stat().st_uid} if hasattr(os, "geteuid") else None


def _inode(path: Path) -> int:
    try:
        return path.lstat().st_ino
    except OSError:
        return 0
