"""`geomm convert`, from any format to any other."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import geomm_plugin
from geomm_plugin.cli import group
from geomm_plugin.formats import read_embeddings

DEMO = Path(geomm_plugin.__file__).parent / "demo" / "data" / "es.vec.gz"


def convert(*arguments):
    return CliRunner().invoke(group, ["convert", *map(str, arguments)])


def test_there_and_back_changes_nothing(tmp_path):
    names = ["es.safetensors", "es.vec", "es.vec.gz"]
    source = DEMO
    for name in names:
        result = convert(source, tmp_path / name)
        assert result.exit_code == 0, result.output
        assert name in result.output
        source = tmp_path / name
    first, last = read_embeddings(DEMO), read_embeddings(source)
    assert last.words == first.words
    assert np.array_equal(last.vectors.view("u4"), first.vectors.view("u4"))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)


def test_max_words_and_precision_make_it_small(tmp_path):
    options = ["--max-words", 10, "--precision", 2, "--quiet"]
    result = convert(DEMO, tmp_path / "es.vec", *options)
    assert (result.exit_code, result.output) == (0, "")
    read = read_embeddings(tmp_path / "es.vec")
    assert len(read) == 10
    expected = read_embeddings(DEMO, max_words=10).vectors
    assert 0 < np.abs(read.vectors - expected).max() <= 0.005 + 1e-6


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["missing.vec", "x.vec"], "There is no file missing.vec"),
        ([DEMO, "x.unknown"], "No format known here writes files that end in .unknown"),
        ([DEMO, "x.safetensors", "--precision", "5"], "A precision is for text"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = convert(*arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
    assert not list(tmp_path.iterdir())


def test_nothing_is_written_over_what_is_no_embedding_file_or_is_the_input(tmp_path):
    notes, vectors = tmp_path / "notes", tmp_path / "es.vec"
    notes.write_text("notes\n")
    convert(DEMO, vectors, "--max-words", 20)
    refused = convert(vectors, notes)
    assert refused.exit_code == 2 and "No format known here writes" in refused.output
    assert notes.read_text() == "notes\n"
    refused = convert(vectors, tmp_path / "." / "es.vec", "--max-words", 5)
    assert refused.exit_code == 2 and "would replace an input" in refused.output
    assert len(read_embeddings(vectors)) == 20


@pytest.mark.parametrize("name", ["es.vec", "es.vec.gz", "es.npy", "es.safetensors"])
def test_two_jobs_write_the_same_bytes(tmp_path, name):
    convert(DEMO, tmp_path / "plain.vec")
    for source in (DEMO, tmp_path / "plain.vec"):
        for jobs in (1, 2):
            result = convert(source, tmp_path / str(jobs) / name, "--jobs", jobs)
            assert result.exit_code == 0, result.output
        one, two = (
            {path.name: path.read_bytes() for path in (tmp_path / str(jobs)).iterdir()}
            for jobs in (1, 2)
        )
        assert one == two and name in one
