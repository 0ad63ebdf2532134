"""The approximate engine finds nearly what the exact one finds, and says how nearly."""

import json
import sys
from importlib.metadata import version

import numpy as np
import pytest
from click.testing import CliRunner

from geomm_plugin import (
    Embeddings,
    SharedSpace,
    compare,
    evaluate,
    get_mapper,
    write_embeddings,
)
from geomm_plugin.cli import group
from geomm_plugin.errors import MissingExtraError, ParameterError
from geomm_plugin.normalize import unit
from geomm_plugin.registry import as_retrieval
from geomm_plugin.retrieval import CSLS, Cosine


@pytest.fixture
def languages():
    generator = np.random.default_rng(0)
    source = generator.standard_normal((3000, 24)).astype(np.float32)
    target = source + 0.5 * generator.standard_normal(source.shape).astype(np.float32)
    return unit(source), unit(target)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("exact", [Cosine(), CSLS(), CSLS(k=3)], ids=repr)
def test_answers_and_scores_are_nearly_exact(languages, exact):
    pytest.importorskip("faiss")
    source, target = languages
    approximate = as_retrieval(exact, engine="hnsw")
    queries = source[:200]
    expected = exact.index(source, target).search(queries, 5)
    index = approximate.index(source, target)
    found = index.search(queries, 5)
    assert np.mean(found.indices[:, 0] == expected.indices[:, 0]) > 0.9
    same = found.indices == expected.indices
    assert np.allclose(found.scores[same], expected.scores[same], atol=0.02)
    assert 0.8 < index.recall <= 1
    gold = [np.array([i]) for i in range(200)]
    ranks = approximate.index(source, target).ranks(queries, gold)
    true = exact.index(source, target).ranks(queries, gold)
    assert np.mean((ranks == 1) == (true == 1)) > 0.9
    assert approximate.index(source, target).ranks(queries, gold, depth=3).max() <= 4
    assert found.indices.shape == (200, 5)
    assert index.search(queries[:0], 5).indices.shape == (0, 5)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_recall_is_measured_against_the_truth(languages):
    pytest.importorskip("faiss")
    source, target = languages
    index = Cosine(engine="hnsw").index(source, target)
    found = index.search(source[:200], 10).indices
    true = np.argsort(-(source[:200] @ target.T), axis=1)[:, :10]
    overlap = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(found, true, strict=True)])
    assert index.recall == pytest.approx(overlap, abs=0.01)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_small_vocabularies_work(languages):
    pytest.importorskip("faiss")
    source, target = (vectors[:7] for vectors in languages)
    found = CSLS(engine="hnsw").index(source, target).search(source, 3)
    assert np.isfinite(found.scores).all() and (found.indices >= 0).all()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("method", [Cosine(engine="hnsw"), CSLS(engine="hnsw")], ids=repr)
def test_what_the_graph_does_not_reach_is_found_all_the_same(languages, method):
    pytest.importorskip("faiss")
    source, target = (vectors.copy() for vectors in languages)
    for vectors in (source, target):
        vectors[1500:] = vectors[0]
        vectors[:100] = 0
    index = method.index(source, target)
    found = index.search(source[95:105], 3000)
    assert np.array_equal(np.sort(found.indices, axis=1), np.tile(np.arange(3000), (10, 1)))
    assert np.isfinite(found.scores).all() and (np.diff(found.scores, axis=1) <= 0).all()
    exact = as_retrieval(method, engine="exact").index(source, target).search(source[95:105], 3000)
    # Graphs of faiss before 1.14 reach fewer of many equal rows.
    is_older = tuple(map(int, version("faiss-cpu").split(".")[:2])) < (1, 14)
    assert np.mean(np.abs(found.scores - exact.scores)) < (0.1 if is_older else 0.02)
    assert index.search(source[95:105], 3).indices.min() >= 0


@pytest.fixture
def space(languages):
    pytest.importorskip("faiss")
    return {
        name: Embeddings([f"{name}{i}" for i in range(3000)], vectors)
        for name, vectors in zip(("en", "es"), languages, strict=True)
    }


dictionary = [(f"en{i}", f"es{i}") for i in range(100)]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_evaluate_reports_the_recall(space):
    row = evaluate(space, "en", "es", dictionary, "csls", engine="hnsw").row()
    exact = evaluate(space, "en", "es", dictionary, "csls").row()
    assert row["retrieval"] == "csls(engine='hnsw')" and 0.8 < row["recall"] <= 1
    assert row["p@1"] == pytest.approx(exact["p@1"], abs=0.05)
    assert "recall" not in exact


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_compare_reports_the_recall(space):
    pairs = {("en", "es"): dictionary, ("es", "en"): [pair[::-1] for pair in dictionary]}
    mappers = ["procrustes", get_mapper("regression", regularization=1.0)]
    both = [CSLS(engine="hnsw"), CSLS()]
    found = compare(mappers, space, pairs, pairs, retrievals=both)
    alone = [e.recall for e in found.run("procrustes").evaluations if e.recall is not None]
    rows = [row for row in found.rows if row["mapper"] == "procrustes"]
    approximate = [row["recall"] for row in rows if "hnsw" in row["retrieval"]]
    assert approximate == [*alone, np.mean(alone)]
    assert all(row["recall"] is None for row in found.rows if row["retrieval"] == "csls")
    at = found.table()[0].index("recall")
    shown = [cells[at] for cells in found.table()[1:]]
    assert shown == ["" if r["recall"] is None else f"{r['recall']:.3f}" for r in found.rows]
    assert "| recall |" in found.to_markdown() and ",recall," in found.to_csv()
    assert "recall" in json.loads(found.to_json())[0]
    by_index = compare("procrustes", space, pairs, pairs, engine="hnsw")
    assert [row["recall"] for row in by_index.rows] == approximate
    exact = compare("procrustes", space, pairs, pairs)
    assert "recall" not in exact.rows[0] and "recall" not in exact.table()[0]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_translate_takes_an_index(space):
    shared = SharedSpace(space)
    found = shared.translate(["en1", "en2"], "en", "es", k=3, engine="hnsw")
    assert found == shared.translate(["en1", "en2"], "en", "es", 3, CSLS(engine="hnsw"))
    assert found[0] == shared.translate("en1", "en", "es", k=3, engine="hnsw")
    with pytest.raises(ParameterError, match="one engine only"):
        shared.translate("en1", "en", "es", retrieval="inverted_softmax", engine="hnsw")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("order", [1, -1])
def test_the_command_shows_the_recall_where_there_is_one(space, order, tmp_path):
    for name, embeddings in space.items():
        write_embeddings(embeddings.head(300), tmp_path / f"{name}.vec")
    for one, other in (("en", "es"), ("es", "en")):
        lines = "".join(f"{one}{i} {other}{i}\n" for i in range(100))
        (tmp_path / f"{one}-{other}.txt").write_text(lines, "utf-8")
    files = [f"{name}={tmp_path / name}.vec" for name in space]
    tests = [f"{pair}={tmp_path / pair}.txt" for pair in ("en-es", "es-en")]
    ranked = ["csls", "csls:engine=hnsw"][::order]
    options = [x for test in tests for x in ("-d", test)] + [x for r in ranked for x in ("-r", r)]
    printed = CliRunner().invoke(group, ["evaluate", *files, *options, "-q"]).output.splitlines()
    done = CliRunner().invoke(group, ["evaluate", *files, *options, "-q", "--json"])
    rows = json.loads(done.output)
    assert [row["pair"] for row in rows] == ["en-es"] * 2 + ["es-en"] * 2 + ["average"] * 2
    assert printed[0].split()[-1] == "recall" and len(printed) == 1 + len(rows)
    for line, row in zip(printed[1:], rows, strict=True):
        assert (row["recall"] is None) == (row["retrieval"] == "csls")
        last = row["n_words"] if row["recall"] is None else f"{row['recall']:.3f}"
        assert line.split()[-1] == str(last)
    recalls = [row["recall"] for row in rows if row["recall"] is not None]
    assert recalls[2] == pytest.approx((recalls[0] + recalls[1]) / 2)


def test_only_some_retrievals_have_engines():
    assert as_retrieval("csls", engine="hnsw") == CSLS(engine="hnsw")
    with pytest.raises(ParameterError, match="one engine only"):
        as_retrieval("inverted_softmax", engine="hnsw")


def test_without_faiss_the_error_is_the_fix(languages, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'geomm-plugin\[faiss\]'"):
        CSLS(engine="hnsw").index(*languages).search(languages[0][:1], 1)
