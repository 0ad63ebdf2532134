import numpy as np
import pytest

from geomm_plugin import compare, get_mapper
from geomm_plugin.errors import ParameterError
from geomm_plugin.evaluation.outcome import Comparison
from geomm_plugin.evaluation.runs import Run
from geomm_plugin.evaluation.significance import paired_p_value
from geomm_plugin.evaluation.task import Score, Task
from geomm_plugin.evaluation.texts import Classify, Sentences


def run_of(label, *items):
    scores = [
        Score("t", {"pair": name}, {"p@1": float(np.mean(values))}, np.array(values, float))
        for name, values in zip(("a-b", "b-a"), items, strict=False)
    ]
    return Run(label, {}, 0.0, 0, None, tuple(scores))


def test_differences_are_paired_by_item_and_adjusted():
    generator = np.random.default_rng(0)
    one, two, three = generator.integers(0, 2, (3, 2, 60))
    runs = [run_of("one", *one), run_of("two", *two), run_of("three", *three)]
    rows = Comparison(tuple(runs), "one").rows
    assert [row["mapper"] for row in rows] == ["one"] * 2 + ["two"] * 2 + ["three"] * 2
    assert rows[0]["difference"] is None and rows[0]["p_holm"] is None
    row = rows[3]
    assert row["pair"] == "b-a" and row["difference"] == pytest.approx((two[1] - one[1]).mean())
    assert row["difference_low"] <= row["difference"] <= row["difference_high"]
    ours, theirs = two[1].astype(float), one[1].astype(float)
    assert row["p_value"] == paired_p_value([ours], [theirs])
    assert row["p_holm"] >= row["p_value"]


def test_scores_without_items_have_a_difference_and_no_test():
    runs = [
        Run(label, {}, 0.0, 0, None, (Score("t", {}, {"r": value}),))
        for label, value in (("one", 0.5), ("two", 0.75))
    ]
    assert Comparison(tuple(runs), "one").rows[1]["difference"] == 0.25
    assert Comparison(tuple(runs), "one").rows[1]["p_value"] is None


def test_compare_scores_tasks_on_each_mappers_space(demo):
    two = {language: demo.embeddings[language].head(1500) for language in ("en", "es")}
    pair = ("en", "es")
    task = Sentences({language: demo.sentences[language][:200] for language in two}, ["csls"])
    found = compare(
        ["procrustes", "cca"], two, {pair: demo.train[pair]}, {pair: demo.test[pair]}, tasks=task
    )
    space = get_mapper("cca").fit(two, {pair: demo.train[pair]}).map(two)
    expected = [score.scores["p@1"] for score in task.score(space)]
    rows = [row for row in found.parts[1].rows if row["mapper"] == "cca"]
    assert [row["p@1"] for row in rows] == expected
    assert [row["pair"] for row in rows] == ["en-es", "es-en"]
    assert found.rows[-1]["task"] == "sentences" and found.rows[-1]["versions"]
    for shown in (str(found), found.to_markdown(), found.to_latex(), found._repr_html_()):
        assert f"{expected[0]:.3f}" in shown or f"{100 * expected[0]:.1f}" in shown
    assert "Task: sentences" in found.to_html()


def test_pairs_fitted_alone_are_scored_on_their_part_of_a_task(demo):
    lines = {language: demo.sentences[language][:100] for language in demo.embeddings}
    train = {"en": demo.topics["en"]}
    tasks = [Sentences(lines, ["csls"]), Classify(train, demo.topics, C=3.0)]
    small = {language: value.head(1000) for language, value in demo.embeddings.items()}
    pairs = [("en", "es"), ("en", "it")]
    learnt = {pair: demo.train[pair] for pair in pairs}
    tests = {pair: demo.test[pair] for pair in pairs}
    found = compare("procrustes", small, learnt, tests, tasks=tasks, each_pair=True)
    rows = found.rows
    assert [row["pair"] for row in rows if row["task"] == "sentences"] == [
        *("en-es", "es-en", "en-it", "it-en"),
    ]
    topics = [row for row in rows if row["task"] == "classify"]
    assert [(row["train"], row["test"]) for row in topics] == [("en", "es"), ("en", "it")]
    two = {language: small[language] for language in pairs[1]}
    space = get_mapper("procrustes").fit(two, {pairs[1]: learnt[pairs[1]]}).map(two)
    (score,) = Classify(train, {"it": demo.topics["it"]}, C=3.0).score(space)
    assert topics[1]["accuracy"] == score.scores["accuracy"]
    with pytest.raises(ParameterError, match="has the texts of the tasks"):
        only = Sentences({"es": lines["es"], "it": lines["it"]})
        compare("procrustes", small, learnt, tests, tasks=only, each_pair=True)


class Failing(Task):
    """Fails on every space."""

    name = "failing"

    @classmethod
    def from_files(cls, files, retrievals=()):
        return cls()

    def score(self, space):
        raise RuntimeError("no such luck")


def test_a_task_that_fails_costs_no_other_score(demo):
    two = {language: demo.embeddings[language].head(800) for language in ("en", "es")}
    pair = ("en", "es")
    found = compare(
        "procrustes", two, {pair: demo.train[pair]}, {pair: demo.test[pair]}, tasks=Failing()
    )
    assert found.rows[0]["error"] is None and found.rows[0]["p@1"] > 0
    assert found.rows[-1]["error"] == "RuntimeError: no such luck"
    assert "procrustes, failing: RuntimeError: no such luck" in str(found)
    with pytest.raises(ParameterError, match="cannot be divided by pairs"):
        Failing().among(["en", "es"])


def test_a_mapper_that_failed_has_rows_of_tasks_with_its_reason():
    runs = [run_of("one", [0, 1], [1, 1]), Run("bad", {}, None, None, "ValueError: no", ())]
    rows = Comparison(tuple(runs), "one").rows[2:]
    assert [(row["mapper"], row["pair"], row["p@1"]) for row in rows] == [
        *(("bad", "a-b", None), ("bad", "b-a", None)),
    ]
    assert {row["error"] for row in rows} == {"ValueError: no"}
    shown = str(Comparison(tuple(runs), "one"))
    assert "bad: ValueError: no" in shown
