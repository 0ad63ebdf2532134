"""`geomm translate`: words from everywhere, and words that have no vector."""

import json

import pytest

from geomm_plugin import SharedSpace
from geomm_plugin.testing import make_toy


@pytest.fixture
def files(write_toy):
    toy = make_toy(words=50, pairs=20)
    return SharedSpace(toy.embeddings), ["translate", *write_toy(toy)[:2], "en-es", "-k", "2"]


def test_words_come_from_the_line_a_file_and_a_pipe(geomm, files, tmp_path):
    space, line = files
    words = list(space["en"].words[:4])
    typed = geomm(*line, *words, "--json").stdout
    listed = "\n".join(["", *words, ""])
    path = tmp_path / "words.txt"
    path.write_text(f"\ufeff{listed}".replace("\n", "\r\n"), encoding="utf-8")
    assert geomm(*line, "--words", path, "--json").stdout == typed
    assert geomm(*line, "--json", input=listed).stdout == typed
    assert geomm(*line, words[0], "--words", "-", "--json", input=words[1]).stdout == (
        geomm(*line, *words[:2], "--json").stdout
    )
    expected = [
        [{"word": word, "score": score} for word, score in answers]
        for answers in space.translate(words, "en", "es", k=2)
    ]
    rows = json.loads(typed)
    assert [row["translations"] for row in rows] == expected
    assert all(row["known"] for row in rows)


def test_an_unknown_word_is_a_row_and_the_others_are_answered(geomm, files):
    space, line = files
    first, second = space["en"].words[:2]
    alone = geomm(*line, first, second)
    mixed = geomm(*line, first, "xyzzy", second, first, status=1)
    lines = mixed.stdout.splitlines()
    assert [" ".join(each.split()) for each in (lines[0], lines[2])] == [
        " ".join(each.split()) for each in alone.stdout.splitlines()
    ]
    assert lines[0] == lines[3]
    assert "unknown" in lines[1]
    assert "1 of 4 words are not among the 50 words of en" in mixed.stderr
    rows = json.loads(geomm(*line, "xyzzy", first, "--json", status=1).stdout)
    assert [row["known"] for row in rows] == [False, True]
    assert rows[0]["translations"] == []


def test_no_words_at_all_and_a_file_that_is_not_there(geomm, files, tmp_path):
    _, line = files
    assert "Give files, a pair" in geomm(*line, status=2).stderr
    assert "Cannot read the words" in geomm(*line, "--words", tmp_path / "no", status=2).stderr
