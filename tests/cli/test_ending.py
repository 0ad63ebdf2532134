"""Every end of a run is a sentence: no traceback, whatever is closed, full or interrupted."""

import os
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from geomm_plugin import Embeddings, write_embeddings
from geomm_plugin.cli import mappers

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
GEOMM = f"{shlex.quote(sys.executable)} -m geomm_plugin"


def ended(command, **options):
    return subprocess.run(command, **{"capture_output": True, "env": ENVIRONMENT} | options)


def shell(line, **options):
    return ended(["sh", "-c", line], text=True, **options)


def python(program):
    return ended([sys.executable, "-c", program], text=True)


def test_too_little_memory_is_a_sentence(geomm, monkeypatch):
    def allocate(*args, **kwargs):
        raise MemoryError("Unable to allocate 8.94 GiB")

    monkeypatch.setattr(mappers.command, "callback", allocate)
    told = geomm("mappers", status=2).output
    assert told.startswith("There is not enough memory (Unable to allocate 8.94 GiB).")


@pytest.mark.parametrize(
    "error",
    [
        'ImportError("libblas.so: failed to map segment from shared object")',
        'RuntimeError("can\'t start new thread")',
        'RuntimeError("a defect of ours")',
    ],
)
def test_so_is_a_library_or_a_thread_that_finds_none(error):
    start = "from geomm_plugin.cli.terminal import exit_cleanly\nwith exit_cleanly():"
    done = python(f"{start}\n raise {error}")
    if "ours" in error:
        assert done.stderr.startswith("Traceback")
    else:
        assert done.stderr.startswith("There is not enough memory. Read fewer words")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize("closed", ["2>&-", ">&- 2>&-", "2>/dev/full", "<&- >&- 2>&-"])
def test_standard_error_that_is_closed_or_full_changes_no_status(tmp_path, closed):
    write_embeddings(Embeddings([f"w{n}" for n in range(9)], np.eye(9)), tmp_path / "en.vec")
    line = f"{GEOMM} convert en.vec out.vec {closed}; echo $?; {GEOMM} nothing {closed}; echo $?"
    done = shell(line, cwd=tmp_path)
    assert done.stdout.split()[-2:] == ["0", "2"], done
    assert done.stderr == ""
    assert (tmp_path / "out.vec").read_bytes() == (tmp_path / "en.vec").read_bytes()


def test_output_that_cannot_be_written_is_one_sentence():
    done = shell(f"{GEOMM} mappers > /dev/full")
    assert done.returncode == 2
    assert done.stderr == "The system refused: No space left on device.\n"


def test_pipes_get_utf_8_whatever_the_code_page(tmp_path):
    for name in ("en", "ru"):
        write_embeddings(Embeddings(["мир", "дом"], np.eye(2)), tmp_path / f"{name}.vec")
    line = f"{GEOMM} translate en=en.vec ru=ru.vec en-ru мир -k 1"
    environment = {**ENVIRONMENT, "PYTHONIOENCODING": "cp1252"}
    done = ended(["sh", "-c", line], env=environment, cwd=tmp_path)
    assert done.stdout.decode("utf-8").startswith("мир  мир ("), done


def test_a_reader_that_goes_away_is_no_error_message():
    assert shell(f"{GEOMM} mappers | true").stderr == ""


@pytest.mark.parametrize("module", ["click", "numpy"])
def test_ctrl_c_while_modules_load_is_one_word(tmp_path, module):
    """A module that takes long to load stands in for all of them."""
    begun = tmp_path / "loading"
    slow = f"open({str(begun)!r}, 'w')\nimport time\ntime.sleep(30)\n"
    (tmp_path / f"{module}.py").write_text(slow)
    path = f"{tmp_path}{os.pathsep}{os.pathsep.join(sys.path)}"
    command = [sys.executable, "-m", "geomm_plugin", "mappers"]
    settings = {"stderr": subprocess.PIPE, "text": True, "env": ENVIRONMENT | {"PYTHONPATH": path}}
    with subprocess.Popen(command, **settings) as process:
        while not begun.exists() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "Stopped.\n")


RUN = """
import os, signal, sys
from geomm_plugin.cli import main, mappers
def stopped():
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        raise ImportError('numpy.core.multiarray failed to import')
mappers.command.callback = lambda **options: {work}
sys.argv = ['geomm', 'mappers']
main()
"""


def test_a_stop_that_a_library_turned_into_its_own_error_is_still_a_stop():
    done = python(RUN.format(work="stopped()"))
    assert (done.returncode, done.stderr) == (130, "Stopped.\n")


def test_a_defect_keeps_its_traceback():
    done = python(RUN.format(work="1 / 0"))
    assert done.returncode == 1 and "ZeroDivisionError" in done.stderr
