import json

import pytest
from click.testing import CliRunner

from geomm_plugin import drift, read_embeddings
from geomm_plugin.cli import group
from geomm_plugin.demo import FOLDER

FILES = [f"es={FOLDER / 'es.vec.gz'}", f"it={FOLDER / 'it.vec.gz'}"]


def run(*arguments):
    return CliRunner().invoke(group, ["drift", *map(str, arguments)])


@pytest.fixture(scope="module")
def two():
    return [read_embeddings(FOLDER / f"{name}.vec.gz", max_words=3000) for name in ("es", "it")]


def test_it_prints_what_python_returns(two):
    done = run(*FILES, "--max-words", 3000, "--top", 3, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.output) == drift(*two, top=3).rows


def test_options_are_handed_on(two):
    measured = ["--by", "distance", "--trim", 0, "--top", 2, "--neighbors", 1]
    mapper = ["--mapper", "geomm", "--set", "regularization=100"]
    done = run(*FILES, "--max-words", 3000, *measured, *mapper, "--json")
    assert done.exit_code == 0, done.output
    expected = drift(*two, "geomm:regularization=100", top=2, by="distance", neighbors=1, trim=0)
    assert json.loads(done.output) == expected.rows


def test_words_can_be_asked_about(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("largo\n\nparlamento\n", encoding="utf-8")
    done = run(*FILES, "cerca", "--words", words, "--markdown")
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert "| nearest in es | nearest in it |" in lines[0]
    assert sorted(line.split()[1] for line in lines[2:]) == ["cerca", "largo", "parlamento"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (FILES[:1], "Drift compares two files"),
        ([FILES[0], "word"], "Drift compares two files"),
        ([FILES[0], FILES[0]], "'es' is given twice"),
        ([*FILES, "qwx"], "Not among the 6000 words of es: 'qwx'"),
        ([*FILES, "--by", "size"], "--by"),
        ([*FILES, "--mapper", "procustes"], "Did you mean 'procrustes'?"),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence(arguments, message):
    done = run(*arguments)
    assert done.exit_code == 2
    assert message in done.output
