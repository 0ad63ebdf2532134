import numpy as np
import pytest

from geomm_plugin import registry
from geomm_plugin.metrics import MRR, NOT_FOUND, P_AT_1, P_AT_5, Metric, depth_of, precision_at


def test_precision_and_reciprocal_rank_by_hand():
    ranks = np.array([1, 2, 5, 6, NOT_FOUND])
    assert P_AT_1(ranks) == 1 / 5
    assert P_AT_5(ranks) == 3 / 5
    assert MRR(ranks) == pytest.approx((1 + 1 / 2 + 1 / 5 + 1 / 6) / 5)


@pytest.mark.parametrize("metric", registry.metrics.values(), ids=registry.metrics)
def test_ranks_past_the_depth_score_alike(metric):
    if metric.depth is not None:
        deep = np.array([metric.depth + 1, metric.depth + 100, NOT_FOUND])
        assert len(np.unique(metric.score(deep))) == 1
        assert metric.score(np.array([metric.depth])) > metric.score(deep[:1])


def test_a_better_rank_never_scores_less():
    ranks = np.arange(1, 100)
    for metric in registry.metrics.values():
        assert (np.diff(metric.score(ranks)) <= 0).all()


def test_depth_is_the_deepest_needed():
    assert depth_of([precision_at(3), precision_at(20)]) == 20
    assert depth_of([precision_at(3), Metric("all", lambda ranks: 1.0 / ranks)]) is None
