"""[evaluate] What mappers of a comparison score on tasks: rows with intervals and paired tests.

The same items (sentences, texts) are scored for every mapper; the difference from the baseline is
tested item by item, as words are in translation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from geomm_plugin.evaluation.runs import Run
from geomm_plugin.evaluation.significance import bootstrap_interval, holm, paired_p_value
from geomm_plugin.evaluation.task import TaskScore

DIFFERENCE = ("difference", "difference_low", "difference_high", "p_value", "p_holm")


def task_rows(runs: Sequence[Run], baseline: str, seed: int = 0) -> list[dict[str, Any]]:
    """Return one JSON-like object for each mapper and row of a task.

    `difference` is the main score less the baseline's with its interval, `p_value` the paired
    test's, `p_holm` that adjusted for the number of mappers; None where they do not apply.
    """
    theirs = {_key(score): score for run in runs if run.label == baseline for score in run.tasks}
    rows: list[dict[str, Any]] = []
    tested: dict[object, list[dict[str, Any]]] = {}
    for run in runs:
        for score in run.tasks:
            row = {"mapper": run.label} | score.row() | dict.fromkeys(DIFFERENCE)
            rows.append(row)
            before = theirs.get(_key(score))
            if run.label != baseline and before is not None:
                row |= _difference(score, before, seed)
                if row["p_value"] is not None:
                    tested.setdefault(_key(score), []).append(row)
    for group in tested.values():
        for row, adjusted in zip(group, holm([r["p_value"] for r in group]), strict=True):
            row["p_holm"] = adjusted
    return rows


def task_table(runs: Sequence[Run], rows: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Return header and rows as short texts: the main score of each row, and its difference."""
    scores = [(run.label, score) for run in runs for score in run.tasks]
    table = [["mapper", "task", "about", "score", "[95 %]", "difference"]]
    for (label, score), row in zip(scores, rows, strict=True):
        about = ", ".join(f"{name} {value}" for name, value in score.about.items())
        shown = f"{score.main} {score.scores[score.main]:.3f}"
        low, high = row.get(f"{score.main}_low"), row.get(f"{score.main}_high")
        interval = "" if low is None else f"[{low:.3f}, {high:.3f}]"
        table.append([label, score.task, about, shown, interval, _against(row)])
    return table


def _key(score: TaskScore) -> tuple[str, tuple[tuple[str, str], ...]]:
    return score.task, tuple(score.about.items())


def _difference(score: TaskScore, before: TaskScore, seed: int) -> dict[str, Any]:
    difference = {"difference": score.scores[score.main] - before.scores[before.main]}
    ours, theirs = score.items, before.items
    if ours is None or theirs is None or len(ours) != len(theirs):
        return difference
    interval = bootstrap_interval([ours - theirs], seed=seed)
    return difference | {
        "difference_low": interval.low,
        "difference_high": interval.high,
        "p_value": paired_p_value([ours], [theirs], seed=seed),
    }


def _against(row: dict[str, Any]) -> str:
    if row["difference"] is None:
        return ""
    sure = "" if row["p_holm"] is None else f" (p = {row['p_holm']:.2g})"
    return f"{row['difference']:+.3f}{sure}"
