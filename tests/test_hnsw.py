"""The approximate engine finds nearly what the exact one finds, and says how nearly."""

import sys

import numpy as np
import pytest

from geomm_plugin import Embeddings, evaluate
from geomm_plugin.errors import MissingExtraError, ParameterError
from geomm_plugin.normalize import unit
from geomm_plugin.retrieval import CSLS, Cosine, as_retrieval


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
def test_evaluate_reports_the_recall(languages):
    pytest.importorskip("faiss")
    space = {
        name: Embeddings([f"{name}{i}" for i in range(3000)], vectors)
        for name, vectors in zip(("en", "es"), languages, strict=True)
    }
    dictionary = [(f"en{i}", f"es{i}") for i in range(100)]
    row = evaluate(space, "en", "es", dictionary, "csls", index="hnsw").row()
    exact = evaluate(space, "en", "es", dictionary, "csls").row()
    assert row["retrieval"] == "csls(engine='hnsw')" and 0.8 < row["recall"] <= 1
    assert row["p@1"] == pytest.approx(exact["p@1"], abs=0.05)
    assert "recall" not in exact


def test_only_some_retrievals_have_engines():
    assert as_retrieval("csls", engine="hnsw") == CSLS(engine="hnsw")
    with pytest.raises(ParameterError, match="one engine only"):
        as_retrieval("inverted_softmax", engine="hnsw")


def test_without_faiss_the_error_is_the_fix(languages, monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'geomm-plugin\[faiss\]'"):
        CSLS(engine="hnsw").index(*languages).search(languages[0][:1], 1)
