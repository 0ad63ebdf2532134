"""`geomm compare` keeps what it has: where it is stopped, killed, or cannot write."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from geomm_plugin.demo import FOLDER
from geomm_plugin.evaluation.outcome import Comparison

ARGUMENTS = (
    *("compare", f"en={FOLDER}/en.vec.gz", f"es={FOLDER}/es.vec.gz", "--max-words", "800"),
    *("-d", f"en-es={FOLDER}/en-es.train.txt", "-t", f"en-es={FOLDER}/en-es.test.txt"),
)
# A command line with a mapper that tells its process and then never ends.
PROGRAM = """
import os, sys, time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from geomm_plugin import LinearMapper, hookimpl, registry
from geomm_plugin.cli import main

@dataclass(kw_only=True, eq=False, repr=False)
class Endless(LinearMapper):
    "Never ends."
    name: ClassVar[str] = "endless"
    def learn(self, vectors, pairs, report):
        part = Path(os.environ["MARKER"] + ".part")
        part.write_text(str(os.getpid()))
        part.rename(os.environ["MARKER"])
        time.sleep(600)

class Plugin:
    @hookimpl
    def register_mappers(self):
        return [Endless]

registry.plugins.register(Plugin())
main()
"""


@pytest.fixture
def invoke(geomm):
    """Run a comparison of small vocabularies with further arguments."""
    return lambda *arguments, **settings: geomm(*ARGUMENTS, *arguments, **settings)


def start(tmp_path, *arguments):
    """Start a comparison; return it, and the worker that never ends, when that is at work."""
    marker = tmp_path / "marker"
    environment = os.environ | {
        "MARKER": str(marker),
        "PYTHONPATH": os.pathsep.join(map(str, sys.path)),
    }
    command = [sys.executable, "-c", PROGRAM, *ARGUMENTS, "-m", "procrustes", "-m", "endless"]
    running = subprocess.Popen(
        [*command, *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not marker.exists():
        assert running.poll() is None, running.communicate()
        time.sleep(0.05)
    return running, int(marker.read_text())


def has_ended(process):
    """Tell whether a process is gone, or dead and not yet buried by whoever inherited it."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


def shared_memory():
    return {path.name for path in Path("/dev/shm").iterdir()}


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux about processes")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_comparison_that_is_stopped_prints_the_rows_that_it_has(tmp_path, number):
    running, worker = start(tmp_path, "--json")
    running.send_signal(number)
    output, _ = running.communicate(timeout=60)
    rows = json.loads(output)
    assert {row["mapper"] for row in rows} == {"procrustes"} and rows[0]["p@1"] > 0.1
    assert running.returncode == 128 + number
    assert has_ended(worker)


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux about processes")
def test_a_killed_comparison_leaves_its_rows_and_nothing_at_work(tmp_path):
    before = shared_memory()
    save = tmp_path / "rows.jsonl"
    running, worker = start(tmp_path, "--save", str(save))
    while not (save.exists() and save.read_bytes().endswith(b"\n")):  # while the next one runs
        assert running.poll() is None, running.communicate()
        time.sleep(0.05)
    running.kill()
    running.communicate(timeout=60)
    while not has_ended(worker):  # the system's signal is on its way
        time.sleep(0.05)
    (row,) = map(json.loads, save.read_text(encoding="utf-8").splitlines())
    assert row["mapper"] == "procrustes" and row["p@1"] > 0.1
    own = (f"_{running.pid}_", f"-{running.pid}-", f"_{worker}_", f"-{worker}-")
    assert not [name for name in shared_memory() - before if any(o in name for o in own)]


def test_rows_are_added_to_what_was_saved(invoke, tmp_path):
    save = tmp_path / "rows.jsonl"
    for mapper in ("procrustes", "unconstrained"):
        invoke("-m", mapper, "--save", save)
        with save.open("a", encoding="utf-8") as file:
            file.write('{"mapper": "ki')  # the next one was killed while it wrote
    *_, torn = lines = save.read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line != torn]
    assert [row["mapper"] for row in rows] == ["procrustes", "unconstrained"]


def test_rows_are_saved_into_a_pipe(invoke, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as thread:
        read = thread.submit((tmp_path / "pipe").read_bytes)
        done = invoke("-m", "procrustes", "-m", "cca", "--save", tmp_path / "pipe")
        assert "Cannot save" not in done.stderr, done.output
        rows = map(json.loads, read.result().splitlines())
        assert [row["mapper"] for row in rows] == ["procrustes", "cca"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is full")
def test_a_full_disk_costs_no_row(invoke):
    done = invoke("-m", "procrustes", "--save", "/dev/full", "--json")
    assert "Cannot save rows to /dev/full: No space left on device. The compari" in done.stderr
    assert [row["mapper"] for row in json.loads(done.stdout)] == ["procrustes"]


def test_a_page_that_cannot_be_written_costs_no_table(invoke, tmp_path, monkeypatch):
    def fail(self):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Comparison, "to_html", fail)
    latex = tmp_path / "table.tex"
    line = ("-m", "procrustes", "--html", tmp_path / "x.html", "--latex", latex)
    done = invoke(*line, status=2)
    assert "No space left" in done.stderr
    assert "procrustes" in done.stdout and r"\toprule" in latex.read_text(encoding="utf-8")


def test_pairs_are_fitted_alone_on_request(invoke):
    languages = [f"it={FOLDER}/it.vec.gz", "-d", f"en-it={FOLDER}/en-it.train.txt"]
    tests = ["-t", f"en-it={FOLDER}/en-it.test.txt", "-m", "procrustes"]
    assert "All 3 languages were fitted together" in invoke(*languages, *tests).stdout
    alone = invoke(*languages, *tests, "--each-pair").stdout
    for text in ("Every pair of languages was fitted alone.", "en-es", "en-it", "average"):
        assert text in alone


def test_points_are_told_by_spelling_in_table_and_page(invoke, tmp_path):
    page = tmp_path / "report.html"
    done = invoke("-m", "procrustes", "--by", "spelling", "--html", page)
    assert "P@1 cognate (words)" in done.stdout
    assert "P@1 by spelling" in page.read_text(encoding="utf-8")
