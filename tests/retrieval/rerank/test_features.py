"""The built-in features, each on its own."""

import sys

import numpy as np
import pytest

from geomm_plugin import registry
from geomm_plugin.errors import MissingExtraError
from geomm_plugin.normalize import unit
from geomm_plugin.retrieval import CSLS, UnitRows
from geomm_plugin.retrieval.rerank import (
    Base,
    EditSimilarity,
    Endings,
    Frequency,
    Identical,
    Known,
    LearntLetters,
    Length,
    Residual,
)
from geomm_plugin.retrieval.rerank.ngrams import Ngrams
from geomm_plugin.testing import check_feature


@pytest.mark.parametrize("name", list(registry.features))
def test_every_feature_keeps_the_contract(name):
    if name == "edit":
        pytest.importorskip("rapidfuzz")
    check_feature(registry.features[name])


def test_the_contract_finds_what_is_broken():
    class Forgetful(Frequency):
        def values(self, queries, targets):
            return super().values(queries, targets)[:, :, :1]

    class Crowded(Frequency):
        def values(self, queries, targets):
            return super().values(queries, targets) + len(queries)

    with pytest.raises(AssertionError, match="must have the shape"):
        check_feature(Forgetful)
    with pytest.raises(AssertionError, match="must not depend on the other pairs"):
        check_feature(Crowded)


@pytest.fixture
def languages():
    generator = np.random.default_rng(0)
    source, target = (unit(generator.standard_normal((40, 6)).astype(np.float32)) for _ in "xz")
    return (
        UnitRows(source, [f"x{i}" for i in range(40)]),
        UnitRows(target, [f"z{i}" for i in range(40)]),
    )


def make(kind, languages, pairs=()):
    rows = np.array(pairs, np.intp).reshape(-1, 2)
    return kind(*languages, Base(CSLS(), CSLS().index(*languages), rows))


def test_edit_is_one_minus_the_share_of_changed_letters(languages):
    pytest.importorskip("rapidfuzz")
    source, target = languages
    target.words[:3] = ["kitten", "Kittén", "sitting"]
    queries = UnitRows(source.all()[:1], ["kitten"])
    values = make(EditSimilarity, (source, target)).values(queries, np.array([[0, 1, 2]]))
    assert values[0, :, 0].tolist() == pytest.approx([1, 1, 1 - 3 / 7])


def test_edit_needs_rapidfuzz(languages, monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance", None)
    with pytest.raises(MissingExtraError, match=r'pip install "geomm-plugin\[letters\]"'):
        make(EditSimilarity, languages).values(languages[0].take(slice(1)), np.array([[0]]))


def test_frequency_is_the_distance_of_log_ranks(languages):
    queries = UnitRows(languages[0].all()[:2], ["x9", "unseen"])
    values = make(Frequency, languages).values(queries, np.array([[0, 9, 39]] * 2))
    assert values[0, :, 0].tolist() == pytest.approx([np.log(10), 0, np.log(4)])
    assert not values[1, :, 0].any()
    assert values[1, :, 1].tolist() == pytest.approx([0, np.log(10), np.log(40)])


def test_learnt_letters_are_a_kernel_ridge_regression(languages):
    source, target = languages
    source.words[:] = [f"{stem}tion" for stem in "abcdefghijklmnopqrstuvwxyz"] + [
        f"{stem}ly" for stem in "abcdefghijklmn"
    ]
    target.words[:] = [word.replace("tion", "cion").replace("ly", "mente") for word in source.words]
    pairs = [(row, row) for row in (*range(0, 20), *range(26, 36))]
    every = np.tile(np.arange(40), (40, 1))
    found = make(LearntLetters, (source, target), pairs).values(source, every)[:, :, 0]
    ngrams, known = Ngrams.of(source.words, target.words), [x for x, _ in pairs]
    own, other = (ngrams.rows(rows.words).toarray().astype(float) for rows in (source, target))
    kernel = own[known] @ own[known].T + 0.3 * np.eye(len(known))
    beta = np.linalg.solve(kernel, own[known] @ own.T).T
    assert np.allclose(found, beta @ (other[known] @ other.T), atol=1e-4)
    held_out = range(20, 26)
    assert all(found[row, 20:26].mean() > found[row, 36:40].mean() for row in held_out)


def test_the_residual_is_a_kernel_ridge_regression(languages):
    source, target = languages
    pairs = [(0, 3), (0, 5), (1, 1), (2, 7), (30, 8)]
    every = np.tile(np.arange(40), (40, 1))
    found = make(Residual, languages, pairs).values(source, every)[:, :, 0]
    x, z = source.all().astype(float), target.all().astype(float)
    known = [0, 1, 2, 30]
    means = np.stack([(z[3] + z[5]) / 2, z[1], z[7], z[8]])
    kernel = np.exp(4 * (x[known] @ x[known].T - 1)) + np.eye(4)
    shift = np.exp(4 * (x @ x[known].T - 1)) @ np.linalg.solve(kernel, means - x[known])
    assert np.allclose(found, shift @ z.T, atol=1e-4)


def test_the_dictionary_says_which_translations_are_taken_and_by_whom(languages):
    source, _ = languages
    found = make(Known, languages, [(4, 9), (6, 9), (7, 2)]).values(
        source.select(slice(2)), np.array([[9, 2, 3], [3, 9, 9]])
    )
    cosines = source.all().astype(float) @ source.all().T
    assert found[:, :, 0].tolist() == [[1, 1, 0], [0, 1, 1]]
    best = [max(cosines[row, 4], cosines[row, 6]) for row in (0, 1)]
    assert np.allclose(found[0, :, 1], [best[0], cosines[0, 7], 0], atol=1e-6)
    assert np.allclose(found[1, :, 1], [0, best[1], best[1]], atol=1e-6)


def test_identical_and_length_are_of_the_words_alone(languages):
    source, target = languages
    target.words[:3] = ["x0", "x0abc", "Xo"]
    queries = source.select(slice(1))
    targets = np.array([[0, 1, 2]])
    assert make(Identical, languages).values(queries, targets).ravel().tolist() == [1, 0, 0]
    expected = [0, np.log(6 / 3), 0]
    assert np.allclose(make(Length, languages).values(queries, targets).ravel(), expected)


def test_endings_learnt_in_one_direction_hold_in_the_other(languages):
    source, target = languages
    weights = np.random.default_rng(1).standard_normal(Endings.columns)
    every = np.tile(np.arange(40), (40, 1))
    forth, back = make(Endings, (source, target)), make(Endings, (target, source))
    forth.learn(weights, False)
    back.learn(weights, True)
    there = forth.values(source, every)[:, :, 0]
    alone = there - back.values(target, every)[:, :, 0].T  # of the target's endings alone
    assert np.allclose(alone, alone[:1], atol=1e-4)
