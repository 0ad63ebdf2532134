"""Files that are replaced together: readers see the old ones or the new, and change nothing."""

import errno
import json
import os
import shutil
from contextlib import ExitStack

import pytest

from geomm_plugin.errors import FileError
from geomm_plugin.files import disk, publication
from geomm_plugin.files.atomic import all_written_beside, written_beside
from geomm_plugin.files.lock import locked
from geomm_plugin.files.publication import (
    OLD,
    PART,
    PUBLISH,
    journal_folder,
    published,
    recover,
)

NAMES = ("x", "x.words")


class Killed(BaseException):
    """The end of a process, as far as the files can tell."""


def write(folder, text="new", names=NAMES):
    with all_written_beside(folder / names[0]) as part:
        for name in names:
            part.with_name(name).write_text(text)


def killed_at(folder, number, monkeypatch):
    """Write new files over old ones, and die before the n-th renaming; nothing is cleaned up."""
    for name in NAMES:
        (folder / name).write_text("old")
    left = iter(range(number))

    def kill(operation, path):
        if operation == "rename" and next(left, None) is None:
            raise Killed

    with monkeypatch.context() as patched, disk.watched(kill):
        patched.setattr(disk, "remove_tree", lambda path: None)
        with pytest.raises(Killed):
            write(folder)


def seen(folder):
    place = published(folder / NAMES[0])
    return [place.with_name(name).read_text() for name in NAMES]


def snapshot(folder):
    return {
        path: (path.lstat()[:4], path.read_bytes() if path.is_file() else None)
        for path in folder.rglob("*")
    }


# Renamings: 0 the commit, 1 and 2 the files, 3 the end.
@pytest.mark.parametrize("renamed", [0, 1, 2, 3])
def test_readers_see_the_old_files_and_change_nothing_until_a_writer_ends_it(
    tmp_path, monkeypatch, renamed
):
    killed_at(tmp_path, renamed, monkeypatch)
    before = snapshot(tmp_path)
    assert seen(tmp_path) == ["old", "old"]
    assert snapshot(tmp_path) == before
    recover(tmp_path / "x")
    assert seen(tmp_path) == (["new", "new"] if renamed else ["old", "old"])
    write(tmp_path, "newer")
    assert seen(tmp_path) == ["newer", "newer"]
    assert sorted(path.name for path in tmp_path.iterdir()) == list(NAMES)


def test_files_that_were_not_there_before_are_not_read_half(tmp_path, monkeypatch):
    killed_at(tmp_path, 2, monkeypatch)
    recover(tmp_path / "x")
    for name in NAMES:
        (tmp_path / name).unlink()

    def kill(operation, path):
        if operation == "rename" and path == tmp_path / "x.words":
            raise Killed

    with monkeypatch.context() as patched, disk.watched(kill):
        patched.setattr(disk, "remove_tree", lambda path: None)
        with pytest.raises(Killed):
            write(tmp_path)
    with pytest.raises(FileError, match="Run that command again"):
        published(tmp_path / "x")
    recover(tmp_path / "x")
    assert seen(tmp_path) == ["new", "new"]


@pytest.mark.parametrize("failing", [1, 2, 3])
def test_a_failed_renaming_is_undone(tmp_path, failing):
    for name in NAMES:
        (tmp_path / name).write_text("old")
    count = iter(range(99))

    def fail(operation, path):
        if operation == "rename" and next(count) == failing:
            raise OSError(errno.EIO, "The plug was pulled")

    with disk.watched(fail), pytest.raises(FileError, match="The plug was pulled"):
        write(tmp_path)
    assert seen(tmp_path) == ["old", "old"]
    write(tmp_path, "newer")
    assert sorted(path.name for path in tmp_path.iterdir()) == list(NAMES)
    assert seen(tmp_path) == ["newer", "newer"]


def test_where_files_have_one_name_only_the_old_ones_are_moved_aside(tmp_path, monkeypatch):
    def no_links(*_, **__):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    for renamed in range(6):
        killed_at(tmp_path, renamed, monkeypatch)
        if renamed == 2:  # one of the two is moved aside: neither the old nor the new are there
            with pytest.raises(FileError, match="Run that command again"):
                seen(tmp_path)
        else:
            assert seen(tmp_path) == ["old", "old"]
        write(tmp_path)
        assert seen(tmp_path) == ["new", "new"]
        assert sorted(path.name for path in tmp_path.iterdir()) == list(NAMES)


def test_what_came_later_is_read_and_not_replaced_by_what_was_ready(tmp_path, monkeypatch):
    killed_at(tmp_path, 1, monkeypatch)
    (tmp_path / "mine").write_text("my own")
    (tmp_path / "mine").replace(tmp_path / "x")
    assert published(tmp_path / "x").read_text() == "my own"
    recover(tmp_path / "x")
    assert (tmp_path / "x").read_text() == "my own"
    assert sorted(path.name for path in tmp_path.iterdir()) == list(NAMES)


def planted(folder, names, inode=None):
    """Make a journal by hand, as somebody's archive could hold it."""
    journal = journal_folder(folder / "x")
    for kind in ("new", "old"):
        (journal / kind).mkdir(parents=True)
    files = {}
    for name in names:
        for kind in ("new", "old"):
            (journal / kind / name.replace("/", "_")).write_text("evil")
        new = (journal / "new" / name.replace("/", "_")).stat().st_ino
        files[name] = [new, (folder / name).stat().st_ino if (folder / name).exists() else 0]
    inode = journal.stat().st_ino if inode is None else inode
    content = {"format": 1, "folder": inode, "files": files}
    (journal / "journal.json").write_text(json.dumps(content))
    for path in (journal, journal / "journal.json"):
        path.chmod(0o755)
    return journal


@pytest.mark.parametrize("why", ["another inode", "others may write", "a link", "leads out"])
def test_a_journal_that_was_not_made_here_does_nothing(tmp_path, why):
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "x").write_text("mine")
    (tmp_path / ".bashrc").write_text("mine")
    names = ["x", "../.bashrc"] if why == "leads out" else ["x"]
    journal = planted(folder, names, inode=1 if why == "another inode" else None)
    if why == "others may write":
        journal.chmod(0o777)
    if why == "a link":
        journal.rename(tmp_path / "elsewhere")
        journal.symlink_to(tmp_path / "elsewhere")
    assert published(folder / "x").read_text() == "mine"
    recover(folder / "x")
    assert (folder / "x").read_text() == "mine"
    assert (tmp_path / ".bashrc").read_text() == "mine"
    if why == "a link":
        with pytest.raises(FileError, match="is in the way"):
            write(folder)
        assert (tmp_path / "elsewhere" / "old" / "x").read_text() == "evil"
    else:
        write(folder)
        assert (folder / "x").read_text() == "new"
    assert (tmp_path / ".bashrc").read_text() == "mine"


def test_a_journal_of_another_user_in_a_common_folder_does_nothing(tmp_path):
    if os.geteuid():
        pytest.skip("Only root can give a file to another user.")
    (tmp_path / "x").write_text("mine")
    journal = planted(tmp_path, ["x"])
    for path in (journal, *journal.rglob("*")):
        os.chown(path, 65534, 65534)
    assert published(tmp_path / "x").read_text() == "mine"
    with pytest.raises(FileError, match="is in the way: a folder of another user"):
        write(tmp_path)
    assert (tmp_path / "x").read_text() == "mine"


def test_a_moved_copy_of_a_stopped_publication_is_not_believed(tmp_path, monkeypatch):
    folder = tmp_path / "here"
    folder.mkdir()
    killed_at(folder, 2, monkeypatch)
    shutil.copytree(folder, tmp_path / "copy")
    assert published(tmp_path / "copy" / "x") == tmp_path / "copy" / "x"
    assert published(folder / "x") == journal_folder(folder / "x") / OLD / "x"


def test_long_names_are_measured_in_bytes(tmp_path):
    name = "ж" * 120 + ".vec"  # 244 bytes
    with written_beside(tmp_path / name) as part:
        part.write_text("one")
    write(tmp_path, names=(name, "ж" * 120 + ".words"))
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".vec", ".words"]
    with (
        pytest.raises(FileError, match="its name has 256 bytes"),
        written_beside(tmp_path / ("ж" * 128)),
    ):
        pass


def test_leftovers_of_others_are_not_ours_to_remove(tmp_path):
    if os.geteuid():
        pytest.skip("Only root can give a file to another user.")
    (tmp_path / f"{PART}theirs").mkdir()
    os.chown(tmp_path / f"{PART}theirs", 65534, 65534)
    (tmp_path / f"{PUBLISH}y").mkdir()
    write(tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [f"{PART}theirs", f"{PUBLISH}y", *NAMES]


def test_readers_wait_for_a_running_process_but_not_for_a_killed_one(tmp_path, monkeypatch):
    """On a busy machine a process may take long to move its files."""

    def no_links(*_, **__):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    killed_at(tmp_path, 2, monkeypatch)  # neither the old nor the new files are all there
    pauses = []

    def pause(seconds):
        pauses.append(seconds)
        if len(pauses) == 200:
            running.close()
            recover(tmp_path / "x")

    monkeypatch.setattr(publication.time, "sleep", pause)
    with pytest.raises(FileError, match="Run that command again"):
        published(tmp_path / "x")
    assert len(pauses) < 100
    pauses.clear()
    with ExitStack() as running:
        running.enter_context(locked(journal_folder(tmp_path / "x")))
        assert seen(tmp_path) == ["new", "new"]
    assert len(pauses) == 200
