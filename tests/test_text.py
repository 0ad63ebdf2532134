"""What is not printable is shown escaped, and JSON stays the same JSON."""

import ast
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from geomm_plugin import Embeddings, write_embeddings
from geomm_plugin.cli import group
from geomm_plugin.cli.terminal import show_data
from geomm_plugin.text import JOINERS, printable, printable_json

HOSTILE = ["\x1b]0;title\x07", "\x1b[31m", "\x9b2J", "a\u202eb", "\u2066x", "\rover", "\u2028"]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_steers_a_terminal_is_escaped(text):
    assert printable(text).isprintable()
    assert printable(text) == repr(text)[1:-1]


@given(st.text(st.characters(exclude_categories=()) | st.sampled_from("\x1b\x9b\u202e\n")))
def test_only_what_is_not_printable_changes(text):
    shown = printable(text)
    assert all(c.isprintable() or c in JOINERS for c in shown)
    assert printable(shown) == shown
    assert [c for c in text if c.isprintable() or c in JOINERS] == [
        c for part in text for c in (part if printable(part) == part else "")
    ]


def test_words_of_any_language_stay_as_they_are():
    for word in ("perro", "собака", "犬", "می\u200cخواهم", "क्\u200dष", "naïve", "a\\b"):
        assert printable(word) == word


@given(st.text(st.characters(exclude_categories=()) | st.sampled_from("\x7f\x9b\u202e\n")))
def test_json_reads_back_as_the_same_value(text):
    written = printable_json(json.dumps([text], ensure_ascii=False))
    assert json.loads(written) == [text]
    assert all(c.isprintable() or c in JOINERS for c in written)


@pytest.fixture
def hostile_files(tmp_path):
    words = ["dog", "cat\x1b]0;owned\x07\x1b[31m", "mouse\u202e", "x\x9b2J", "wolf"]
    words += [f"{word}{number}" for word in words for number in range(2)]
    vectors = np.random.default_rng(0).normal(size=(15, 4))
    for language in ("en", "es"):
        write_embeddings(Embeddings(words, vectors), tmp_path / f"{language}.safetensors")
    (tmp_path / "pairs.txt").write_text("".join(f"{word}\t{word}\n" for word in words))
    return tmp_path


def run(folder, *arguments):
    files = [f"{language}={folder / language}.safetensors" for language in ("en", "es")]
    command, *rest = arguments
    arguments = [command, *files, *rest]
    return CliRunner().invoke(group, arguments, color=True)  # else click takes escapes out itself


@pytest.mark.parametrize(
    "arguments",
    [
        ("translate", "en-es", "dog", "x\x9b2J", "-k", "15"),
        ("translate", "en-es", "dog", "-k", "15", "--json"),
        ("translate", "en-es", "\x1b[31mnot there"),
        ("translate", "en-es\x1b[31m", "dog"),
        ("evaluate", "--dictionary", "en-es=missing\x1b[31m.txt"),
        ("drift", "--top", "5"),
        ("drift", "x\x9b2J", "--json"),
        ("drift", "--words", "missing\x1b[31m.txt"),
        ("induce", "--output", "in\x1b[31m/no/folder.txt", "--model", "missing\x1b[31m"),
        ("diagnose",),
        ("neighborhoods", "-k", "2"),
        ("convert", "missing\x1b[31m/x.parquet"),
    ],
)
def test_no_command_prints_what_steers_a_terminal(hostile_files, monkeypatch, arguments):
    monkeypatch.chdir(hostile_files)  # convert writes there
    result = run(hostile_files, *arguments)
    assert isinstance(result.exception, SystemExit | None), result.exception
    assert result.exit_code in (0, 1, 2)  # 1: translate knows a word not
    assert result.output
    assert all(c.isprintable() or c == "\n" for c in result.output), repr(result.output)
    if arguments[0] == "translate" and "--json" in arguments:
        (row,) = json.loads(result.output)
        assert {"mouse\u202e", "x\x9b2J"} < {answer["word"] for answer in row["translations"]}


def test_diagnose_and_warnings_are_escaped(hostile_files):
    (hostile_files / "pairs.txt").write_text("dog\tdog\n" * 3 + "\x1b[31m\tx\n", encoding="utf-8")
    result = run(hostile_files, "diagnose", "--dictionary", f"en-es={hostile_files / 'pairs.txt'}")
    assert all(c.isprintable() or c == "\n" for c in result.output), repr(result.output)


def test_data_for_programs_is_escaped_on_a_terminal_alone(capsys, monkeypatch):
    for is_terminal, shown in ((True, "x\\x9b2J\tb\n"), (False, "x\x9b2J\tb\n")):
        monkeypatch.setattr(sys.stdout, "isatty", lambda answer=is_terminal: answer)
        show_data("x\x9b2J\tb\n")
        assert capsys.readouterr().out == shown


COMMANDS = sorted((Path(__file__).parents[1] / "geomm_plugin" / "cli").glob("*.py"))


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.name)
def test_every_command_prints_through_one_door(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    doors = {"click.echo", "click.secho", "print", "sys.stdout.write", "sys.stderr.write"}
    assert not calls & doors or path.name == "terminal.py"
