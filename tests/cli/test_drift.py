"""`geomm drift` prints what drift() returns."""

import json

import pytest

from geomm_plugin import drift, read_embeddings
from geomm_plugin.demo import FOLDER

FILES = [f"es={FOLDER / 'es.vec.gz'}", f"it={FOLDER / 'it.vec.gz'}"]
MEASURED = ["--by", "distance", "--trim", 0, "--top", 2, "--neighbors", 1]


@pytest.mark.parametrize(
    ("line", "settings"),
    [
        (["--top", 3], {"top": 3}),
        (
            [*MEASURED, "--mapper", "geomm", "--set", "regularization=100"],
            {"mapper": "geomm:regularization=100", "top": 2, "by": "distance"}
            | {"neighbors": 1, "trim": 0},
        ),
    ],
)
def test_it_prints_what_python_returns(geomm, line, settings):
    two = [read_embeddings(spec[3:], max_words=3000) for spec in FILES]
    done = geomm("drift", *FILES, "--max-words", 3000, *line, "--json")
    assert json.loads(done.stdout) == drift(*two, **settings).rows


def test_several_times_and_a_null(geomm):
    three = [*FILES, f"en={FOLDER / 'en.vec.gz'}"]
    read = {spec[:2]: read_embeddings(spec[3:], max_words=3000) for spec in three}
    null = {"a": read["es"], "b": read["it"]}
    files = [f"{name}={FILES[at][3:]}" for at, name in enumerate(null)]
    line = [*three, "--null", *files, "--resamples", 2, "--top", 3, "--max-words", 3000, "--json"]
    expected = drift(read, None, null=null, resamples=2, top=3).rows
    assert {"q", "distance_low", "time_old"} < expected[0].keys()
    assert json.loads(geomm("drift", *line).stdout) == expected


def test_words_can_be_asked_about(geomm, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("largo\n\nparlamento\n", encoding="utf-8")
    lines = geomm("drift", *FILES, "cerca", "--words", words, "--markdown").stdout.splitlines()
    assert "| nearest in es | nearest in it |" in lines[0]
    assert sorted(line.split()[1] for line in lines[2:]) == ["cerca", "largo", "parlamento"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (FILES[:1], "Drift compares two files or more"),
        ([FILES[0], "word"], "Drift compares two files or more"),
        ([FILES[0], FILES[0]], "'es' is given twice"),
        ([*FILES, "qwx"], "Not among the 6000 words of es: 'qwx'"),
        ([*FILES, "--by", "size"], "--by"),
        ([*FILES, "--null", FILES[0]], "'--null' requires 2 arguments"),
        ([*FILES, "--null", FILES[0], FILES[0]], "'es' is given twice"),
        (
            [*FILES, "--null", FILES[0], f"b{FILES[0][2:]}"],
            "The corpora of the null (es, b) hardly",
        ),
        ([*FILES, "--mapper", "procustes"], "Did you mean 'procrustes'?"),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence(geomm, line, message):
    assert message in geomm("drift", *line, status=2).stderr
