import numpy as np
import pytest

from geomm_plugin.fit_report import ALL_DICTIONARIES
from geomm_plugin.mappers import MetricOnly
from geomm_plugin.mappers.geomm import cost_of
from geomm_plugin.testing import make_toy


@pytest.fixture
def toy():
    return make_toy(dtype="float64", noise=0.3)


def test_metric_only_shares_one_positive_metric_that_nothing_nearby_beats(toy, moments_of):
    mapper = toy.fit(MetricOnly(regularization=3.0))
    B = mapper.W("en", "es")
    assert np.allclose(B, B.T) and np.linalg.eigvalsh(B).min() > -1e-12
    assert np.array_equal(mapper.matrices_["en"], mapper.matrices_["es"])
    moments = moments_of(toy, mapper)
    best = cost_of(moments, B, 3.0)
    random = np.random.default_rng(0)
    for size in (1e-3, 1e-2):
        step = random.normal(size=(12, 12)) * size * np.abs(B).max()
        values, vectors = np.linalg.eigh(B + step + step.T)
        other = (vectors * np.maximum(values, 0)) @ vectors.T
        assert cost_of(moments, other, 3.0) > best


def test_lambda_is_chosen_on_held_out_words_and_grows_with_the_dictionaries():
    mapper = make_toy(("en", "es", "it"), noise=0.3).fit(MetricOnly())
    choice = mapper.report_.regularization[ALL_DICTIONARIES]
    assert choice.scores[choice.value] == max(choice.scores.values())
    assert {value / 2 for value in choice.scores} <= set(MetricOnly.candidates)
