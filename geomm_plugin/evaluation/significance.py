"""[evaluate] Differences or chance: bootstrap intervals and paired tests over single items.

A score is the mean over items (test words, sentences, texts), and for several dictionaries the mean
of their means. Items are what chance draws: intervals resample them (Efron, 1979). Two mappers are
compared on the same items (McNemar's exact test): among those that one gets right and the other
wrong, each way should be as frequent. Of several mappers one will be ahead by chance; Holm's method
(1979) adjusts for that.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from geomm_plugin.arrays import Vector

RESAMPLES = 10_000
SIGNIFICANT = 0.05
DIFFERENCE = ("difference", "difference_low", "difference_high", "p_value", "p_holm")


@dataclass(frozen=True)
class Interval:
    """Where a score lies with the given confidence."""

    low: float
    high: float


def bootstrap_interval(
    samples: Sequence[Vector], confidence: float = 0.95, seed: int = 0
) -> Interval:
    """Return the percentile interval of the mean of the samples' means; each is resampled alone."""
    generator = np.random.default_rng(seed)
    total = np.zeros(RESAMPLES)
    for sample in samples:
        # Drawing words with replacement is drawing how often each distinct value comes up.
        values, counts = np.unique(sample, return_counts=True)
        drawn = generator.multinomial(len(sample), counts / len(sample), size=RESAMPLES)
        total += drawn @ values / len(sample)
    tail = (1 - confidence) / 2
    low, high = np.quantile(total / len(samples), [tail, 1 - tail])
    return Interval(float(low), float(high))


def paired_p_value(ours: Sequence[Vector], theirs: Sequence[Vector], seed: int = 0) -> float:
    """Return how likely so large a difference is if both are equally good, on both sides.

    The samples hold a number for each item, in the same order. One sample of 0 and 1 is McNemar's
    exact test. Others: the sign of each item's difference is drawn anew, and the mean over samples
    of their mean differences compared with what was seen.
    """
    changes = [a - b for a, b in zip(ours, theirs, strict=True)]
    if not any(change.any() for change in changes):
        return 1.0
    if len(changes) == 1 and np.isin(changes[0], (-1, 0, 1)).all():
        from scipy.stats import binomtest

        wins = int(np.count_nonzero(changes[0] > 0))
        return float(binomtest(wins, int(np.count_nonzero(changes[0]))).pvalue)
    generator = np.random.default_rng(seed)
    drawn = np.zeros(RESAMPLES)
    for change in changes:
        # Only how often each size of a difference keeps its sign matters, not where.
        sizes, counts = np.unique(np.abs(change), return_counts=True)
        for size, count in zip(sizes, counts, strict=True):
            kept = generator.binomial(count, 0.5, RESAMPLES)
            drawn += (2 * kept - count) * size / len(change)
    observed = abs(sum(change.mean() for change in changes))
    return float((1 + np.count_nonzero(np.abs(drawn) >= observed - 1e-12)) / (1 + RESAMPLES))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for the number of comparisons, so that the best of many is not chance."""
    adjusted = [1.0] * len(p_values)
    largest = 0.0
    for place, number in enumerate(np.argsort(p_values, kind="stable")):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[number]))
        adjusted[number] = largest
    return adjusted


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
    """True if a row's difference is beyond chance."""
    return row["p_holm"] is not None and bool(row["p_holm"] < SIGNIFICANT)
