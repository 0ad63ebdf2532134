import numpy as np
import pytest

from geomm_plugin.dictionary import RowPairs
from geomm_plugin.errors import LanguagesError
from geomm_plugin.fitting.moments import Moments, cross

RANDOM = np.random.default_rng(0)
X, Z = RANDOM.normal(size=(12, 5)), RANDOM.normal(size=(9, 4))
SOURCE, TARGET = np.array([3, 3, 7, 1]), np.array([0, 2, 2, 8])
LABELS = np.array([0.5, 1.5, 2.0, 0.25])


def built(labels):
    """Return Y."""
    y = np.zeros((len(X), len(Z)))
    y[SOURCE, TARGET] = labels
    return y


def test_moments_are_those_of_the_loss_with_all_labels_built():
    x, z = np.unique(SOURCE), np.unique(TARGET)
    for labels in (None, LABELS):
        y = built(1 if labels is None else labels)
        found = Moments.of(X, Z, RowPairs(SOURCE, TARGET, labels=labels))
        assert np.allclose(found.source, X[x].T @ X[x])
        assert np.allclose(found.target, Z[z].T @ Z[z])
        assert np.allclose(found.cross, X.T @ y @ Z)


def test_a_label_of_two_is_the_pair_twice():
    twice = RowPairs(np.append(SOURCE, 7), np.append(TARGET, 2))
    labelled = RowPairs(SOURCE, TARGET, labels=np.array([1.0, 1.0, 2.0, 1.0]))
    assert np.allclose(cross(X, Z, labelled), cross(X, Z, twice))


def test_labels_follow_their_pairs():
    pairs = RowPairs(SOURCE, TARGET, labels=LABELS)
    assert np.allclose(cross(Z, X, pairs.reverse()), cross(X, Z, pairs).T)
    assert pairs.take(np.array([2, 0])).label().tolist() == [2.0, 0.5]
    assert RowPairs(SOURCE, TARGET).take(np.array([2, 0])).label().tolist() == [1.0, 1.0]


def test_vectors_too_large_to_be_multiplied_are_refused():
    with pytest.raises(LanguagesError, match="too large to be multiplied"):
        Moments.of(X * 1e200, Z, RowPairs(SOURCE, TARGET))
    with pytest.raises(LanguagesError, match="too large to be multiplied"):
        cross(X * 1e200, Z * 1e200, RowPairs(SOURCE, TARGET))
