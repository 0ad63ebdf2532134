import numpy as np
import pytest
from geomm_own_losses import GROUP, LogisticGeoMM, MaxMarginGeoMM, groups

from geomm_plugin import evaluate
from geomm_plugin.demo import load_demo
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.testing import check_mapper


@pytest.mark.parametrize("mapper", [LogisticGeoMM, MaxMarginGeoMM])
def test_contract(mapper):
    check_mapper(mapper, max_iterations=10)


@pytest.mark.parametrize("mapper", [LogisticGeoMM, MaxMarginGeoMM])
def test_the_loss_falls_and_real_words_are_translated(mapper):
    demo = load_demo()
    pair = ("en", "es")
    two = {language: demo.embeddings[language] for language in pair}
    fitted = mapper(max_iterations=20).fit(two, {pair: demo.train[pair]})
    assert fitted.report_.solver["all dictionaries"].cost < fitted.report_.extras["start"]["loss"]
    assert evaluate(fitted.map(two), *pair, demo.test[pair]).scores["p@1"] > 0.8


def test_every_pair_is_in_a_group():
    pairs = RowPairs(np.arange(300), np.arange(300) + 1000)
    i, j = groups(pairs, seed=0)
    assert i.shape == (3, GROUP)
    assert set(i.ravel()) == set(range(300))
    assert np.array_equal(j, i + 1000)
