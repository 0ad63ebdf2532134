import numpy as np
import pytest

from geomm_plugin import registry
from geomm_plugin.evaluation.metrics import (
    MRR,
    NOT_FOUND,
    P_AT_1,
    P_AT_5,
    Metric,
    depth_of,
    precision_at,
)


def test_precision_and_reciprocal_rank_by_hand():
    ranks = np.array([1, 2, 5, 6, NOT_FOUND])
    assert P_AT_1(ranks) == 1 / 5
    assert P_AT_5(ranks) == 3 / 5
    assert MRR(ranks) == pytest.approx((1 + 1 / 2 + 1 / 5 + 1 / 6) / 5)


@pytest.mark.parametrize("metric", registry.metrics.values(), ids=registry.metrics)
def test_ranks_up_to_the_depth_count_and_deeper_ones_score_alike(metric):
    depth = 1000 if metric.depth is None else metric.depth
    deep = np.array([depth + 1, depth + 100, NOT_FOUND])
    alike = 3 if metric.depth is None else 1  # without a depth every rank counts
    assert len(np.unique(metric.score(deep))) == alike
    assert metric.score(np.array([depth])) > metric.score(deep[:1])


def test_a_better_rank_never_scores_less():
    ranks = np.arange(1, 100)
    for metric in registry.metrics.values():
        assert (np.diff(metric.score(ranks)) <= 0).all()


def test_depth_is_the_deepest_needed():
    assert depth_of([precision_at(3), precision_at(20)]) == 20
    assert depth_of([precision_at(3), Metric("all", lambda ranks: 1.0 / ranks)]) is None
