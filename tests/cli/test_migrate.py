"""`geomm migrate` prints what migrate() returns, and reads ids wherever they stand."""

import json

import numpy as np
import pytest

from geomm_plugin import Embeddings, load_mapper, write_embeddings
from geomm_plugin.migration import migrate

MAPPER = "regression:regularization=1"


@pytest.fixture
def models(tmp_path, monkeypatch):
    """Write 200 rows of an old model, and 150 of them by a new one, in several formats."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    old = random.normal(size=(200, 8)).astype(np.float32)
    new = (old @ random.normal(size=(8, 6)) + random.normal(size=(200, 6))).astype(np.float32)
    ids = [str(row) for row in range(200)]
    two = {"old": Embeddings(ids, old), "new": Embeddings(ids[:150], new[:150])}
    for name, rows in two.items():
        write_embeddings(rows, f"{name}.vec")
        write_embeddings(rows, f"{name}.npy")
    return two


def test_it_prints_what_python_returns(geomm, models):
    expected = migrate(*models.values(), MAPPER, thresholds=[0.5])
    for suffix in (".vec", ".npy"):
        line = ("migrate", f"old=old{suffix}", f"new=new{suffix}", "-m", MAPPER, "--by", "id")
        done = geomm(*line, "--threshold", 0.5, "--json")
        assert json.loads(done.stdout) == expected.rows
    shown = geomm(*line, "--threshold", 0.5).stdout
    assert shown == f"{expected}\n"
    assert "Of the ten nearest that full re-embedding would find among 200 rows" in shown


def test_tables_are_read_by_their_column_of_ids(geomm, models):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    for name, rows in models.items():
        table = {"key": [int(word) for word in rows.words], "embedding": list(rows.vectors)}
        parquet.write_table(pa.table(table), f"{name}.parquet")
    line = ("migrate", "old=old.parquet", "new=new.parquet", "--mapper", MAPPER)
    done = geomm(*line, "--by", "key", "--json")
    assert json.loads(done.stdout) == migrate(*models.values(), MAPPER).rows
    assert "one column 'id'" in geomm(*line, "--by", "id", status=2).stderr
    assert "--by" in geomm(*line, status=2).stderr


def test_a_folder_is_written(geomm, models, tmp_path):
    line = ("migrate", "old=old.vec", "new=new.vec", "-m", MAPPER, "-o", "new/adapter")
    geomm(*line)
    assert sorted(np.load("new/adapter/adapter.npz").files) == [
        "W",
        "length",
        "mean_in",
        "mean_out",
    ]
    assert load_mapper("new/adapter").name == "regression"
    geomm(*line)


def test_a_folder_that_cannot_be_written_costs_no_verdict(geomm, models, tmp_path):
    line = ("migrate", "old=old.vec", "new=new.vec", "-m", MAPPER)
    (tmp_path / "adapter").mkdir()
    (tmp_path / "adapter" / "notes.txt").write_text("mine")
    done = geomm(*line, "-o", "adapter", status=2)
    assert "notes.txt" in done.stderr
    assert done.stdout == geomm(*line).stdout


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["old=old.vec"], "give two files"),
        (["old=old.vec", "new=new.vec", "more=new.vec"], "and no more"),
        (["old=old.vec", "new=old.vec"], "are the same vectors"),
        (["old=old.vec", "new=missing.vec"], "There is no file missing.vec"),
        (["old=old.vec", "new=new.vec", "--max-words", 50], "share 50 ids; a verdict needs 100"),
        (["new=new.vec", "old=old.vec"], "that of the old model first"),
        (["old=old.vec", "new=new.vec", "--threshold", 2], "--threshold"),
        (["old=old.vec", "new=new.vec", "--threshold", "nan"], "from -1 to 1; they are [nan]"),
        (["old=old.vec", "new=new.vec", "-m", "regresion"], "Did you mean 'regression'?"),
        (["old=old.vec", "new=new.vec", "-m", MAPPER, "-o", "old.vec"], "old.vec"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_in_a_sentence(geomm, models, line, message):
    assert message in geomm("migrate", *line, status=2).stderr
