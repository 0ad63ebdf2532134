import numpy as np
import pytest

from geomm_plugin.evaluation.texts import (
    STRENGTHS,
    cross_validate,
    divide_evenly,
    fit_logistic,
    predict,
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
    assert ours[:-1].T == pytest.approx(theirs.coef_, abs=2e-3)
    assert (predict(ours, vectors) == theirs.predict(vectors)).all()


def test_a_start_changes_the_way_and_not_the_end(clouds):
    vectors, labels = clouds
    alone = fit_logistic(vectors, labels, 3.0)
    warm = fit_logistic(vectors, labels, 3.0, fit_logistic(vectors, labels, 0.1))
    assert warm[:-1] == pytest.approx(alone[:-1], abs=2e-3)


def test_every_fold_has_its_share_of_every_label():
    labels = np.repeat(np.arange(3), [25, 10, 7])
    fold = divide_evenly(labels, 5, seed=1)
    for label in range(3):
        counts = np.bincount(fold[labels == label], minlength=5)
        assert counts.max() - counts.min() <= 1 and counts.min() > 0


def test_the_accuracy_is_that_of_held_out_items(clouds):
    vectors, labels = clouds
    assert 0.5 < cross_validate(vectors, labels)[1] < 1
    noise = np.random.default_rng(1).permutation(labels)
    assert cross_validate(vectors, noise)[1] < 0.45


def test_the_smallest_of_equally_accurate_values_is_taken(clouds):
    vectors, labels = clouds
    accuracy = {C: cross_validate(vectors, labels, strengths=[C])[1] for C in STRENGTHS}
    best, highest = cross_validate(vectors, labels)
    assert highest == pytest.approx(accuracy[best], abs=0.02)
    assert cross_validate(vectors, labels, strengths=[best, best * (1 + 1e-9)])[0] == best


def test_no_larger_value_is_tried_after_two_worse_ones(clouds):
    vectors, labels = clouds
    strengths = [1.0, 1e-6, 2e-6, np.nan]  # almost no loss: a guess; the last cannot be fitted
    assert cross_validate(vectors[:130], labels[:130], strengths=strengths)[0] == 1.0
