"""`geomm compare --html`: the page beside the table, and how to make it again."""

import html
import json
import os
import re
import shlex
import threading
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from geomm_plugin import Embeddings, write_embeddings
from geomm_plugin.cli import group


@pytest.fixture
def arguments(tmp_path):
    random = np.random.default_rng(0)
    vectors = random.normal(size=(40, 6)).astype(np.float32)
    noise = random.normal(scale=0.3, size=vectors.shape).astype(np.float32)
    folder = tmp_path / "with a space"
    for language, values in (("en", vectors), ("es", vectors + noise)):
        words = [f"{language}{n}" for n in range(40)]
        write_embeddings(Embeddings(words, values), folder / f"{language}.vec")
    lines = [f"en{n}\tes{n}\n" for n in range(40)]
    (folder / "train.txt").write_text("".join(lines[:25]), encoding="utf-8")
    (folder / "test.txt").write_text("".join(lines[25:]), encoding="utf-8")
    return [
        "compare",
        *(f"{language}={folder / language}.vec" for language in ("en", "es")),
        *(
            "--dictionary",
            f"en-es={folder / 'train.txt'}",
            "--test",
            f"en-es={folder / 'test.txt'}",
        ),
        *("--mapper", "procrustes", "--mapper", "regression:regularization=1"),
    ]


def run(*arguments):
    done = CliRunner().invoke(group, list(arguments), prog_name="geomm")
    assert done.exit_code == 0, done.output
    return done.stdout


def without(rows, *names):
    return [{name: value for name, value in row.items() if name not in names} for row in rows]


def without_times(rows):
    return without(rows, "fit_seconds", "peak_memory_mb")


def test_the_page_does_not_change_what_is_printed(arguments, tmp_path):
    page = tmp_path / "new" / "report.html"
    with_page = json.loads(run(*arguments, "--json", "--html", str(page)))
    assert without_times(with_page) == without_times(json.loads(run(*arguments, "--json")))
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_command_in_the_page_makes_the_same_comparison(arguments, tmp_path):
    page = tmp_path / "report.html"
    first = json.loads(run(*arguments, "--json", "--html", str(page)))
    (command,) = re.findall(r"<pre[^>]*><code>(.*?)</code>", page.read_text(encoding="utf-8"))
    program, *again = shlex.split(html.unescape(command))
    assert program == "geomm"
    assert without_times(json.loads(run(*again))) == without_times(first)


def test_a_page_that_cannot_be_written_is_told_before_the_work(arguments, tmp_path):
    (tmp_path / "file").write_text("")
    page = tmp_path / "file" / "report.html"
    done = CliRunner().invoke(group, [*arguments, "--html", str(page)])
    assert done.exit_code == 2 and "Cannot" in done.output and "0." not in done.output


def test_dictionaries_from_pipes_are_read_once(arguments, tmp_path):
    """`--dictionary en-es=<(head -500 pairs.txt)` was read again for the page, after all fits."""
    piped, writers = [], []
    for argument in arguments:
        name, _, path = argument.partition("=")
        if path.endswith(".txt"):
            pipe = tmp_path / f"pipe{len(writers)}"
            os.mkfifo(pipe)
            content = Path(path).read_bytes()
            writers.append(threading.Thread(target=pipe.write_bytes, args=(content,), daemon=True))
            argument = f"{name}={pipe}"
        piped.append(argument)
    for writer in writers:
        writer.start()
    page = tmp_path / "report.html"
    rows = json.loads(run(*piped, "--json", "--html", str(page)))
    plain = without_times(json.loads(run(*arguments, "--json")))
    assert without(without_times(rows), "files") == without(plain, "files")
    assert [row["files"]["test en-es"] for row in rows] == [None] * len(rows)
    assert page.read_text(encoding="utf-8").count("a pipe") == 2
