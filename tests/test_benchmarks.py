"""The benchmarks still run: each job at a size where it takes no time, and the report of them."""

import importlib
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from geomm_plugin.cli import group

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
