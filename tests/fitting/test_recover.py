import numpy as np

from geomm_plugin.fitting.recover import recovered_share
from geomm_plugin.normalize import unit


def clouds(seed=0, words=600, dimension=20):
    random = np.random.default_rng(seed)
    x = unit(random.normal(size=(words, dimension))).astype(np.float32)
    rotation = np.linalg.qr(random.normal(size=(dimension, dimension)))[0]
    return x, (x @ rotation).astype(np.float32), unit(random.normal(size=x.shape))


def test_translations_are_found_again():
    x, z, _ = clouds()
    everything = np.arange(len(x))
    assert recovered_share(x, z, everything, everything) == 1


def test_pairs_without_a_rotation_are_not():
    x, _, other = clouds()
    everything = np.arange(len(x))
    assert recovered_share(x, other.astype(np.float32), everything, everything) < 0.2


def test_too_few_pairs_recover_nothing():
    x, z, _ = clouds(words=5)
    assert recovered_share(x, z, np.array([0]), np.array([0])) == 0
