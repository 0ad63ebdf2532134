"""Whole files, and sets of files of which one names the others: old, new, or told; never half."""

import errno
import json
import os
import threading
from pathlib import Path

import pytest

from geomm_plugin.errors import FileError
from geomm_plugin.files import disk
from geomm_plugin.files.atomic import (
    append_row,
    atomic_file,
    atomic_files,
    locked,
    move_back,
    move_in,
    open_rows,
)
from geomm_plugin.files.outputs import PART

NAMES = ("x", "x.words")


class Killed(BaseException):
    """The end of a process, as far as the files can tell."""


def write(folder, text="new", names=NAMES):
    with atomic_files(folder / names[0]) as part:
        for name in names:
            part.with_name(name).write_text(text)


def seen(folder):
    """Read as users do: the file that names the others, then these."""
    return [(folder / name).read_text() if (folder / name).exists() else None for name in NAMES]


def failing_at(number, error):
    count = iter(range(99))

    def fail(operation, path):
        if operation == "rename" and next(count) == number:
            raise error

    return disk.watched(fail)


# Renamings: 0 and 1 the old files leave, 2 and 3 the new ones come.
@pytest.mark.parametrize("number", [0, 1, 2, 3])
@pytest.mark.parametrize("error", [OSError(errno.EIO, "The plug was pulled"), KeyboardInterrupt()])
def test_a_failed_renaming_is_undone(tmp_path, number, error):
    write(tmp_path, "old")
    expected = FileError if isinstance(error, OSError) else KeyboardInterrupt
    with failing_at(number, error), pytest.raises(expected):
        write(tmp_path)
    assert seen(tmp_path) == ["old", "old"]
    assert sorted(path.name for path in tmp_path.iterdir()) == list(NAMES)


@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_a_killed_renaming_never_leaves_the_first_file_with_others_than_its_own(
    tmp_path, monkeypatch, number
):
    write(tmp_path, "old")
    with monkeypatch.context() as patched, failing_at(number, Killed()):
        patched.setattr(disk, "remove_tree", lambda path: None)
        patched.setattr("geomm_plugin.files.atomic.move_back", lambda *_: None)
        with pytest.raises(Killed):
            write(tmp_path)
    first, second = seen(tmp_path)
    assert first == ("old" if number == 0 else None)
    assert second == {0: "old", 1: "old", 2: None, 3: "new"}[number]
    write(tmp_path, "newer")
    assert seen(tmp_path) == ["newer", "newer"]
    assert sorted(path.name for path in tmp_path.iterdir()) == list(NAMES)


@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_what_was_killed_while_it_moved_can_be_moved_back_later(tmp_path, monkeypatch, number):
    source = tmp_path / "stage" / "new"
    source.mkdir(parents=True)
    for name in NAMES:
        (source / name).write_text("new")
        (tmp_path / name).write_text("old")
    order = tuple(reversed(NAMES))
    with monkeypatch.context() as patched, failing_at(number, Killed()):
        patched.setattr("geomm_plugin.files.atomic.move_back", lambda *_: None)
        with pytest.raises(Killed):
            move_in(source, tmp_path, order)
    for _ in range(2):
        move_back(source, tmp_path, order)
        assert seen(tmp_path) == ["old", "old"] and seen(source) == ["new", "new"]
    move_in(source, tmp_path, order)
    assert seen(tmp_path) == ["new", "new"] and seen(source) == [None, None]


def test_a_folder_is_replaced_as_a_whole(tmp_path):
    for text in ("old", "new"):
        with atomic_files(tmp_path / "model") as part:
            part.mkdir()
            (part / "weights").write_text(text)
        assert (tmp_path / "model" / "weights").read_text() == text
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_files_and_folders_are_on_the_disk_before_they_get_their_names(tmp_path):
    """Each new file and its folder, then the names; the one that names the others after these."""
    calls = []
    with disk.watched(lambda operation, path: calls.append((operation, path.name))):
        write(tmp_path)
    kept = [call for call in calls if call[0] in ("fsync", "rename")]
    assert sorted(kept[:3]) == [("fsync", "new"), ("fsync", "x"), ("fsync", "x.words")]
    here = ("fsync", tmp_path.name)
    moved = [("rename", "x.words"), here, ("rename", "x"), ("rename", "part-replaced"), here]
    assert kept[3:] == moved
    calls.clear()
    with (
        disk.watched(lambda operation, path: calls.append((operation, path.name))),
        atomic_file(tmp_path / "y") as part,
    ):
        part.write_text("y")
    kept = [call for call in calls if call[0] in ("fsync", "rename")]
    assert kept == [("fsync", "y"), ("fsync", "new"), ("rename", "y"), here]


def test_the_system_is_asked_to_bring_files_and_folders_to_disk(tmp_path, monkeypatch):
    kinds = []
    monkeypatch.setattr(
        os, "fsync", lambda handle: kinds.append(Path(f"/dev/fd/{handle}").is_dir())
    )
    with atomic_file(tmp_path / "x") as part:
        part.write_text("x")
    assert kinds == [False, True, True]
    with open_rows(tmp_path / "rows") as stream:
        append_row(stream, {"a": 1})
    assert kinds == [False, True, True, False]


def test_long_names_are_measured_in_bytes(tmp_path):
    name = "ж" * 120 + ".vec"  # 244 bytes
    with atomic_file(tmp_path / name) as part:
        part.write_text("one")
    write(tmp_path, names=(name, "ж" * 120 + ".words"))
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".vec", ".words"]
    with (
        pytest.raises(FileError, match="its name has 256 bytes"),
        atomic_file(tmp_path / ("ж" * 128)),
    ):
        pass


@pytest.mark.parametrize("why", ["another user's", "others may write", "a link"])
def test_leftovers_of_others_are_not_ours_to_remove(tmp_path, monkeypatch, why):
    theirs = tmp_path / f"{PART}theirs"
    theirs.mkdir()
    (theirs / "file").write_text("theirs")
    if why == "others may write":
        theirs.chmod(0o777)
    if why == "a link":
        theirs.rename(tmp_path / "elsewhere")
        theirs.symlink_to(tmp_path / "elsewhere")
    if why == "another user's":
        owner_of = disk.owner_of
        monkeypatch.setattr(
            disk, "owner_of", lambda path: 4711 if path == theirs else owner_of(path)
        )
    write(tmp_path)
    assert (theirs / "file").read_text() == "theirs"
    assert not (theirs / "lock").exists()
    theirs.unlink() if why == "a link" else None
    monkeypatch.undo()


def test_rows_survive_a_line_that_a_kill_tore_off(tmp_path):
    path = tmp_path / "folder" / "rows.jsonl"
    for number in range(2):
        with open_rows(path) as stream:
            append_row(stream, {"word": "ñ\udc80", "number": number})
            append_row(stream, {"number": number + 10})
        with path.open("ab") as stream:
            stream.write(b'{"numb')
    lines = path.read_bytes().split(b"\n")
    assert [line for line in lines if line.endswith(b"b")] == [b'{"numb'] * 2
    whole = [json.loads(line.decode("utf-8", "surrogateescape")) for line in lines if b"}" in line]
    assert [row["number"] for row in whole] == [0, 10, 1, 11]
    assert whole[0]["word"] == "ñ\udc80"
    with pytest.raises(FileError, match="is a folder"):
        open_rows(tmp_path)


def test_a_locked_folder_is_waited_for_or_refused_also_through_a_link(tmp_path):
    folder, link, order = tmp_path / "folder", tmp_path / "link", []
    folder.mkdir()
    link.symlink_to(folder)

    def second():
        with locked(link):
            order.append("second")

    with locked(folder):
        with (
            pytest.raises(FileError, match="Another run is writing into .*link"),
            locked(link, wait=False),
        ):
            pass
        waiting = threading.Thread(target=second)
        waiting.start()
        waiting.join(0.2)
        order.append("first")
    waiting.join()
    assert order == ["first", "second"]
    assert list(folder.iterdir()) == []
