import types

import numpy as np
import pytest

from geomm_plugin import SharedSpace, hookimpl, registry
from geomm_plugin.errors import ParameterError, PluginError
from geomm_plugin.evaluation.task import Score, Task, as_space, check_tasks
from geomm_plugin.evaluation.texts import Sentences


class WordCount(Task):
    """How many words there are."""

    name = "word_count"

    @classmethod
    def from_files(cls, files, retrievals=()):
        return cls()

    def score(self, space):
        return [Score(self.name, {"language": n}, {"words": len(space[n])}) for n in space]


def plugin_of(*tasks):
    module = types.ModuleType("geomm_counting")

    @hookimpl
    def register_tasks():
        return tasks

    module.register_tasks = register_tasks
    return module


def test_built_in_tasks_are_registered():
    names = ["sentences", "classify", "bli", "similarity", "analogy"]
    assert list(registry.tasks)[:5] == names
    assert registry.tasks["sentences"] is Sentences


def test_a_task_of_ones_own_is_found_by_name(toy):
    plugin = plugin_of(WordCount)
    registry.plugins.register(plugin)
    try:
        task = registry.tasks["word_count"]()
        rows = [score.row() for score in task.score(SharedSpace(toy.embeddings))]
    finally:
        registry.plugins.unregister(plugin)
    assert [row["language"] for row in rows] == list(toy.embeddings)
    assert "word_count" not in registry.tasks and "words_low" not in rows[0]


def test_what_is_no_task_is_refused():
    class NoTask:
        name = "none"

    with pytest.raises(PluginError, match=r"must inherit from geomm_plugin.evaluation.task.Task"):
        registry.plugins.register(plugin_of(NoTask))
    for wrong in ("sentences", Sentences, ["sentences"]):
        with pytest.raises(ParameterError, match="given with its data"):
            check_tasks(wrong)
    task = WordCount()
    assert check_tasks(task) == check_tasks([task]) == (task,)


def test_the_main_score_is_the_first_and_has_an_interval():
    items = np.repeat([0.0, 1.0], [30, 70])
    score = Score("t", {"pair": "a-b"}, {"p@1": 0.7, "p@5": 0.9}, items, {"n": 100})
    assert score.main == "p@1"
    row = score.row()
    assert row["p@1_low"] < 0.7 < row["p@1_high"] and row["n"] == 100


def test_aligned_embeddings_become_a_space(toy):
    space = SharedSpace(toy.embeddings)
    assert as_space(space) is space
    assert isinstance(as_space(toy.embeddings), SharedSpace)
