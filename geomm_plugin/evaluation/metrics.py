"""[evaluate] Numbers made from the ranks of correct translations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from geomm_plugin.arrays import RowIndices, Vector

NOT_FOUND = int(np.iinfo(np.intp).max)  # the rank of a translation that cannot be found


@dataclass(frozen=True)
class Metric:
    """A name and a score of each word, from the rank of its best correct translation (1 is best).

    Parameters
    ----------
    depth
        Ranks past this one all score alike, which saves time; None if every rank counts.
    """

    name: str
    score: Callable[[RowIndices], Vector]
    depth: int | None = None

    def __call__(self, ranks: RowIndices) -> float:
        """Return the mean over all words."""
        return float(np.mean(self.score(ranks))) if len(ranks) else 0.0


def precision_at(k: int) -> Metric:
    """Return the share of words with a correct translation among the first k."""
    return Metric(f"p@{k}", lambda ranks: (ranks <= k).astype(np.float64), depth=k)


P_AT_1, P_AT_5, P_AT_10 = precision_at(1), precision_at(5), precision_at(10)
MRR = Metric("mrr", lambda ranks: 1.0 / ranks)


def depth_of(metrics: Iterable[Metric]) -> int | None:
    """Return the deepest rank that matters to any of the metrics."""
    depths = [metric.depth for metric in metrics]
    return None if None in depths else max((depth for depth in depths if depth), default=1)
