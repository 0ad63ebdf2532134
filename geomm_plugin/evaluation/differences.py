"""[evaluate] How far a mapper is ahead of the baseline, on the same items, as columns of a row.

Items are test words, sentences or texts. The difference of two scores comes with its bootstrap
interval and the p-value of a paired test, which is adjusted for the number of mappers (Holm).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from geomm_plugin.arrays import Vector
from geomm_plugin.evaluation.significance import bootstrap_interval, holm, paired_p_value

SIGNIFICANT = 0.05
DIFFERENCE = ("difference", "difference_low", "difference_high", "p_value", "p_holm")


def difference_columns(
    ours: Sequence[Vector], theirs: Sequence[Vector], seed: int = 0
) -> dict[str, float]:
    """Return the columns of a difference; of several samples it is that of the means' mean."""
    changes = [a - b for a, b in zip(ours, theirs, strict=True)]
    interval = bootstrap_interval(changes, seed=seed)
    return {
        "difference": sum(float(change.mean()) for change in changes) / len(changes),
        "difference_low": interval.low,
        "difference_high": interval.high,
        "p_value": paired_p_value(ours, theirs, seed=seed),
    }


def adjust(rows: Sequence[dict[str, Any]], key: Callable[[dict[str, Any]], Hashable]) -> None:
    """Fill in p_holm: p-values of the rows with the same key are adjusted for their number."""
    groups: dict[Hashable, list[dict[str, Any]]] = {}
    for row in rows:
        if row["p_value"] is not None:
            groups.setdefault(key(row), []).append(row)
    for group in groups.values():
        for row, adjusted in zip(group, holm([r["p_value"] for r in group]), strict=True):
            row["p_holm"] = adjusted


def is_significant(row: dict[str, Any]) -> bool:
    """Tell whether luck hardly explains a row's difference."""
    return row["p_holm"] is not None and bool(row["p_holm"] < SIGNIFICANT)
