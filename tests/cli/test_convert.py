"""`geomm convert`, from any format to any other."""

import json
from pathlib import Path

import numpy as np
import pytest

from geomm_plugin.demo import FOLDER
from geomm_plugin.formats import read_embeddings

DEMO = FOLDER / "es.vec.gz"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_and_back_changes_nothing(geomm, folder):
    names = ["es.safetensors", "es.vec", "es.vec.gz"]
    for source, name in zip([DEMO, *names], names, strict=False):
        assert name in geomm("convert", source, name).output
    first, last = read_embeddings(DEMO), read_embeddings(name)
    assert last.words == first.words
    assert np.array_equal(last.vectors.view("u4"), first.vectors.view("u4"))
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)


def test_max_words_and_precision_make_it_small(geomm):
    line = ["convert", DEMO, "es.vec", "--max-words", 10, "--precision", 2]
    assert geomm(*line, "--quiet").output == ""
    row = {"path": "es.vec", "format": "vec", "words": 10, "dimension": 100}
    assert json.loads(geomm(*line, "--json").stdout) == row
    read = read_embeddings("es.vec")
    assert len(read) == 10
    expected = read_embeddings(DEMO, max_words=10).vectors
    assert 0 < np.abs(read.vectors - expected).max() <= 0.005 + 1e-6


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["missing.vec", "x.vec"], "There is no file missing.vec"),
        ([DEMO, "x.unknown"], "No format known here writes files that end in .unknown"),
        ([DEMO, "x.safetensors", "--precision", "5"], "A precision is for text"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(geomm, folder, line, message):
    assert message in geomm("convert", *line, status=2).output
    assert not list(folder.iterdir())


def test_nothing_is_written_over_what_is_no_embedding_file_or_is_the_input(geomm):
    Path("notes").write_text("notes\n")
    geomm("convert", DEMO, "es.vec", "--max-words", 20)
    for name, message in (("notes", "No format known here"), ("./es.vec", "would replace an inp")):
        assert message in geomm("convert", "es.vec", name, "--max-words", 5, status=2).stderr
    assert Path("notes").read_text() == "notes\n" and len(read_embeddings("es.vec")) == 20


@pytest.mark.parametrize("name", ["es.vec", "es.vec.gz", "es.npy", "es.safetensors"])
def test_two_jobs_write_the_same_bytes(geomm, folder, name):
    for jobs in (1, 2):
        geomm("convert", DEMO, folder / str(jobs) / name, "--jobs", jobs)
    one, two = (
        {path.name: path.read_bytes() for path in (folder / str(jobs)).iterdir()} for jobs in (1, 2)
    )
    assert one == two and name in one
