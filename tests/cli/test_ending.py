"""Every end of a run is a sentence: no traceback, whatever is closed, full or interrupted."""

import os
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner

from geomm_plugin import Embeddings, write_embeddings
from geomm_plugin.cli import group, mappers

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
GEOMM = f"{shlex.quote(sys.executable)} -m geomm_plugin"


def shell(line, **options):
    return subprocess.run(
        ["sh", "-c", line], capture_output=True, text=True, env=ENVIRONMENT, **options
    )


@pytest.fixture
def files(tmp_path):
    words = [f"w{number}" for number in range(9)]
    write_embeddings(Embeddings(words, np.eye(9)), tmp_path / "en.vec")
    return tmp_path


def test_too_little_memory_is_a_sentence(monkeypatch):
    def allocate(*args, **kwargs):
        raise MemoryError("Unable to allocate 8.94 GiB")

    monkeypatch.setattr(mappers.command, "callback", allocate)
    result = CliRunner().invoke(group, ["mappers"])
    assert result.exit_code == 2
    assert result.output.startswith("There is not enough memory (Unable to allocate 8.94 GiB).")


@pytest.mark.parametrize(
    "error",
    [
        'ImportError("libblas.so: failed to map segment from shared object")',
        'RuntimeError("can\'t start new thread")',
        'RuntimeError("a defect of ours")',
    ],
)
def test_so_is_a_library_or_a_thread_that_finds_none(error):
    program = (
        f"from geomm_plugin.cli.terminal import exit_cleanly\nwith exit_cleanly():\n raise {error}"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=ENVIRONMENT
    )
    if "ours" in error:
        assert done.stderr.startswith("Traceback")
    else:
        assert done.stderr.startswith("There is not enough memory. Read fewer words")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize("closed", ["2>&-", ">&- 2>&-", "2>/dev/full", "<&- >&- 2>&-"])
def test_standard_error_that_is_closed_or_full_changes_no_status(files, closed):
    line = f"{GEOMM} convert en.vec out.vec {closed}; echo $?; {GEOMM} nothing {closed}; echo $?"
    done = shell(line, cwd=files)
    assert done.stdout.split()[-2:] == ["0", "2"], done
    assert done.stderr == ""
    assert (files / "out.vec").read_bytes() == (files / "en.vec").read_bytes()


def test_output_that_cannot_be_written_is_one_sentence():
    done = shell(f"{GEOMM} mappers > /dev/full")
    assert done.returncode == 2
    assert done.stderr == "The system refused: No space left on device.\n"


def test_pipes_get_utf_8_whatever_the_code_page(tmp_path):
    for name in ("en", "ru"):
        write_embeddings(Embeddings(["мир", "дом"], np.eye(2)), tmp_path / f"{name}.vec")
    line = f"{GEOMM} translate en=en.vec ru=ru.vec en-ru мир -k 1"
    done = subprocess.run(
        ["sh", "-c", line],
        capture_output=True,
        env={**ENVIRONMENT, "PYTHONIOENCODING": "cp1252"},
        cwd=tmp_path,
    )
    assert done.stdout.decode("utf-8").startswith("мир  мир ("), done


def test_a_reader_that_goes_away_is_no_error_message():
    done = shell(f"{GEOMM} mappers | true")
    assert done.stderr == ""


SLOW_MODULE = "import time\ntime.sleep(30)\n"


@pytest.mark.parametrize("module", ["click", "numpy"])
def test_ctrl_c_while_modules_load_is_one_word(tmp_path, module):
    """A module that takes long to load stands in for all of them."""
    (tmp_path / f"{module}.py").write_text(
        f"open({str(tmp_path / 'loading')!r}, 'w')\n{SLOW_MODULE}"
    )
    environment = {
        **ENVIRONMENT,
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.pathsep.join(sys.path)}",
    }
    with subprocess.Popen(
        [sys.executable, "-m", "geomm_plugin", "mappers"],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        while not (tmp_path / "loading").exists() and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "Stopped.\n")


def test_a_stop_that_a_library_turned_into_its_own_error_is_still_a_stop():
    code = (
        "import os, signal\n"
        "from geomm_plugin.cli import main, mappers\n"
        "def work(**options):\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    except KeyboardInterrupt:\n"
        "        raise ImportError('numpy.core.multiarray failed to import')\n"
        "mappers.command.callback = work\n"
        "import sys\nsys.argv = ['geomm', 'mappers']\nmain()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=ENVIRONMENT
    )
    assert (done.returncode, done.stderr) == (130, "Stopped.\n")


def test_a_defect_keeps_its_traceback():
    code = (
        "from geomm_plugin.cli import main, mappers\n"
        "mappers.command.callback = lambda **options: 1 / 0\n"
        "import sys\nsys.argv = ['geomm', 'mappers']\nmain()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=ENVIRONMENT
    )
    assert done.returncode == 1 and "ZeroDivisionError" in done.stderr
