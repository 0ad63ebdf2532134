"""The benchmarks still run: each job at a size where it takes no time, and the report of them."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from geomm_plugin import Embeddings, write_embeddings
from geomm_plugin.cli import group
from geomm_plugin.demo import FOLDER as FOLDER_OF_DEMO
from geomm_plugin.demo import load_demo

FOLDER = Path(__file__).parent.parent / "benchmarks"
NEEDS = {"gensim": "gensim", "faiss": "faiss"}


@pytest.fixture(scope="module")
def modules():
    sys.path.insert(0, str(FOLDER))
    try:
        yield {name: importlib.import_module(name) for name in ("jobs", "report", "run")}
    finally:
        sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def results(modules, tmp_path_factory):
    """Run each job once; the ones that start a process of their own are only made."""
    jobs, found = modules["jobs"], []
    folder = tmp_path_factory.mktemp("benchmark")
    at = jobs.Setting(folder, words=200, dimension=8)
    at.output("").parent.mkdir()
    for job, contenders in modules["run"].JOBS.items():
        for who in contenders:
            if who in NEEDS and importlib.util.find_spec(NEEDS[who]) is None:
                continue
            work = getattr(jobs, f"{job}_{who}")(at)
            costs = {"cpu": 1.0, "wall": 1.0, "peak": 1.0}
            if (job, who) != ("align", "ours"):
                costs = jobs.measure(work)
            found.append(modules["report"].Result(job, who, 200, 8, **costs))
    return found


def test_every_job_costs_something(results):
    assert all(result.wall > 0 and result.peak > 0 for result in results)
    assert {result.who for result in results} >= {"ours", "numpy", "pymanopt"}


def test_the_jobs_do_the_same_work(modules, tmp_path):
    jobs = modules["jobs"]
    at = jobs.Setting(tmp_path, words=300, dimension=20)
    ours, numpys = (getattr(jobs, f"csls_{who}")(at)() for who in ("ours", "numpy"))
    assert (ours.indices == numpys).mean() > 0.999
    read, loop = (getattr(jobs, f"read_{who}")(at)() for who in ("ours", "numpy"))
    assert [word for word, _ in loop] == read.words
    assert all((vector == row).all() for (_, vector), row in zip(loop, read.vectors, strict=True))


def test_the_tables_show_each_job(modules, results):
    text = "\n".join(modules["report"].tables(results, 200, 8))
    for job, title in modules["report"].TITLES.items():
        assert job in modules["run"].JOBS
        assert f"| {title} |" in text
    with_others = [result for result in results if result.who != "ours"]
    assert text.count(" | gensim | ") + text.count(" | numpy | ") >= len(with_others) / 2


def test_moved_words_are_counted(modules, tmp_path, monkeypatch):
    write_embeddings(load_demo().embeddings["en"].head(600), tmp_path / "en.vec")
    drift = importlib.import_module("drift")
    monkeypatch.setattr(drift, "RESAMPLES", 3)
    ran = CliRunner().invoke(
        drift.main,
        ["--vectors", str(tmp_path / "en.vec"), "--seeds", "2"],
    )
    assert "2 runs, 600 words, 40.0 of them moved" in ran.output, ran.output
    assert "hold the distance after a fit on all words" in ran.output


def test_the_loads_are_commands_that_work(modules, tmp_path, monkeypatch):
    load = importlib.import_module("load")
    sizes = {"DIMENSION": 8, "MANY": load.MANY[:3], "MANY_WORDS": 200, "LONG": 400, "SHORT": 200}
    for name, value in (sizes | {"ROWS_WORDS": 200}).items():
        monkeypatch.setattr(load, name, value)
    for command, millions in (load.many(tmp_path), load.long(tmp_path), load.rows(tmp_path, 2)):
        ran = CliRunner().invoke(group, command)
        assert ran.exit_code == 0, ran.output
        assert millions > 0
    measured = [row for row in json.loads(ran.stdout) if row["pair"] != "average"]
    assert len(measured) == 2 * 4  # four rows a mapper


def test_each_mapper_is_measured_beside_a_process_that_only_reads(modules):
    every = importlib.import_module("every_mapper")
    nothing, fitted = (every.fit(name, (), ()) for name in (None, "procrustes"))
    assert fitted[0] > nothing[0] and fitted[1] > 0


def test_nulls_keep_what_can_be_kept_and_hold_no_translations(modules):
    bench = importlib.import_module("no_dictionary")
    random = np.random.default_rng(0)
    real = Embeddings([f"w{i}" for i in range(4000)], random.normal(size=(4000, 3)) * [1, 2, 3] + 5)
    noise = bench.null(real, "gaussian", random)
    assert np.cov(noise.vectors.T) == pytest.approx(np.cov(real.vectors.T), abs=0.6)
    assert noise.vectors.mean(axis=0) == pytest.approx(real.vectors.mean(axis=0), abs=0.2)
    shuffled = bench.null(real, "shuffled", random)
    assert np.array_equal(np.sort(shuffled.vectors, axis=0), np.sort(real.vectors, axis=0))
    assert not np.array_equal(shuffled.vectors, real.vectors)
    some = bench.dropped(real, 0.5, random)
    assert 1800 < len(some) < 2200
    assert all(np.array_equal(some[word], real[word]) for word in some.words[:20])


def test_a_fit_without_a_dictionary_is_a_row(modules, tmp_path):
    bench = importlib.import_module("no_dictionary")
    values = ("procrustes_semi:seeds=identical", "embedded data", "en-es", "itself", 0.0, 1000, 0)
    row = bench.measure(dict(zip(bench.KEY, values, strict=True)), (), ())
    assert row["csls"] > 0.5 and 0 <= row["recover"] <= 1 and row["cpu"] > 0
    table = bench.summary([row, row | {"seed": 1, "csls": row["csls"] + 0.02}])
    assert f"{row['csls'] + 0.01:.3f} ± 0.010" in table and "first 1000" in table


def test_learnt_weights_of_another_dictionary_are_a_row(modules):
    bench, demo = importlib.import_module("reranking"), load_demo()
    files = {name: str(FOLDER_OF_DEMO / f"{name}.vec.gz") for name in ("en", "es")}
    train, test = (list(pairs["en", "es"]) for pairs in (demo.train, demo.test))
    asked = {word for word, _ in test}
    other = [pair for pair in train[300:] if pair[0] not in asked][:200]
    row = bench.measure(files, "procrustes", train[:300], other, test, [0.9])
    assert row["csls"][1] <= row["csls"][0] <= row["csls"][2] and row["pairs"] == 300
    assert 0 < row["at 0.9"]["found"] <= row["at 0.9"]["test words"] and row["learn"] > 0
