"""Kills, full disks, closed pipes and crowds: the old output or the new one, and a sentence."""

import errno
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from filelock import FileLock

from geomm_plugin import (
    get_mapper,
    load_mapper,
    read_embeddings,
    save_mapper,
    write_embeddings,
)
from geomm_plugin.alignment.record import UNFINISHED
from geomm_plugin.cli import group
from geomm_plugin.errors import FileError
from geomm_plugin.files import atomic, disk
from geomm_plugin.files.atomic import atomic_file, locked, remove_leftovers
from geomm_plugin.files.outputs import PART
from geomm_plugin.testing import make_toy

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ENVIRONMENT = os.environ | {
    "OMP_NUM_THREADS": "1",
    "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "adapters")]),
}
GEOMM = [sys.executable, "-m", "geomm_plugin"]


@pytest.fixture
def inputs(tmp_path):
    """Arguments of an align, on small files."""
    toy = make_toy(words=300)
    folder = tmp_path / "inputs"
    for language, embeddings in toy.embeddings.items():
        write_embeddings(embeddings, folder / f"{language}.vec")
    lines = "".join(f"{one}\t{other}\n" for one, other in toy.dictionaries["en", "es"])
    (folder / "en-es.txt").write_text(lines)
    files = [f"{language}={folder / language}.vec" for language in toy.embeddings]
    return ["align", *files, "-d", f"en-es={folder / 'en-es.txt'}", "-m", "procrustes"]


def leftovers(folder):
    return [path for path in folder.rglob(".*") if path.name.startswith(PART)]


def geomm(*arguments, status=0):
    done = CliRunner().invoke(group, [str(argument) for argument in arguments])
    assert done.exit_code == status, (done.output, done.exception)
    return done


# Killed


@pytest.mark.parametrize(
    ("job", "kills", "every"),
    [
        ("align", 10, 4),
        ("align_resume", 10, 4),
        ("align_jobs", 3, 40),
        ("convert", 10, 1),
        ("convert_npy", 10, 1),
        ("save_mapper", 10, 1),
    ],
)
def test_a_killed_run_leaves_the_old_output_or_the_new_one(job, kills, every, tmp_path):
    command = [sys.executable, HERE / "killed_runs.py", job, str(kills), tmp_path, str(every)]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["killed"] == kills + told["operations"]
    assert told["old"] and told["new"] and told["with leftovers"]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_run_removes_what_it_has_begun(number, status, inputs, tmp_path):
    """It is stopped in the midst of its first file, after the mapper was saved."""
    program = """
import signal, sys, time
from geomm_plugin import cli
from geomm_adapters.text.fasttext_vec import FastTextVec
write = FastTextVec.write
def slowly(self, path, embeddings):
    write(self, path, embeddings)
    print("writing", flush=True)
    time.sleep(60)
FastTextVec.write = slowly
signal.signal(signal.SIGINT, signal.default_int_handler)
cli.main()
"""
    output = tmp_path / "out"
    command = [sys.executable, "-c", program, *inputs, "-o", str(output)]
    run = subprocess.Popen(
        command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert run.stdout.readline() == "writing\n"
    assert list((output / UNFINISHED).glob("part-*"))
    run.send_signal(number)
    told = run.communicate()
    assert run.returncode == status, told
    assert "Traceback" not in told[1]
    assert [path.name for path in output.iterdir()] == [UNFINISHED]  # with what was whole
    left = sorted(path.name for path in (output / UNFINISHED).iterdir())
    assert left == ["new", "record.json"]
    assert [path.name for path in (output / UNFINISHED / "new").iterdir()] == ["mapper"]


def test_leftovers_are_removed_by_the_next_run_but_not_those_of_a_live_one(tmp_path):
    (tmp_path / f"{PART}folder").mkdir()
    (tmp_path / f"{PART}folder" / "x.vec").write_text("half")
    (tmp_path / ".part-of-my-own").write_text("mine")
    with atomic_file(tmp_path / "one") as first:
        assert leftovers(tmp_path) == [first.parent.parent]
        with atomic_file(tmp_path / "two") as second:
            second.write_text("2")
        first.write_text("1")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [".part-of-my-own", "one", "two"]


def test_a_part_that_is_removed_while_its_lock_is_opened_is_made_again(tmp_path, monkeypatch):
    lost = []

    class Lost(FileLock):
        def _acquire(self):
            if not lost:
                lost.append(self.lock_file)
                remove_tree(Path(self.lock_file).parent)  # as another run would just now
            super()._acquire()

    remove_tree = disk.remove_tree
    monkeypatch.setattr(atomic, "FileLock", Lost)
    with atomic_file(tmp_path / "file") as part:
        part.write_text("whole")
    assert lost and [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "whole"


def test_a_part_that_is_removed_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    make, removed = disk.make_folder, []

    def make_and_lose(path, *arguments, **options):
        make(path, *arguments, **options)
        if not removed:
            remove_leftovers(tmp_path)  # as another run would that begins just now
            removed.append(path)

    monkeypatch.setattr(disk, "make_folder", make_and_lose)
    with atomic_file(tmp_path / "x") as part:
        part.write_text("whole")
    assert not removed[0].exists()
    assert (tmp_path / "x").read_text() == "whole" and not leftovers(tmp_path)


# Full, read-only, vanished


@pytest.mark.parametrize("suffix", [".vec", ".vec.gz", ".npy", ".safetensors", ".bin"])
def test_a_full_disk_is_a_sentence_and_leaves_the_old_file(tmp_path, suffix):
    toy = make_toy(words=2000, dimension=50)
    path = tmp_path / f"x{suffix}"
    write_embeddings(toy.embeddings["en"], path)
    before = {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, limits[1]))
    try:
        with pytest.raises(FileError, match=f"Cannot write .*x{suffix}: File too large"):
            write_embeddings(toy.embeddings["es"], path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == before


@pytest.mark.parametrize("what", ["fsync", "rename", "mkdir", "open", "write"])
def test_no_space_at_any_step_is_a_sentence(inputs, tmp_path, what):
    geomm(*inputs, "-o", tmp_path / "out", "-q")
    before = {n: (tmp_path / "out" / n).read_bytes() for n in ("en.vec", "es.vec")}

    def full(operation, path):
        if operation == what:
            raise OSError(errno.ENOSPC, "No space left on device")

    arguments = [*inputs[:-1], "cca", "-o", tmp_path / "out", "--suffix", ".npy"]
    with disk.watched(full):
        done = geomm(*arguments, status=2)
    assert "No space left on device" in done.stderr and done.stderr.count("\n") == 1
    assert not leftovers(tmp_path)
    assert {n: (tmp_path / "out" / n).read_bytes() for n in before} == before


def test_output_that_cannot_be_printed_is_a_sentence():
    if not Path("/dev/full").exists():
        pytest.skip("This system has no /dev/full.")
    for arguments in (["mappers"], ["--help"]):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [*GEOMM, *arguments], env=ENVIRONMENT, stdout=full, stderr=subprocess.PIPE
            )
        assert done.returncode == 2
        assert done.stderr == b"The system refused: No space left on device.\n"


@pytest.fixture
def read_only():
    """A folder that cannot be written to, also for root, who becomes nobody for a while."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o555)
        user = os.geteuid()
        if not user:
            os.seteuid(65534)
        yield Path(folder)
        os.seteuid(user)


def test_a_read_only_folder_is_found_before_the_work(read_only, toy):
    for write in (
        lambda: write_embeddings(toy.embeddings["en"], read_only / "x.vec"),
        lambda: write_embeddings(toy.embeddings["en"], read_only / "x.npy"),
    ):
        with pytest.raises(FileError, match="Cannot write .*: Permission denied"):
            write()
    with pytest.raises(FileError, match="Cannot make the folder .*: Permission denied"):
        save_mapper(toy.fit(get_mapper("procrustes")), read_only / "mapper")
    done = geomm("convert", "missing.vec", read_only / "x.vec", status=2)
    assert "There is no file" in done.stderr


@pytest.mark.parametrize("when", ["before it is opened", "before it is read"])
@pytest.mark.parametrize("name", ["en.vec", "en-es.txt", "en.bin"])
def test_an_input_that_vanishes_is_a_sentence(inputs, tmp_path, monkeypatch, name, when):
    folder = tmp_path / "inputs"
    if name == "en.bin":
        geomm("convert", folder / "en.vec", folder / name)
        inputs[1] = f"en={folder / name}"
    vanishing = folder / name
    opened, read = Path.open, Path.read_bytes

    def open_too_late(self, *arguments, **keywords):
        if self == vanishing and when == "before it is opened":
            self.unlink(missing_ok=True)
        stream = opened(self, *arguments, **keywords)
        if self == vanishing:
            self.unlink(missing_ok=True)
        return stream

    def read_too_late(self):
        if self == vanishing:
            self.unlink(missing_ok=True)
        return read(self)

    monkeypatch.setattr(Path, "open", open_too_late)
    monkeypatch.setattr(Path, "read_bytes", read_too_late)
    if name == "en-es.txt" and when == "before it is read":  # which takes one opening: it is there
        geomm(*inputs, "-o", tmp_path / "out")
        return
    done = geomm(*inputs, "-o", tmp_path / "out", status=2)
    assert name in done.stderr and done.stderr.count("\n") == 1
    assert not list((tmp_path / "out").glob("*.vec"))
    assert not leftovers(tmp_path)


def test_an_output_never_replaces_an_input(inputs, tmp_path):
    before = (tmp_path / "inputs" / "en.vec").read_bytes()
    done = geomm(*inputs, "-o", tmp_path / "inputs" / ".." / "inputs", status=2)
    assert "would replace an input. Choose another output folder." in done.stderr
    assert (tmp_path / "inputs" / "en.vec").read_bytes() == before


# Pipes and crowds


@pytest.mark.parametrize("arguments", [["mappers"], ["mappers", "--json"], ["--help"]])
def test_a_closed_pipe_is_quiet(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*GEOMM, *arguments], env=ENVIRONMENT, stdout=writer, stderr=subprocess.PIPE
    )
    os.close(writer)
    assert done.stderr == b""
    assert done.returncode == 1


def test_a_second_run_into_a_folder_is_refused(inputs, tmp_path):
    output = tmp_path / "out"
    output.mkdir()
    with locked(output):
        refused = geomm(*inputs, "-o", output, status=2)
    assert f"Another run is writing into {output}." in refused.stderr
    assert list(output.iterdir()) == []
    geomm(*inputs, "-o", output)


def test_many_save_into_one_folder_at_once(tmp_path, toy):
    """Each saves twenty times; whoever loads meanwhile finds a whole mapper."""
    mappers = [toy.fit(get_mapper(name)) for name in ("procrustes", "cca", "regression")]
    path = tmp_path / "mapper"
    save_mapper(mappers[0], path)
    mask = os.umask(0o022)

    def save(mapper):
        for _ in range(20):
            save_mapper(mapper, path)
            write_embeddings(toy.embeddings["en"], tmp_path / "en.vec")

    with ThreadPoolExecutor() as pool:
        saving = [pool.submit(save, mapper) for mapper in mappers]
        while not all(each.done() for each in saving):
            assert load_mapper(path).name in {mapper.name for mapper in mappers}
        assert [each.result() for each in saving] == [None] * 3
    assert os.umask(mask) == 0o022
    assert (path / "mapper.json").stat().st_mode & 0o777 == 0o644
    assert len(list(path.iterdir())) == 3 and not leftovers(tmp_path)
    read = read_embeddings(tmp_path / "en.vec")
    assert np.array_equal(read.vectors, toy.embeddings["en"].vectors)
