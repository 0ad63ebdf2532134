import numpy as np
import pytest

from geomm_plugin.fitting.confirmation import agreement_of_pairs
from geomm_plugin.fitting.seeds.seed import weighted_pairs
from geomm_plugin.fitting.unsupervised import Stage, grow, rotation
from geomm_plugin.normalize import unit

WORDS, DIMENSION = 500, 60


@pytest.fixture
def clouds():
    random = np.random.default_rng(5)
    x = unit(random.normal(size=(WORDS, DIMENSION)) * np.linspace(2, 0.5, DIMENSION))
    turn = np.linalg.qr(random.normal(size=(DIMENSION, DIMENSION)))[0]
    z = unit(x @ turn + 0.02 * random.normal(size=x.shape))
    return x.astype(np.float32), z.astype(np.float32)


def poor_start(share, seed=0):
    """Pairs of the first 200 words, of which a share is right."""
    random = np.random.default_rng(seed)
    target = np.where(np.arange(200) < share * 200, np.arange(200), random.permutation(200))
    return weighted_pairs(np.arange(200), target, np.ones(200))


def test_a_poor_start_grows_into_a_dictionary_and_its_wrong_pairs_are_forgotten(clouds):
    x, z = clouds
    growth = grow(x, z, poor_start(0.3), rotation(x, z), Stage(WORDS, 20, 3))
    assert len(growth.pairs) > 0.95 * WORDS
    assert (growth.pairs.source == growth.pairs.target).mean() > 0.99
    assert np.allclose(growth.source @ growth.source.T, np.eye(DIMENSION), atol=1e-10)
    assert agreement_of_pairs(x, z, growth.pairs.source, growth.pairs.target) > 0.99


def test_clouds_that_have_nothing_in_common_are_told_from_those_that_do(clouds):
    x, _ = clouds
    z = unit(np.random.default_rng(9).normal(size=x.shape)).astype(np.float32)
    growth = grow(x, z, poor_start(0.3), rotation(x, z), Stage(WORDS, 20, 3))
    assert agreement_of_pairs(x, z, growth.pairs.source, growth.pairs.target) < 0.5


@pytest.mark.parametrize(("most", "least", "fits"), [(20, 4, 19), (2, 2, 2)])
def test_a_stage_ends_when_nothing_is_gained_or_its_rounds_are_over(clouds, most, least, fits):
    x, z = clouds
    rotate, fitted = rotation(x, z), []

    def counted(pairs):
        fitted.append(pairs)
        return rotate(pairs)

    grow(x, z, poor_start(1.0), counted, Stage(WORDS, most, 3))
    assert least <= len(fitted) <= fits


def test_only_the_words_of_the_stage_are_paired(clouds):
    x, z = clouds
    growth = grow(x, z, poor_start(1.0), rotation(x, z), Stage(100, 2, 3))
    assert growth.pairs.source.max() < 100 and growth.pairs.target.max() < 100
