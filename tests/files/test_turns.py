"""Parts of one file, put by several threads and processes."""

import os
import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from geomm_plugin.errors import WorkError
from geomm_plugin.files import disk
from geomm_plugin.files.turns import FileInTurns
from geomm_plugin.work import Task, open_workers


def part(number: int) -> list[bytes]:
    return [bytes([number % 251]) * (number * 37 % 900), b"", b"\n" * (number % 3)]


def whole(count: int, head: bytes = b"") -> bytes:
    return head + b"".join(piece for number in range(count) for piece in part(number))


def put(file: FileInTurns, number: int) -> int:
    time.sleep(random.Random(number).random() / 100)
    return file.put(number, part(number))


def test_parts_are_in_their_order_whoever_was_faster(tmp_path):
    file = FileInTurns.create(tmp_path / "file", b"head\n")
    with ThreadPoolExecutor(8) as executor:
        ends = list(executor.map(lambda number: put(file, number), range(200)))
    assert file.path.read_bytes() == whole(200, b"head\n")
    assert ends == [len(whole(number + 1, b"head\n")) for number in range(200)]


def test_processes_put_parts(tmp_path):
    file = FileInTurns.create(tmp_path / "file")
    with open_workers(2) as workers:
        assert workers.in_turn == hasattr(os, "pwrite")
        tasks = [Task(f"Part {number}", file.put, (number, part(number))) for number in range(50)]
        ends = list(workers.in_order(tasks))
    assert file.path.read_bytes() == whole(50)
    assert ends[-1] == len(whole(50))


def test_a_part_may_be_put_again(tmp_path):
    file = FileInTurns.create(tmp_path / "file")
    for number in (0, 1, 1, 0, 2, 1):
        file.put(number, part(number))
    assert file.path.read_bytes() == whole(3)


def test_a_part_that_is_given_up_ends_the_wait(tmp_path):
    file = FileInTurns.create(tmp_path / "file")
    with ThreadPoolExecutor(1) as executor:
        waiting = executor.submit(file.put, 1, [b"x"])
        time.sleep(0.05)
        assert not waiting.done()
        with pytest.raises(ZeroDivisionError), file.turn(0):
            file.put(0, [bytes(1 // 0)])
        with pytest.raises(WorkError, match="the part before part 1"):
            waiting.result(timeout=10)


@pytest.mark.parametrize(
    "kept",
    [[], [(0, 10)], [(0, 5), (5, 9)], [(3, 4)], [(0, 2), (3, 3), (4, 9)], [(7, 10)]],
)
@pytest.mark.parametrize("block", [1, 3, 2**20])
def test_gaps_are_closed(tmp_path, monkeypatch, kept, block):
    monkeypatch.setattr(disk, "_BLOCK_BYTES", block)
    (tmp_path / "file").write_bytes(b"0123456789")
    disk.close_gaps(tmp_path / "file", kept)
    assert (tmp_path / "file").read_bytes() == b"".join(b"0123456789"[a:b] for a, b in kept)


def test_a_file_that_was_cut_off_is_told(tmp_path):
    (tmp_path / "file").write_bytes(b"0123")
    with pytest.raises(OSError, match="cut off"):
        disk.close_gaps(tmp_path / "file", [(2, 9)])
