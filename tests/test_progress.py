"""Progress is for who watches a terminal, and never in the way of the output."""

import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from geomm_plugin import progress
from geomm_plugin.cli import group

DEMO = Path(progress.__file__).parent / "demo" / "data" / "es.vec.gz"

SCRIPT = """
import sys
from geomm_plugin import progress
with progress.shown(quiet=sys.argv[1] == "quiet"):
    with progress.task("Reading [file]", total=3) as advance:
        advance(1, note="a [note]")
        print("the answer")
        advance(2)
    with progress.task("Fitting"):
        pass
"""


def run(quiet, terminal):
    """Return what goes to standard output (a pipe) and to standard error."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "TERM": "xterm",
        "COLUMNS": "120",
    }
    command = [sys.executable, "-c", SCRIPT, "quiet" if quiet else "loud"]
    if not terminal:
        done = subprocess.run(command, env=environment, capture_output=True, check=True)
        return done.stdout, done.stderr
    pty = pytest.importorskip("pty", reason="this system has no pseudo-terminals")
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, stderr=theirs, check=True
        )
        os.close(theirs)
        theirs = None
        return done.stdout, read_all(ours)
    finally:
        os.close(ours)
        if theirs is not None:
            os.close(theirs)


def read_all(descriptor):
    found = b""
    while True:
        try:
            piece = os.read(descriptor, 65536)
        except OSError:  # Linux says so when the other side is closed
            return found
        if not piece:
            return found
        found += piece


def test_a_terminal_shows_tasks_and_the_output_stays_clean():
    output, shown = run(quiet=False, terminal=True)
    assert output == b"the answer\n"
    assert b"Reading [file]" in shown and b"the answer" not in shown


@pytest.mark.parametrize("quiet, terminal", [(True, True), (False, False), (True, False)])
def test_otherwise_it_is_silent(quiet, terminal):
    assert run(quiet, terminal) == (b"the answer\n", b"")


def test_a_task_that_nobody_sees_costs_nothing(capfd):
    with progress.task("Unseen", total=2) as advance:
        advance()
        advance(1, note="done")
    assert capfd.readouterr() == ("", "")


def test_what_fails_in_a_task_comes_through():
    with pytest.raises(ZeroDivisionError), progress.task("Failing"):
        raise ZeroDivisionError


def test_going_over_items_gives_each_of_them():
    assert list(progress.over("Retrieving", "abc")) == ["a", "b", "c"]


def test_stages_are_logged_with_how_much_and_how_long(caplog):
    with caplog.at_level("INFO", "geomm_plugin"):
        with progress.task("Reading x.vec", 3000, "bytes") as advance:
            advance(1000)
            advance(2000)
        with progress.task("Fitting\x1b[2J"):
            pass
    first, second = caplog.messages
    assert re.fullmatch(r"Reading x\.vec: 3,000 bytes in \d+\.\d s", first)
    assert second.startswith(r"Fitting\x1b[2J: ")


@pytest.mark.parametrize("after", [0.0, 1000.0])
def test_without_a_terminal_lines_come_once_a_run_is_long(capsys, after):
    with progress.shown(after=after), progress.task("Fitting"):
        pass
    assert ("Fitting: " in capsys.readouterr().err) == (after == 0)
    with progress.shown(quiet=True, after=after), progress.task("Fitting"):
        pass
    with progress.task("Fitting"):
        pass
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("shortest", [0.0, 1000.0])
def test_unasked_lines_are_of_long_stages_only(capsys, shortest):
    with progress.shown(after=1e-9, shortest=shortest):
        with progress.task("Fitting"):
            pass
        progress.logger.info("Half is done.")
    shown = capsys.readouterr().err
    assert ("Fitting: " in shown) == (shortest == 0) and "Half is done." in shown


def test_verbose_shows_lines_at_once(capsys, tmp_path):
    with progress.verbose(), progress.shown(), progress.task("Fitting"):
        pass
    assert "Fitting: " in capsys.readouterr().err
    done = CliRunner().invoke(group, ["convert", str(DEMO), str(tmp_path / "x.vec"), "-v"])
    assert "Reading es.vec.gz: " in done.stderr
    assert logging.getLogger("geomm_plugin").handlers == []
