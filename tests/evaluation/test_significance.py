from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest

from geomm_plugin.evaluation.significance import bootstrap_interval, holm, paired_p_value


def flips(generator, count, share):
    return (generator.random(count) < share).astype(float)


def test_the_interval_is_that_of_the_normal_approximation():
    sample = flips(np.random.default_rng(0), 2000, 0.3)
    deviation = np.sqrt(sample.mean() * (1 - sample.mean()) / 2000)
    found = bootstrap_interval([sample])
    assert found.low == pytest.approx(sample.mean() - 1.96 * deviation, abs=2e-3)
    assert found.high == pytest.approx(sample.mean() + 1.96 * deviation, abs=2e-3)


def test_the_interval_covers_the_truth_as_often_as_it_says():
    generator = np.random.default_rng(1)
    found = [bootstrap_interval([flips(generator, 300, 0.4)], seed=i) for i in range(200)]
    covered = sum(interval.low <= 0.4 <= interval.high for interval in found)
    assert binomtest(covered, 200, 0.95).pvalue > 0.001


def test_several_samples_weigh_alike():
    generator = np.random.default_rng(2)
    small, large = flips(generator, 50, 0.2), flips(generator, 5000, 0.8)
    found = bootstrap_interval([small, large])
    assert found.low < (small.mean() + large.mean()) / 2 < found.high
    assert found.high - found.low > 0.08, "the small sample's chance counts half"


def test_one_sample_is_mcnemars_exact_test():
    ours = np.array([1.0] * 9 + [0.0] * 2 + [1.0] * 50)
    theirs = np.array([0.0] * 9 + [1.0] * 2 + [1.0] * 50)
    assert paired_p_value([ours], [theirs]) == pytest.approx(binomtest(9, 11).pvalue)
    assert paired_p_value([theirs], [ours]) == pytest.approx(binomtest(9, 11).pvalue)
    assert paired_p_value([ours], [ours]) == 1


def test_many_flips_of_several_samples_agree_with_the_exact_test_of_one():
    generator = np.random.default_rng(3)
    ours, theirs = flips(generator, 400, 0.55), flips(generator, 400, 0.5)
    halves = [ours[:200], ours[200:]], [theirs[:200], theirs[200:]]
    assert paired_p_value(*halves) == pytest.approx(paired_p_value([ours], [theirs]), abs=0.02)


def test_p_values_of_equal_mappers_are_rarely_small():
    generator = np.random.default_rng(4)
    values = [
        paired_p_value([flips(generator, 200, 0.5)], [flips(generator, 200, 0.5)])
        for _ in range(400)
    ]
    assert np.mean(np.array(values) < 0.05) < 0.08


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([0.2]) == [0.2], "one comparison needs no adjustment"
    assert holm([]) == []


def test_scores_that_are_no_hits_are_tested_by_the_sign_of_each_difference():
    ours, theirs = (
        np.array([0.9, 0.2, 0.5, 0.4, 0.7, 0.3]),
        np.array([0.1, 0.3, 0.1, 0.2, 0.5, 0.3]),
    )
    changes = ours - theirs
    every = np.array([np.abs(np.dot(changes, signs)) for signs in product((-1, 1), repeat=6)])
    exact = np.mean(every >= abs(changes.sum()) - 1e-12)
    assert paired_p_value([ours], [theirs]) == pytest.approx(exact, abs=0.01)
