"""The conditional logit: its gradient, what it learns, and what holds it back."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from geomm_plugin.retrieval.rerank.logit import Choices, Weights, learn_weights


def choices_by(weights, scale=8.0, words=3000, seed=0, columns=()):
    """Words that choose among 12 candidates by S + weights . f + columns . e, at a scale."""
    generator = np.random.default_rng(seed)
    base = generator.standard_normal((words, 12)) * 0.2
    numbers = generator.random((words, 12, len(weights)))
    table = (generator.random((words * 12, len(columns))) < 0.2).astype(np.float32)
    base[:, -1][::2] = -np.inf  # some have fewer
    sparse = (table @ np.array(columns, float)).reshape(words, 12)
    utility = scale * (base + numbers @ np.array(weights) + sparse)
    noisy = utility + generator.gumbel(size=utility.shape)
    is_correct = noisy == noisy.max(axis=1, keepdims=True)
    return Choices(base, numbers, csr_array(table), is_correct, np.zeros(words))


def learn(choices, prior, strength):
    columns = np.zeros(choices.table.shape[1])
    return learn_weights(choices, Weights(10.0, np.array(prior), columns), strength, strength)


def test_weights_are_found_again():
    true = [0.6, -0.3]
    assert np.allclose(learn(choices_by(true), [0.0, 0.0], 1e-6).numbers, true, atol=0.05)


def test_weights_of_columns_are_found_again():
    found = learn(choices_by([0.6], columns=[0.4, -0.2]), [0.0], 1e-6)
    assert np.allclose(found.columns, [0.4, -0.2], atol=0.05)
    assert np.allclose(found.numbers, [0.6], atol=0.05)


def test_strength_holds_weights_to_their_prior():
    choices, prior = choices_by([0.6, -0.3], columns=[0.4]), np.array([1.0, -0.5])
    found = [learn(choices, prior, strength) for strength in (100.0, 1e4, 1e6, 1e8)]
    away = [np.abs(each.t * each.numbers - 10 * prior).max() for each in found]
    assert away == sorted(away, reverse=True) and away[-1] < 1e-3
    assert abs(found[-1].columns[0]) < 1e-3 < abs(found[0].columns[0])


def test_a_number_that_never_differs_keeps_its_weight():
    choices = choices_by([0.6, -0.3])
    choices.numbers[:, :, 1] = 0
    found = learn(choices, [1.0, -0.5], 0.1)
    assert found.t * found.numbers[1] == pytest.approx(-5.0, abs=1e-3)


def test_words_without_an_answer_teach_nothing():
    choices = choices_by([0.6])
    mute = choices_by([-0.6], seed=1)
    mute.is_correct[:] = False
    together = learn(Choices.joined([choices, mute]), [0.0], 0.1)
    assert np.array_equal(together.numbers, learn(choices, [0.0], 0.1).numbers)


def test_rows_of_different_lengths_are_filled_up():
    wide = choices_by([0.6], columns=[0.5])
    rows = (np.arange(3000)[:, None] * 12 + np.arange(5)).ravel()
    narrow = Choices(
        wide.base[:, :5],
        wide.numbers[:, :5],
        wide.table[rows],
        wide.is_correct[:, :5],
        wide.log_ranks,
    )
    joined = Choices.joined([wide, narrow])
    assert joined.base.shape == (6000, 12) and np.isneginf(joined.base[3000:, 5:]).all()
    assert not joined.is_correct[3000:, 5:].any() and joined.numbers.shape == (6000, 12, 1)
    table = joined.table.toarray().reshape(6000, 12)
    assert np.array_equal(table[3000:, :5], wide.table.toarray().reshape(3000, 12)[:, :5])
    assert not table[3000:, 5:].any()
    again = joined.take(np.arange(3000, 6000))
    weights = Weights(1.0, np.array([0.3]), np.array([0.2]))
    assert np.array_equal(weights.scores(again)[:, :5], weights.scores(narrow))
