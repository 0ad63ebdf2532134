import numpy as np
import pytest

from geomm_plugin import compare
from geomm_plugin.errors import ParameterError
from geomm_plugin.evaluation.runs import Run
from geomm_plugin.evaluation.sentences import Sentences
from geomm_plugin.evaluation.significance import paired_p_value
from geomm_plugin.evaluation.task import TaskScore
from geomm_plugin.evaluation.task_rows import task_rows


def run_of(label, *items):
    scores = [
        TaskScore("t", {"pair": name}, {"p@1": float(np.mean(values))}, np.array(values, float))
        for name, values in zip(("a-b", "b-a"), items, strict=False)
    ]
    return Run(label, {}, 0.0, 0, None, (), tasks=tuple(scores))


def test_differences_are_paired_by_item_and_adjusted():
    generator = np.random.default_rng(0)
    one, two, three = generator.integers(0, 2, (3, 2, 60))
    runs = [run_of("one", *one), run_of("two", *two), run_of("three", *three)]
    rows = task_rows(runs, "one")
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
        Run(label, {}, 0.0, 0, None, (), tasks=(TaskScore("t", {}, {"r": value}),))
        for label, value in (("one", 0.5), ("two", 0.75))
    ]
    assert task_rows(runs, "one")[1]["difference"] == 0.25
    assert task_rows(runs, "one")[1]["p_value"] is None


def test_compare_scores_tasks_on_each_mappers_space(demo):
    two = {language: demo.embeddings[language].head(1500) for language in ("en", "es")}
    pair = ("en", "es")
    task = Sentences({language: demo.sentences[language][:200] for language in two}, ["csls"])
    found = compare(
        ["procrustes", "cca"], two, {pair: demo.train[pair]}, {pair: demo.test[pair]}, tasks=task
    )
    from geomm_plugin import get_mapper

    space = get_mapper("cca").fit(two, {pair: demo.train[pair]}).map(two)
    expected = [score.scores["p@1"] for score in task.score(space)]
    rows = [row for row in found.task_rows if row["mapper"] == "cca"]
    assert [row["p@1"] for row in rows] == expected
    assert [row["pair"] for row in rows] == ["en-es", "es-en"]
    assert "pair en-es, retrieval csls" in str(found)


def test_tasks_need_one_space(demo):
    task = Sentences({language: demo.sentences[language] for language in ("en", "es")})
    with pytest.raises(ParameterError, match="each_pair makes 3"):
        compare("procrustes", demo.embeddings, demo.train, demo.test, tasks=task, each_pair=True)
