"""The conditional logit: its gradient, what it learns, and what holds it back."""

import numpy as np
import pytest

from geomm_plugin.retrieval.rerank.logit import Choices, learn_weights


def choices_by(weights, scale=8.0, words=3000, seed=0):
    """Words that choose among 12 candidates by S + weights . f, at a scale."""
    generator = np.random.default_rng(seed)
    base = generator.standard_normal((words, 12)) * 0.2
    numbers = generator.random((words, 12, len(weights)))
    base[:, -1][::2] = -np.inf  # some have fewer
    utility = scale * (base + numbers @ np.array(weights))
    noisy = utility + generator.gumbel(size=utility.shape)
    is_correct = noisy == noisy.max(axis=1, keepdims=True)
    return Choices(base, numbers, is_correct, np.ones(words))


def test_weights_are_found_again():
    true = [0.6, -0.3]
    assert np.allclose(learn_weights(choices_by(true), np.zeros(2), 1e-6), true, atol=0.05)


def test_strength_holds_weights_to_the_fixed_ones():
    choices, fixed = choices_by([0.6, -0.3]), np.array([1.0, -0.5])
    distances = [
        np.abs(learn_weights(choices, fixed, strength) - fixed).max()
        for strength in (1e-6, 0.1, 1.0, 1e4)
    ]
    assert distances == sorted(distances, reverse=True) and distances[-1] < 1e-3


def test_a_number_that_never_differs_keeps_its_weight():
    choices = choices_by([0.6, -0.3])
    choices.numbers[:, :, 1] = 0
    learnt = learn_weights(choices, np.array([1.0, -0.5]), 0.1)
    assert learnt[1] == pytest.approx(-0.5, abs=1e-3)


def test_words_without_weight_teach_nothing():
    first, second = choices_by([0.6]), choices_by([-0.6], seed=1)
    second = Choices(second.base, second.numbers, second.is_correct, np.zeros(len(second)))
    together = learn_weights(Choices.joined([first, second]), np.zeros(1), 1e-6)
    assert np.allclose(together, learn_weights(first, np.zeros(1), 1e-6), atol=0.02)


def test_rows_of_different_lengths_are_filled_up():
    wide = choices_by([0.6])
    narrow = Choices(wide.base[:, :5], wide.numbers[:, :5], wide.is_correct[:, :5], wide.weights)
    joined = Choices.joined([wide, narrow])
    assert joined.base.shape == (6000, 12) and np.isneginf(joined.base[3000:, 5:]).all()
    assert not joined.is_correct[3000:, 5:].any() and joined.numbers.shape == (6000, 12, 1)
