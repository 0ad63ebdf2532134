"""Mutual neighbours where something else than vectors speaks for some pairs."""

import numpy as np
import pytest

from geomm_plugin.normalize import unit
from geomm_plugin.retrieval import Raised, best_neighbors, mutual_neighbors


def brute_force(x, z, raised, k=10):
    """Return CSLS of all pairs, and the same with the bonus."""
    cosines = (x @ z.T).astype(np.float64)
    r_target = np.sort(cosines, axis=1)[:, -k:].mean(axis=1)
    r_source = np.sort(cosines, axis=0)[-k:].mean(axis=0)
    csls = 2 * cosines - r_target[:, None] - r_source
    total = csls.copy()
    np.add.at(total, (raised.source, raised.target), raised.bonus)
    return csls, total


@pytest.fixture
def clouds():
    random = np.random.default_rng(0)
    x, z = (unit(random.normal(size=(rows, 12))).astype(np.float32) for rows in (150, 130))
    cells = random.permutation(150 * 130)[:600]
    raised = Raised(cells // 130, cells % 130, random.uniform(0, 1, 600))
    return x, z, raised


def test_raised_pairs_compete_with_their_bonus_and_are_returned_with_their_csls(clouds):
    x, z, raised = clouds
    csls, total = brute_force(x, z, raised)
    best = best_neighbors(x, z, raised=raised)
    assert np.array_equal(best.forth, total.argmax(axis=1))
    assert np.array_equal(best.back, total.argmax(axis=0))
    assert best.forth_scores == pytest.approx(csls[np.arange(150), best.forth], abs=1e-5)
    rows, columns, _ = mutual_neighbors(x, z, raised=raised)
    assert np.array_equal(total.argmax(axis=0)[columns], rows)
    assert not np.array_equal(best.forth, best_neighbors(x, z).forth)


def test_no_bonus_changes_nothing(clouds):
    x, z, raised = clouds
    plain = best_neighbors(x, z)
    for other in (Raised(raised.source, raised.target, 0 * raised.bonus), raised.within(0, 0)):
        best = best_neighbors(x, z, raised=other)
        assert np.array_equal(best.forth, plain.forth) and np.array_equal(best.back, plain.back)


def test_only_pairs_among_the_first_rows_are_within(clouds):
    raised = clouds[2]
    some = raised.within(50, 40)
    inside = (raised.source < 50) & (raised.target < 40)
    assert 0 < len(some.bonus) == inside.sum() < 600
    assert some.source.max() < 50 and some.target.max() < 40
