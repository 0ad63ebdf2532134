"""`--json` of commands that write files: one object, and nothing else on standard output."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from geomm_plugin import read_dictionary, read_embeddings, write_embeddings
from geomm_plugin.cli import group
from geomm_plugin.testing import make_toy


@pytest.fixture
def toy(tmp_path, monkeypatch):
    toy = make_toy(("en", "es"), words=60, pairs=40)
    monkeypatch.chdir(tmp_path)
    for language, embeddings in toy.embeddings.items():
        write_embeddings(embeddings, f"{language}.vec")
    lines = "".join(f"{one} {other}\n" for one, other in toy.dictionaries["en", "es"])
    Path("en-es.txt").write_text(lines, encoding="utf-8")
    return toy


def geomm(*arguments):
    done = CliRunner().invoke(group, [*arguments, "--json"])
    assert done.exit_code == 0, (done.output, done.exception)
    return json.loads(done.stdout)


def test_align(toy):
    line = ["align", "en=en.vec", "es=es.vec", "-d", "en-es=en-es.txt", "-m", "procrustes"]
    written = geomm(*line, "-o", "out")
    for row in written["files"]:
        aligned = read_embeddings(row["path"])
        assert (len(aligned), aligned.dimension) == (row["words"], row["dimension"])
    assert [row["language"] for row in written["files"]] == ["en", "es"]
    assert {row["state"] for row in written["files"]} == {"written"}
    assert Path(written["mapper"]["path"], "mapper.json").is_file()
    assert written["mapper"]["name"] == "procrustes"
    assert written["report"]["pairs"]["en-es"]["used"] == 40
    kept = geomm(*line, "-o", "out", "--resume")
    assert {row["state"] for row in [*kept["files"], kept["mapper"]]} == {"kept"}


def test_convert(toy):
    row = geomm("convert", "en.vec", "en.safetensors", "--max-words", "7")
    dimension = toy.embeddings["en"].dimension
    assert row == {
        "path": "en.safetensors", "format": "safetensors", "words": 7, "dimension": dimension,
    }  # fmt: skip


def test_induce(toy):
    row = geomm("induce", "en=en.vec", "es=es.vec", "-d", "en-es=en-es.txt", "-o", "new.tsv")
    assert row["pairs"] == len(read_dictionary("new.tsv")) <= row["mutual"]
    assert (row["path"], row["pair"]) == ("new.tsv", "en-es")
