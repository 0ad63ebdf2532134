import numpy as np

from geomm_plugin.dictionary import RowPairs
from geomm_plugin.moments import Moments, cross, gram

RANDOM = np.random.default_rng(0)
X, Z = RANDOM.normal(size=(12, 5)), RANDOM.normal(size=(9, 4))
SOURCE, TARGET = np.array([3, 3, 7, 1]), np.array([0, 2, 2, 8])
WEIGHT = np.array([0.5, 1.5, 2.0, 0.25])


def test_without_weights_they_are_those_of_the_labels():
    found = Moments.of(X, Z, RowPairs(SOURCE, TARGET))
    labels = np.zeros((12, 9))
    labels[SOURCE, TARGET] = 1
    x, z = np.isin(np.arange(12), SOURCE), np.isin(np.arange(9), TARGET)
    assert np.allclose(found.source, X[x].T @ X[x])
    assert np.allclose(found.target, Z[z].T @ Z[z])
    assert np.allclose(found.cross, X.T @ labels @ Z)


def test_a_weight_counts_a_pair_so_often():
    twice = RowPairs(np.append(SOURCE, 7), np.append(TARGET, 2))
    weighted = RowPairs(SOURCE, TARGET, weight=np.array([1.0, 1.0, 2.0, 1.0]))
    assert np.allclose(cross(X, Z, weighted), cross(X, Z, twice))
    assert np.allclose(gram(X, SOURCE, weighted.weight), gram(X, twice.source))


def test_a_word_counts_by_the_root_of_the_mean_weight_of_its_pairs():
    found = Moments.of(X, Z, RowPairs(SOURCE, TARGET, weight=WEIGHT))
    by_word = {3: 1.0, 7: 2.0**0.5, 1: 0.5}
    assert np.allclose(found.source, sum(w * np.outer(X[n], X[n]) for n, w in by_word.items()))
    # One pair a word: it is the loss of the vectors, each times the fourth root of the weight.
    alone = RowPairs(SOURCE[1:], TARGET[[0, 1, 3]], weight=WEIGHT[1:])
    root = WEIGHT[1:, None] ** 0.25
    x, z = X[alone.source] * root, Z[alone.target] * root
    found = Moments.of(X, Z, alone)
    assert np.allclose(found.source, x.T @ x) and np.allclose(found.target, z.T @ z)
    assert np.allclose(found.cross, (x * root).T @ (z * root))


def test_weights_follow_their_pairs():
    pairs = RowPairs(SOURCE, TARGET, weight=WEIGHT)
    assert np.allclose(cross(Z, X, pairs.reverse()), cross(X, Z, pairs).T)
    assert pairs.take(np.array([2, 0])).weight.tolist() == [2.0, 0.5]
