import numpy as np
import pytest

from geomm_plugin.evaluation.classify import (
    STRENGTHS,
    best_strength,
    cross_validate,
    divide_evenly,
    fit_logistic,
)


@pytest.fixture
def clouds():
    generator = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 40)
    centers = generator.standard_normal((4, 6))
    return centers[labels] + 1.2 * generator.standard_normal((160, 6)), labels


@pytest.mark.parametrize("C", [0.1, 3.0, 100.0])
def test_weights_are_scikit_learns(clouds, C):
    linear_model = pytest.importorskip("sklearn.linear_model")
    vectors, labels = clouds
    theirs = linear_model.LogisticRegression(C=C, tol=1e-8, max_iter=5000).fit(vectors, labels)
    ours = fit_logistic(vectors, labels, C)
    assert ours.weights.T == pytest.approx(theirs.coef_, abs=2e-3)
    assert (ours.predict(vectors) == theirs.predict(vectors)).all()


def test_a_start_changes_the_way_and_not_the_end(clouds):
    vectors, labels = clouds
    alone = fit_logistic(vectors, labels, 3.0)
    warm = fit_logistic(vectors, labels, 3.0, fit_logistic(vectors, labels, 0.1))
    assert warm.weights == pytest.approx(alone.weights, abs=2e-3)


def test_every_fold_has_its_share_of_every_label():
    labels = np.repeat(np.arange(3), [25, 10, 7])
    fold = divide_evenly(labels, 5, seed=1)
    for label in range(3):
        counts = np.bincount(fold[labels == label], minlength=5)
        assert counts.max() - counts.min() <= 1 and counts.min() > 0


def test_accuracies_are_those_of_held_out_items(clouds):
    vectors, labels = clouds
    accuracies = cross_validate(vectors, labels)
    assert 0.5 < max(accuracies.values()) < 1
    noise = np.random.default_rng(1).permutation(labels)
    assert max(cross_validate(vectors, noise).values()) < 0.45


def test_of_equally_accurate_values_the_smallest_is_taken():
    assert best_strength({0.1: 0.5, 1.0: 0.7, 10.0: 0.7}) == 1.0


def test_no_larger_value_is_tried_after_two_worse_ones(clouds, monkeypatch):
    from geomm_plugin.evaluation import classify

    vectors, labels = clouds
    tried = []

    class Guess:
        def __init__(self, C):
            self.C = C

        def predict(self, rows):
            return np.zeros(len(rows), int) if self.C == STRENGTHS[1] else np.full(len(rows), -1)

    def fit(vectors, labels, C, start, slope):
        tried.append(C)
        return Guess(C)

    monkeypatch.setattr(classify, "fit_logistic", fit)
    accuracies = cross_validate(vectors, labels)
    assert list(accuracies) == list(STRENGTHS[:4]) and accuracies[STRENGTHS[1]] == 0.25
    assert set(tried) == set(STRENGTHS[:4])
