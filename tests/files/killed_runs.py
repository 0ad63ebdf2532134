"""Kills runs, and looks: `python tests/files/killed_runs.py JOB KILLS FOLDER [EVERY]`.

A folder holds the old output of a job; a run that would replace it by the new one is killed with
SIGKILL, at random moments of its duration and before each (or every so many) of its operations on
files. Every output found afterwards must be the old or the new one, bit by bit; of a set of files
that was being renamed, a reader may also be told so. The next run must leave the new one and
nothing else. Runs are forked from here: a kill costs no start of Python.
"""

import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

import numpy as np

from geomm_plugin import (
    Embeddings,
    get_mapper,
    load_mapper,
    read_embeddings,
    save_mapper,
    write_embeddings,
)
from geomm_plugin.alignment.record import UNFINISHED
from geomm_plugin.cli import group
from geomm_plugin.errors import FileError
from geomm_plugin.files.outputs import PART
from geomm_plugin.formats import read_languages
from geomm_plugin.testing import make_toy

OPERATIONS = {
    *("open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "os.link"),
    *("shutil.rmtree", "tempfile.mkstemp", "tempfile.mkdtemp"),
}
TOY = make_toy(words=300, dimension=30)


class Align:
    """`geomm align` into a folder of aligned files with another mapper."""

    options = ()
    ends_within = 0.0  # seconds after its parent

    def __init__(self, folder):
        self.inputs = folder / "inputs"
        for language, embeddings in TOY.embeddings.items():
            write_embeddings(embeddings, self.inputs / f"{language}.vec")
        lines = "".join(f"{one}\t{other}\n" for one, other in TOY.dictionaries["en", "es"])
        (self.inputs / "en-es.txt").write_text(lines)

    def run(self, output, new):
        specs = [f"{name}={self.inputs / name}.vec" for name in ("en", "es")]
        chosen = ["--mapper", "cca" if new else "procrustes"]
        group(
            [
                "align",
                *specs,
                "-d",
                f"en-es={self.inputs / 'en-es.txt'}",
                *chosen,
                *self.options,
                "-qo",
                str(output),
            ],
            standalone_mode=False,
        )

    def look(self, output):
        read = read_languages({name: output / f"{name}.vec" for name in ("en", "es")})
        found = [("\n".join(each.words), each.vectors.tobytes()) for each in read.values()]
        return {"all": (*found, state_of(output / "mapper"))}


class AlignResume(Align):
    """The same; every run goes on where one before it was killed."""

    options = ("--resume",)


class AlignJobs(Align):
    """The same in two processes, which end soon after the killed run."""

    options = ("--resume", "--jobs", "2")
    ends_within = 1.0


class Convert:
    """`geomm convert` into .npy, which is two files: the old words must not meet new vectors."""

    ends_within = 0.0

    def __init__(self, folder):
        self.inputs = {True: folder / "new.vec", False: folder / "old.vec"}
        for new, path in self.inputs.items():
            vectors = TOY.embeddings["en"].vectors + new
            words = [f"{'new' if new else 'old'}{number}" for number in range(len(vectors))]
            write_embeddings(Embeddings(words, vectors), path)

    def run(self, output, new):
        arguments = ["convert", str(self.inputs[new]), str(output / "x.npy"), "--quiet"]
        group(arguments, standalone_mode=False)

    def look(self, output):
        read = read_embeddings(output / "x.npy")
        return {"x.npy": ("\n".join(read.words), read.vectors.tobytes())}


class ConvertVec(Convert):
    """`geomm convert` into .vec.gz, one file."""

    def run(self, output, new):
        arguments = ["convert", str(self.inputs[new]), str(output / "x.vec.gz"), "--quiet"]
        group(arguments, standalone_mode=False)

    def look(self, output):
        return {"x.vec.gz": (output / "x.vec.gz").read_bytes()}


class Save:
    """save_mapper over a saved mapper."""

    ends_within = 0.0

    def __init__(self, folder):
        self.mappers = {new: TOY.fit(get_mapper(("procrustes", "cca")[new])) for new in (0, 1)}

    def run(self, output, new):
        save_mapper(self.mappers[new], output / "mapper")

    def look(self, output):
        return {"mapper": state_of(output / "mapper")}


JOBS = {
    "align": Align,
    "align_resume": AlignResume,
    "align_jobs": AlignJobs,
    "convert": ConvertVec,
    "convert_npy": Convert,
    "save_mapper": Save,
}


def state_of(folder):
    mapper = load_mapper(folder)
    return mapper.name, {n: np.asarray(a).tobytes() for n, a in mapper.state().items()}


def forked(work, *, delay=None, operation=None):
    """Do some work in a process of its own; return how many operations it began and its status."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        status = 1
        try:
            begun = 0

            def watch(event, arguments):
                nonlocal begun
                if event in OPERATIONS:
                    begun += 1
                    if begun == operation:
                        os.kill(os.getpid(), signal.SIGKILL)

            sys.addaudithook(watch)
            work()
            os.write(writer, str(begun).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    if delay is not None:
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reader, "rb") as stream:
        count = stream.read()
    return int(count or 0), os.waitstatus_to_exitcode(status)


def main(name, kills, folder, every=1):
    folder = Path(folder)
    job = JOBS[name](folder)
    outputs = {new: folder / ("new" if new else "old") for new in (False, True)}
    for new, output in outputs.items():
        output.mkdir()
        job.run(output, new)
    expected = {new: job.look(output) for new, output in outputs.items()}
    assert all(expected[False][key] != expected[True][key] for key in expected[True])
    place = folder / "place"
    told = {"killed": 0, "ended": 0, "old": 0, "new": 0, "told": 0, "with leftovers": 0}

    def tried(**how):
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(outputs[False], place)
        begun, status = forked(lambda: job.run(place, True), **how)
        assert status in (0, -signal.SIGKILL), (how, status)
        time.sleep(job.ends_within)
        told["killed" if status else "ended"] += 1
        told["with leftovers"] += bool([p for p in place.rglob(".*") if is_leftover(p)])
        before = snapshot(place)
        for key, found in looked(place).items():
            fits = [new for new in (False, True) if found == expected[new][key]]
            assert fits, f"{key} is neither the old nor the new one: {how}"
            told["new" if fits[0] else "old"] += 1
        assert snapshot(place) == before, f"reading changed the folder: {how}"
        return begun, bool(status)

    def looked(place):
        try:
            return job.look(place)
        except FileError as error:
            assert name.startswith("align") or name == "convert_npy", error  # sets of files
            told["told"] += 1
            return {}

    def next_run_is_clean():
        job.run(place, True)
        assert job.look(place) == expected[True]
        assert files_in(place) == files_in(outputs[True])
        if name.startswith("align"):
            same = [path for path in files_in(place) if path.name != "align.json"]
            for path in same:
                file = place / path
                assert file.is_dir() or file.read_bytes() == (outputs[True] / path).read_bytes()

    start = time.perf_counter()
    operations, _ = tried()
    duration = time.perf_counter() - start
    chance = random.Random(0)
    for number in range(kills):
        delay = duration * (number + chance.random()) / kills
        while not tried(delay=delay)[1]:  # it had ended before; then sooner
            delay *= chance.random()
        if number % 5 == 0:
            next_run_is_clean()
    told["at random"], told["operations"] = kills, len(range(1, operations + 1, every))
    for number, operation in enumerate(range(1, operations + 1, every)):
        tried(operation=operation)
        if number % 5 == 0:
            next_run_is_clean()
    next_run_is_clean()
    print(json.dumps(told))


def is_leftover(path):
    return path.name.startswith((PART, UNFINISHED))


def snapshot(folder):
    return {path: path.lstat()[:4] for path in folder.rglob("*")}  # mode, inode, device, links


def files_in(folder):
    return sorted(path.relative_to(folder) for path in folder.rglob("*"))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], *map(int, sys.argv[4:]))
