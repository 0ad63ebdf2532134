"""Whether probabilities hold: bands, their error, and the risk of the surest answers."""

import numpy as np
import pytest

from geomm_plugin import evaluate, get_mapper
from geomm_plugin.evaluation import reliability
from geomm_plugin.evaluation.calibration import Reliability, reliability_of


def test_probabilities_that_hold_have_no_error():
    generator = np.random.default_rng(0)
    sure = generator.random(20_000)
    held = Reliability("en-es", sure, generator.random(20_000) < sure)
    assert held.error < 0.02 and len(held.rows) == 10
    assert sum(row["n_words"] for row in held.rows) == 20_000
    assert held.risk(0.25) < held.risk(0.5) < held.risk(1.0)
    assert held.risk(1.0) == pytest.approx(0.5, abs=0.02)
    assert held.rows[0]["coverage"] == 1 and held.rows[0]["risk"] == pytest.approx(held.risk(1.0))
    for row in held.rows:
        assert row["risk"] == pytest.approx(held.risk(row["coverage"]))
    boasting = Reliability("en-es", np.sqrt(sure), held.is_right)
    assert boasting.error > 0.1


def test_a_dictionary_judges_the_answers_of_a_space(demo):
    space = get_mapper("procrustes").fit(demo.embeddings, demo.train).map(demo.embeddings)
    found = reliability(space, "en", "es", demo.test["en", "es"])
    ranked = {}
    for source, target in demo.test["en", "es"]:
        ranked.setdefault(source, set()).add(target)
    answers = space.translate(list(ranked), "en", "es", 1, retrieval="reranked")
    right = [each[0][0] in ranked[word] for word, each in zip(ranked, answers, strict=True)]
    assert np.array_equal(found.is_right, right)
    assert found.risk(0.5) <= found.risk(1.0)
    assert "mean distance" in str(found) and "n_words" in found.to_csv()


def test_a_score_with_answers_says_how_sure_they_are(demo):
    space = get_mapper("procrustes").fit(demo.embeddings, demo.train).map(demo.embeddings)
    test = demo.test["en", "es"]
    plain = evaluate(space, "en", "es", test, answers=2)
    assert not reliability_of(plain).rows, "CSLS has no probabilities"
    scored = evaluate(space, "en", "es", test, "reranked", answers=2)
    words = [result.word for result in scored.words]
    answers = space.answers(words, "en", "es", 2, "reranked")
    assert [r.probability for r in scored.words] == [best.probability for best, _ in answers]
    assert [r.answers for r in scored.words] == [tuple(a[:2] for a in each) for each in answers]
    held = reliability_of(scored)
    assert held.rows == reliability(space, "en", "es", test).rows
    assert all(row["p@1_low"] <= row["p@1"] <= row["p@1_high"] for row in held.rows)
