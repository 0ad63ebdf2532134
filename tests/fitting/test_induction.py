"""Inducing a dictionary: against brute force, and what is joined."""

import numpy as np
import pytest

from geomm_plugin.dictionary import RowPairs
from geomm_plugin.fitting.induction import induce, join_all, join_mutual, sure_pairs
from geomm_plugin.testing import make_toy


def as_set(pairs):
    return set(zip(pairs.source.tolist(), pairs.target.tolist(), strict=True))


def brute_force_csls(x, z, k=10):
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    z = z / np.linalg.norm(z, axis=1, keepdims=True)
    cosines = x @ z.T
    r_target = np.sort(cosines, axis=1)[:, -k:].mean(axis=1)
    r_source = np.sort(cosines, axis=0)[-k:].mean(axis=0)
    return 2 * cosines - r_target[:, None] - r_source


def test_induced_pairs_are_those_of_brute_force():
    toy = make_toy(words=150, dimension=8, noise=0.8)
    vectors, words = toy.views("unit"), 100
    random = np.random.default_rng(0)
    maps = {name: random.normal(size=(8, 8)) for name in vectors}
    x, z = (vectors[name][:words].astype(float) @ maps[name] for name in ("en", "es"))
    scores = brute_force_csls(x, z)
    forth, back = scores.argmax(axis=1), scores.argmax(axis=0)
    mutual = {(i, int(j)) for i, j in enumerate(forth) if back[j] == i}

    found = induce(vectors, maps, [("en", "es")], words, "mutual")
    assert as_set(found.pairs["en", "es"]) == mutual
    expected = np.mean([scores[pair] for pair in mutual])
    assert found.mean_csls == pytest.approx(expected, abs=1e-5)
    pairs = found.pairs["en", "es"]
    sure = np.maximum(scores[pairs.source, pairs.target], 1e-3)
    assert np.allclose(pairs.labels, sure / sure.mean(), atol=1e-3)

    union = induce(vectors, maps, [("en", "es")], words, "union")
    pairs = union.pairs["en", "es"]
    assert len(pairs) == 2 * words and pairs.labels is None
    both = {(i, int(j)) for i, j in enumerate(forth)} | {(int(i), j) for j, i in enumerate(back)}
    assert as_set(pairs) == both
    assert union.mean_csls == pytest.approx(expected, abs=1e-5)


def test_joining_counts_once_or_twice():
    one = RowPairs(np.array([0, 1, 2]), np.array([5, 6, 7]))
    other = RowPairs(np.array([2, 3]), np.array([7, 8]))
    assert len(join_mutual(one, other)) == 4
    assert len(join_all(one, other)) == 5
    assert (
        as_set(join_mutual(one, other))
        == as_set(join_all(one, other))
        == as_set(one) | as_set(other)
    )


def test_induced_pairs_are_labelled_by_their_csls_and_the_dictionary_by_one():
    rows = np.array([0, 1, 5])
    found, mean = sure_pairs(rows, np.array([0, 1, 6]), np.array([0.1, 0.3, -0.2]))
    assert np.allclose(found.labels, np.array([0.1, 0.3, 0.001]) * 3 / 0.401)
    assert mean == pytest.approx(0.2 / 3)
    assert sure_pairs(rows[:0], rows[:0], np.empty(0)).mean_csls == -1
    dictionary = RowPairs(np.array([5, 0]), np.array([5, 0]))
    both = join_mutual(dictionary, found)
    label_of = dict(zip(zip(both.source, both.target, strict=True), both.label(), strict=True))
    expected = {(0, 0): 1.0, (1, 1): found.labels[1], (5, 5): 1.0, (5, 6): found.labels[2]}
    assert label_of == expected
