"""The contract of a task, as a test: for plugin authors and for us.

from geomm_plugin.testing import check_task

def test_contract(space):
    check_task(MyTask(data), space)
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from geomm_plugin.errors import ParameterError
from geomm_plugin.evaluation.task import Score, Task
from geomm_plugin.shared_space import SharedSpace

ROLES = ("texts", "train", "test")


def check_task(task: Task, space: SharedSpace) -> None:
    """Check that a task keeps the contract; an AssertionError says which part it breaks.

    Parameters
    ----------
    task
        With its data.
    space
        A space that it can be scored on, of all languages of the data.
    """
    assert isinstance(task.name, str) and task.name, "A task needs a text `name`."
    assert set(task.roles) <= set(ROLES), f"Roles of files are {', '.join(ROLES)}: {task.roles}."
    before = {language: space.unit_vectors(language).copy() for language in space}
    scores = task.score(space)
    _check_scores(task, scores)
    assert _same(scores, task.score(space)), "The same space gets the same scores."
    for language, vectors in before.items():
        assert np.array_equal(vectors, space.unit_vectors(language)), "A space stays as it is."
    _check_order(task, scores, space)
    _check_among(task, scores, space)


def _check_scores(task: Task, scores: Sequence[Score]) -> None:
    assert scores, "A task that can be scored gives a score."
    abouts = [tuple(score.about.items()) for score in scores]
    assert len(set(abouts)) == len(scores), f"Each score is about something else: {abouts}."
    for score in scores:
        assert isinstance(score, Score) and score.task == task.name, f"A Score of {task.name}."
        assert score.scores, "A score has at least one number, the main one first."
        assert list(score.scores) == list(scores[0].scores), "All scores have the same numbers."
        row = json.loads(json.dumps(score.row(), allow_nan=False))
        assert set(row) >= {*score.about, *score.scores, *score.details}, "A row is plain JSON."
        if score.items is not None:
            mean = float(np.mean(score.items))
            main = score.scores[score.main]
            assert np.isclose(mean, main), f"The items' mean, {mean}, is {score.main}, {main}."


def _check_order(task: Task, scores: Sequence[Score], space: SharedSpace) -> None:
    """Scores are about the same things in the same order, whatever the space."""
    generator = np.random.default_rng(0)
    other = SharedSpace(
        {
            language: (space[language].words, generator.standard_normal((len(space[language]), 5)))
            for language in space
        }
    )
    found = task.score(other)
    assert [score.about for score in found] == [score.about for score in scores], (
        "Scores of another space come in the same order."
    )
    for score, before in zip(found, scores, strict=True):
        lengths = [len(each.items) for each in (score, before) if each.items is not None]
        assert len(set(lengths)) <= 1, "Items are the same for every space of the same words."


def _check_among(task: Task, scores: Sequence[Score], space: SharedSpace) -> None:
    """The part of all languages is the whole, that of none is nothing, others are parts."""
    try:
        whole, nothing = task.among(list(space)), task.among([])
    except ParameterError:
        return  # it cannot be divided
    assert nothing is None, "There is no part of a task for no language."
    assert whole is not None, "The part of a task for all its languages is the task."
    known = {tuple(score.about.items()): score.row() for score in scores}
    names = list(space)
    for part in (whole, *(task.among([n for n in names if n != left]) for left in names)):
        for score in [] if part is None else part.score(space):
            about = tuple(score.about.items())
            assert about in known, f"A part has scores of the whole; {about} is none."
            if part is whole:
                assert score.row() == known[about], "Scores are the same for all languages."


def _same(scores: Sequence[Score], others: Sequence[Score]) -> bool:
    return [score.row() for score in scores] == [score.row() for score in others]
