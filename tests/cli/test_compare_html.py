"""`geomm compare --html`: the page beside the table, and how to make it again."""

import html
import json
import os
import re
import shlex
import threading
from pathlib import Path

import pytest

from geomm_plugin.testing import make_toy


@pytest.fixture
def compared(geomm, write_toy, tmp_path, monkeypatch):
    """A comparison as a command line, with paths that have a blank."""
    (tmp_path / "with a blank").mkdir()
    files = write_toy(make_toy(words=40, pairs=40, dimension=6, noise=0.3))
    lines = Path("en-es.txt").read_text("utf-8").splitlines(keepends=True)
    Path("with a blank", "train.txt").write_text("".join(lines[:25]), "utf-8")
    Path("with a blank", "test.txt").write_text("".join(lines[25:]), "utf-8")
    given = ["-d", "en-es=with a blank/train.txt", "-t", "en-es=with a blank/test.txt"]
    return ["compare", *files[:2], *given, "-m", "procrustes", "-m", "regression:regularization=1"]


def rows_of(done, *others):
    """Return the rows that were printed, but for what each run measures anew."""
    left_out = {"fit_seconds", "peak_memory_mb", *others}
    rows = json.loads(done.stdout)
    return [{name: row[name] for name in row if name not in left_out} for row in rows]


def test_the_page_changes_nothing_and_its_command_makes_the_same_comparison(geomm, compared):
    page = Path("new", "report.html")
    first = rows_of(geomm(*compared, "--json", "--html", page))
    assert first == rows_of(geomm(*compared, "--json"))
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    (command,) = re.findall(r"<pre[^>]*><code>(.*?)</code>", text)
    program, *again = shlex.split(html.unescape(command))
    assert program == "geomm" and rows_of(geomm(*again)) == first


def test_a_page_that_cannot_be_written_is_told_before_the_work(geomm, compared):
    Path("file").write_text("")
    done = geomm(*compared, "--html", "file/report.html", status=2)
    assert "Cannot" in done.stderr and not done.stdout


def test_dictionaries_from_pipes_are_read_once(geomm, compared):
    """`--dictionary en-es=<(head -500 pairs.txt)` was read again for the page, after all fits."""
    piped = list(compared)
    for number, argument in enumerate(compared):
        name, _, path = argument.partition("=")
        if path.endswith(".txt"):
            os.mkfifo(f"pipe{number}")
            content = Path(path).read_bytes()
            write = Path(f"pipe{number}").write_bytes
            threading.Thread(target=write, args=(content,), daemon=True).start()
            piped[number] = f"{name}=pipe{number}"
    rows = json.loads((done := geomm(*piped, "--json", "--html", "report.html")).stdout)
    assert rows_of(done, "files") == rows_of(geomm(*compared, "--json"), "files")
    assert [row["files"]["test en-es"] for row in rows] == [None] * len(rows)
    assert Path("report.html").read_text(encoding="utf-8").count("a pipe") == 2
