"""[evaluate] What mappers of a comparison score on tasks: rows with intervals and paired tests.

The same items (sentences, texts) are scored for every mapper; the difference from the baseline is
tested item by item, as words are in translation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from geomm_plugin.evaluation.differences import DIFFERENCE, adjust, difference_columns
from geomm_plugin.evaluation.runs import Run
from geomm_plugin.evaluation.task import TaskScore


def task_rows(runs: Sequence[Run], baseline: str, seed: int = 0) -> list[dict[str, Any]]:
    """Return one JSON-like object for each mapper and row of a task.

    `difference` is the main score less the baseline's with its interval, `p_value` the paired
    test's, `p_holm` that adjusted for the number of mappers; None where they do not apply. A mapper
    that failed has rows, too, with its reason and no numbers.
    """
    scored = {_key(score): score for run in runs for score in run.tasks}
    theirs = {_key(score): score for run in runs if run.label == baseline for score in run.tasks}
    rows = []
    for run in runs:
        cost = run.cost() | {"baseline": baseline}
        for score in run.tasks:
            row = {"mapper": run.label} | score.row(seed) | dict.fromkeys(DIFFERENCE) | cost
            if run.label != baseline:
                row |= _difference(score, theirs.get(_key(score)), seed)
            rows.append(row | ({} if score.error is None else {"error": score.error}))
        for score in scored.values() if run.error is not None else ():
            named = {"mapper": run.label, "task": score.task, **score.about}
            empty = dict.fromkeys([*score.row(seed), *DIFFERENCE])
            rows.append(empty | named | cost)
    about = {name: None for score in scored.values() for name in score.about}
    adjust(rows, lambda row: (row["task"], *(row.get(name) for name in about)))
    return rows


def scores_by_task(runs: Sequence[Run]) -> dict[str, TaskScore]:
    """Return one score for each task, which tells what its rows are about and hold."""
    return {score.task: score for run in runs for score in run.tasks if score.error is None}


def _key(score: TaskScore) -> tuple[str, tuple[tuple[str, str], ...]]:
    return score.task, tuple(score.about.items())


def _difference(score: TaskScore, before: TaskScore | None, seed: int) -> dict[str, Any]:
    if before is None or score.error is not None or before.error is not None:
        return {}
    ours, theirs = score.items, before.items
    if ours is None or theirs is None or len(ours) != len(theirs):
        return {"difference": score.scores[score.main] - before.scores[before.main]}
    return difference_columns([ours], [theirs], seed)
