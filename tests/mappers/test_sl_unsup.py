import numpy as np

from geomm_plugin.mappers.sl_unsup import SLUnsup, best_of_kept, neighborhood
from geomm_plugin.normalize import unit
from geomm_plugin.retrieval import best_neighbors


def clouds(words=300, dimension=30):
    random = np.random.default_rng(2)
    x = unit(random.normal(size=(words, dimension))).astype(np.float32)
    z = unit(x + 0.1 * random.normal(size=x.shape)).astype(np.float32)
    return x, z


def test_with_everything_kept_the_pairs_are_both_directions_best_by_csls():
    x, z = clouds()
    pairs, mean = best_of_kept(x, z, 1.0, np.random.default_rng(0))
    best = best_neighbors(x, z)
    assert np.array_equal(pairs.target[: len(x)], best.forth)
    assert np.array_equal(pairs.source[len(x) :], best.back)
    cosines = np.einsum("ij,ij->i", x[pairs.source], z[pairs.target])
    assert np.isclose(mean, cosines.mean(), atol=1e-5)


def test_what_is_dropped_changes_the_pairs_and_not_the_mean():
    x, z = clouds()
    everything = best_of_kept(x, z, 1.0, np.random.default_rng(0))
    few = best_of_kept(x, z, 0.1, np.random.default_rng(0))
    is_same = everything[0].target[: len(x)] == few[0].target[: len(x)]
    assert 0.03 < is_same.mean() < 0.3  # a tenth of the best are kept
    assert np.isclose(everything[1], few[1])


def test_neighborhood_is_the_mean_of_the_ten_nearest():
    x, z = clouds(words=50)
    expected = np.sort(x @ z.T, axis=1)[:, -10:].mean(axis=1)
    assert np.allclose(neighborhood(x, z), expected, atol=1e-6)


def test_a_poor_dictionary_is_mended_by_rounds():
    x, z = clouds()
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(30, 30)))[0].astype(np.float32)
    start, _ = best_of_kept(x, z, 0.4, np.random.default_rng(3))
    pairs = SLUnsup(words=300, patience=3).self_learn(x @ turn, z, start)
    assert (pairs.source == pairs.target).mean() > 0.95
