import csv
import faulthandler
import io
import json
import os
import signal
import sys
import tracemalloc
from dataclasses import dataclass
from typing import ClassVar

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info

from geomm_plugin import (
    CSLS,
    Cosine,
    Embeddings,
    LinearMapper,
    compare,
    evaluate,
    get_mapper,
)
from geomm_plugin.errors import LanguagesError, ParameterError, UnknownNameError
from geomm_plugin.evaluation.mapper_choice import label_mappers
from geomm_plugin.evaluation.runs import measure
from geomm_plugin.testing import make_toy


@dataclass(kw_only=True, eq=False, repr=False)
class Broken(LinearMapper):
    """Fails."""

    name: ClassVar[str] = "broken"
    reason: ClassVar[str] = "no such luck"

    def learn(self, vectors, pairs, report):
        raise RuntimeError(self.reason)


@dataclass(kw_only=True, eq=False, repr=False)
class Leaving(LinearMapper):
    """Ends its process, or means to."""

    name: ClassVar[str] = "leaving"
    way: str = "exit"

    def learn(self, vectors, pairs, report):
        if self.way == "exit":
            sys.exit(3)
        if self.way == "interrupt":
            raise KeyboardInterrupt
        if self.way == "fault":
            faulthandler.disable()  # pytest's: it would write pages
            os.kill(os.getpid(), signal.SIGSEGV)
        os._exit(3)


@dataclass(kw_only=True, eq=False, repr=False)
class Collapsed(LinearMapper):
    """Maps all words to one line."""

    name: ClassVar[str] = "collapsed"

    def learn(self, vectors, pairs, report):
        return {language: np.zeros((view.shape[1], 2)) for language, view in vectors.items()}


@dataclass(kw_only=True, eq=False, repr=False)
class Spy(LinearMapper):
    """Tells where it runs and what it is given."""

    name: ClassVar[str] = "spy"
    seed: int = 0

    def learn(self, vectors, pairs, report):
        report.extras["process"] = os.getpid()
        report.extras["mapped"] = not any(view.raw.flags.writeable for view in vectors.values())
        report.extras["threads"] = [info["num_threads"] for info in threadpool_info()]
        return {language: np.eye(view.shape[1]) for language, view in vectors.items()}


@pytest.fixture
def data():
    """Three languages that are noisy rotations of one cloud."""
    toy = make_toy(("en", "es", "it"), words=300, dimension=10, pairs=200, noise=0.5)
    test = {("en", to): [(f"en{i}", f"{to}{i}") for i in range(200, 300)] for to in ("es", "it")}
    return toy.embeddings, toy.dictionaries, test


def test_rows_are_what_evaluate_says(data):
    embeddings, train, test = data
    found = compare(["procrustes", "unconstrained"], *data, retrievals=["csls", Cosine()])
    assert len(found.rows) == 2 * (2 * 2 + 2), "each pair and retrieval, and the averages"
    for row in found.rows:
        space = get_mapper(row["mapper"]).fit(embeddings, train).map(embeddings)
        alone = [
            evaluate(space, *pair, dictionary, row["retrieval"]).row()
            for pair, dictionary in test.items()
            if row["pair"] in ("-".join(pair), "average")
        ]
        for name in ("p@1", "p@5", "p@10", "mrr", "coverage"):
            assert row[name] == pytest.approx(np.mean([one[name] for one in alone]))
        assert row["n_words"] == sum(one["n_words"] for one in alone)
        assert row["p@1_low"] < row["p@1"] < row["p@1_high"]
        assert row["fit_seconds"] > 0 and row["peak_memory_mb"] > 0


def test_a_failing_mapper_is_a_row_with_its_reason(data):
    found = compare([Broken(), "procrustes", Collapsed()], *data)
    rows = {row["mapper"]: row for row in found.rows}
    assert rows["broken"]["error"] == "RuntimeError: no such luck"
    assert rows["broken"]["p@1"] is None
    assert rows["procrustes"]["error"] is None and rows["procrustes"]["p@1"] > 0.2
    assert rows["collapsed"]["p@1"] == 0, "ties are errors"
    assert "no such luck" in found.to_markdown() and "no such luck" in str(found)
    assert json.loads(found.to_json()) == found.rows


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_mapper_that_exits_is_a_row_with_its_reason(data, jobs):
    found = compare([Leaving(), "procrustes"], *data, jobs=jobs)
    rows = {row["mapper"]: row for row in found.rows}
    assert rows["leaving"]["error"] == "SystemExit: 3"
    assert rows["procrustes"]["p@1"] > 0.2
    with pytest.raises(KeyboardInterrupt):
        compare([Leaving(way="interrupt"), "procrustes"], *data, jobs=jobs)


@pytest.mark.parametrize(
    ("jobs", "way", "end"), [(1, "death", "EXIT(3)"), (2, "death", "EXIT(3)"), (1, "fault", "SIG")]
)
def test_a_process_that_ends_takes_no_other_mapper_down(data, jobs, way, end):
    mappers = ["procrustes", Leaving(way=way), "unconstrained", Broken()]
    seen = []
    found = compare(mappers, *data, jobs=jobs, on_run=lambda run: seen.append(run.label))
    assert sorted(seen) == sorted(run.label for run in found.runs)
    reasons = {run.label: run.error for run in found.runs}
    assert list(reasons) == ["procrustes", f"leaving(way='{way}')", "unconstrained", "broken"]
    assert reasons[f"leaving(way='{way}')"].startswith(f"its process ended ({end}")
    assert reasons["broken"] == "RuntimeError: no such luck"
    alone = compare(["procrustes", "unconstrained"], *data)
    for label in ("procrustes", "unconstrained"):
        scores = [row["p@1"] for row in found.rows if row["mapper"] == label]
        assert scores == [row["p@1"] for row in alone.rows if row["mapper"] == label]


@pytest.mark.parametrize("backend", ["ours", "threading", "multiprocessing"])
def test_two_jobs_of_any_backend_find_what_one_finds(data, backend):
    mappers = ["procrustes", "unconstrained", Broken()]
    here = compare(mappers, *data, jobs=1)
    if backend == "ours":
        there = compare(mappers, *data, jobs=2)
    else:
        with joblib.parallel_config(backend, n_jobs=2):
            there = compare(mappers, *data)
    for row in (*here.rows, *there.rows):
        del row["fit_seconds"], row["peak_memory_mb"]
    assert there.rows == here.rows


def test_every_pair_alone(data):
    embeddings, train, test = data
    alone = compare(["procrustes", "geomm"], *data, each_pair=True)
    assert "Every pair of languages was fitted alone." in str(alone)
    assert {row["each_pair"] for row in alone.rows} == {True}
    for pair in test:
        two = {language: embeddings[language] for language in pair}
        one = compare(["procrustes", "geomm"], two, {pair: train[pair]}, {pair: test[pair]})
        same = [row for row in alone.rows if row["pair"] == "-".join(pair)]
        assert [row["mapper"] for row in same] == [row["mapper"] for row in one.rows]
        for name in ("p@1", "p@1_low"):
            assert [row[name] for row in same] == [row[name] for row in one.rows]
    assert {row["pair"] for row in alone.rows} == {"en-es", "en-it", "average"}
    both = test | {pair[::-1]: [(b, a) for a, b in pairs] for pair, pairs in test.items()}
    assert compare("procrustes", embeddings, train, both, each_pair=True).runs[0].error is None


def test_unrelated_pairs_in_one_call(data):
    embeddings, train, test = data
    four = embeddings | {"ru": embeddings["en"], "fr": embeddings["it"]}
    pairs = {("en", "es"): train["en", "es"], ("ru", "fr"): train["en", "it"]}
    tests = {("en", "es"): test["en", "es"], ("ru", "fr"): test["en", "it"]}
    alone = compare("procrustes", four, pairs, tests, each_pair=True)
    both = compare("procrustes", embeddings, train, test, each_pair=True)
    assert [row["p@1"] for row in alone.rows] == [row["p@1"] for row in both.rows]
    assert compare("procrustes", four, pairs, tests).runs[0].error is not None


def test_rows_tell_where_they_come_from(data):
    found = compare(["geomm", "procrustes"], *data, seed=4)
    for row in found.rows:
        assert row["seed"] == 4 and row["each_pair"] is False and row["files"] == {}
        assert row["versions"]["numpy"] == np.__version__
    assert found.rows[0]["parameters"]["regularization"] == "auto"
    assert set(found.rows[0]["regularization"]) == {"es-en", "it-en"}
    assert found.rows[-1]["regularization"] == {}
    assert json.loads(found.to_json()) == found.rows


def test_latex_is_a_table_with_the_best_in_bold(data):
    found = compare(
        ["procrustes", "unconstrained", Broken(), Leaving(way="exit_")],
        *data,
        retrievals=["csls", "cosine"],
    )
    latex = found.to_latex().splitlines()
    assert latex[:2] == [r"\begin{tabular}{llrrr}", r"\toprule"]
    assert latex[2] == r"mapper & retrieval & en-es & en-it & average \\"
    body = latex[latex.index(r"\midrule") + 1 : latex.index(r"\bottomrule")]
    assert len(body) == 8, "a row for each mapper and retrieval"
    for row in (row for row in found.rows if row["error"] is None):
        start = f"{row['mapper']} & {row['retrieval']}"
        (line,) = (line for line in body if line.startswith(start))
        assert f"{100 * row['p@1']:.1f}" in line
    assert len({line.count("&") for line in body}) == 1
    assert all(line.endswith(r" \\") for line in body)
    assert sum(r"\textbf{" in line for line in body) >= 3
    assert sum(r"\underline{" in line for line in body) >= 1
    assert r"exit\_" in "".join(body) and "_" not in "".join(body).replace(r"\_", "")
    assert latex[-1].startswith("% All 3 languages were fitted together")


def test_a_table_for_notebooks_and_for_pandas(data):
    pandas = pytest.importorskip("pandas")
    found = compare(["procrustes", Broken()], *data)
    frame = found.to_dataframe()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["p@1"].tolist()[:3] == [row["p@1"] for row in found.rows[:3]]
    page = found._repr_html_()
    assert page.count("<tr>") == 1 + len(found.rows) and "<b>" in page
    assert "no such luck" in page


def test_all_failing_is_a_table_too(data):
    found = compare([Broken()], *data, retrievals=["csls", "cosine"], metrics=["p@5"])
    whole = compare(["procrustes"], *data, retrievals=["csls", "cosine"], metrics=["p@5"])
    assert {row["error"] for row in found.rows} == {"RuntimeError: no such luck"}
    for row, other in zip(found.rows, whole.rows, strict=True):
        assert list(row) == list(other)
        assert (row["pair"], row["retrieval"]) == (other["pair"], other["retrieval"])
    assert "no such luck" in str(found)


def test_one_of_a_kind_needs_no_list(data):
    one = compare("procrustes", *data, retrievals="cosine", metrics="p@5")
    listed = compare([get_mapper("procrustes")], *data, retrievals=[Cosine()], metrics=["p@5"])
    assert [row["p@5"] for row in one.rows] == [row["p@5"] for row in listed.rows]
    assert list(one.rows[0]) == list(listed.rows[0])
    assert list(label_mappers(get_mapper("procrustes"))) == ["procrustes"]
    twice = compare("procrustes", *data, retrievals=["cosine", Cosine()])
    assert len(twice.rows) == len(one.rows), "a retrieval given twice counts once"


def test_fewer_metrics_and_always_p_at_1(data):
    found = compare(["procrustes"], *data, metrics=["p@5"])
    everything = compare(["procrustes"], *data)
    for row, other in zip(found.rows, everything.rows, strict=True):
        assert "mrr" not in row and row["p@1"] == other["p@1"] and row["p@5"] == other["p@5"]
    with pytest.raises(UnknownNameError, match="p@2"):
        compare(["procrustes"], *data, metrics=["p@2"])


def test_words_are_kept_for_reports(data):
    found = compare(["procrustes"], *data, answers=3)
    for evaluation in found.runs[0].evaluations:
        assert [result.rank for result in evaluation.words] == evaluation.ranks.tolist()
        assert all(len(result.answers) == 3 for result in evaluation.words)


def test_processes_share_vectors_and_do_not_fight_for_cores():
    generator = np.random.default_rng(1)
    embeddings = {
        language: Embeddings([f"{language}{i}" for i in range(5000)], generator.random((5000, 60)))
        for language in ("en", "es")
    }
    pairs = {("en", "es"): [(f"en{i}", f"es{i}") for i in range(50)]}
    spies = [Spy(seed=1), Spy(seed=2)]
    found = compare(spies, embeddings, pairs, pairs, retrievals=["cosine"], jobs=2)
    for run in found.runs:
        assert run.report.extras["process"] != os.getpid()
        assert run.report.extras["mapped"], "vectors are mapped into memory from a file"
        assert all(count <= max(1, os.cpu_count() // 2) for count in run.report.extras["threads"])


def test_several_settings_of_a_mapper_are_told_apart(data):
    geomm = [get_mapper("geomm", regularization=value) for value in (1.0, 100.0)]
    assert list(label_mappers(["geomm", *geomm])) == [
        "geomm",
        "geomm(regularization=1)",
        "geomm(regularization=100)",
    ]
    with pytest.raises(ParameterError, match="given twice"):
        label_mappers(["geomm", "geomm"])
    compare(geomm, *data)
    assert not hasattr(geomm[0], "matrices_"), "mappers given are left as they are"


def test_a_star_is_explained_where_there_is_one(data):
    bad = compare(["procrustes", "rotation_only"], *data)
    assert any("*" in line for line in str(bad).splitlines()[1:-1])
    note = "* the difference from procrustes is beyond chance: p < 0.05"
    assert str(bad).splitlines()[-1].startswith(note)
    latex = bad.to_latex().splitlines()
    assert any("$^{*}$" in line for line in latex) and "beyond chance" in latex[-1]
    alone = compare(["procrustes"], *data)
    assert "chance" not in str(alone)


def test_tables_hold_every_row(data):
    found = compare(["procrustes", "unconstrained"], *data)
    markdown = found.to_markdown().splitlines()
    assert len(markdown) == 2 + len(found.rows)
    assert len({line.count("|") for line in markdown}) == 1
    assert sum("**" in line for line in markdown) >= 3, "the best of each pair is bold"
    read = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [float(row["p@1"]) for row in read] == [row["p@1"] for row in found.rows]
    assert len(str(found).splitlines()) == 1 + len(found.rows) + len(found.notes())


def test_a_long_reason_is_short_in_the_table_and_whole_below(data, monkeypatch):
    reason = "\n".join(f"line {number} of many" for number in range(30))
    monkeypatch.setattr(Broken, "reason", reason)
    with joblib.parallel_config("sequential"):  # in this process, where the class is changed
        found = compare(["procrustes", Broken()], *data)
    *table, note, last = str(found).splitlines()
    assert note.startswith("All 3 languages were fitted together")
    rows = [cells for cells in table if cells.startswith("broken")]
    assert len(table) == 1 + len(found.rows) and len(rows) == 3
    for line in rows:
        assert line.endswith("RuntimeError: line 0 of many line 1 of many line 2 of many…")
    assert max(map(len, table)) < 200
    assert last == f"broken: RuntimeError: {reason}".replace("\n", " ")
    assert reason.replace("\n", " ") in found.to_markdown()
    assert reason in found.rows[-1]["error"]
    assert reason in list(csv.DictReader(io.StringIO(found.to_csv())))[-1]["error"]


def test_what_cannot_be_compared_is_said_first(data):
    embeddings, train, _ = data
    with pytest.raises(ParameterError, match=r"baseline 'procustes'.*Did you mean 'procrustes'"):
        compare(["procrustes"], *data, baseline="procustes")
    with pytest.raises(ParameterError, match="no mapper"):
        compare([], *data)
    with pytest.raises(ParameterError, match="no test dictionary"):
        compare(["procrustes"], embeddings, train, {})
    with pytest.raises(ParameterError, match="no retrieval"):
        compare(["procrustes"], *data, retrievals=[])
    with pytest.raises(ParameterError, match="csls: k=0 is not possible"):
        compare(["procrustes"], *data, retrievals=[CSLS(k=0)])
    for jobs in (0, True, "2"):
        with pytest.raises(ParameterError, match="number of processes"):
            compare(["procrustes"], *data, jobs=jobs)
    with pytest.raises(LanguagesError, match="'fr', which has no embeddings"):
        compare(["procrustes"], embeddings, train, {("en", "fr"): []})


def test_memory_is_the_peak_of_the_work():
    seconds, peak = measure(lambda: np.ones(3_000_000).sum())
    assert seconds > 0
    assert 24e6 <= peak < 25e6


def test_short_work_is_timed_without_tracing_and_long_work_is_done_once():
    traced = []

    def work():
        traced.append(tracemalloc.is_tracing())
        return np.ones(100_000)

    seconds, peak = measure(work)
    assert traced == [True, False] and seconds > 0 and peak >= 800_000
    measure(work, retimed_below=0.0)
    assert traced == [True, False, True]
