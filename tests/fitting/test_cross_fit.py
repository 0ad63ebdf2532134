"""Cross-fitting: who is held out of which fit, and what the fits are judged by."""

import numpy as np
import pytest

from geomm_plugin.dictionary import RowPairs
from geomm_plugin.fit_report import FitReport
from geomm_plugin.fitting.cross_fit import CrossFit, Fold, Judgement, divide
from geomm_plugin.fitting.held_out import Pool
from geomm_plugin.mappers import Procrustes
from geomm_plugin.normalize import Normalizer
from geomm_plugin.testing import make_toy

EDGE = ("en", "es")


def as_set(pairs):
    return set(zip(pairs.source.tolist(), pairs.target.tolist(), strict=True))


def test_folds_are_by_source_word_and_spare_small_dictionaries():
    source = np.repeat(np.arange(600), 2)
    pairs = {
        ("a", "b"): RowPairs(source, np.arange(1200)),
        ("b", "c"): RowPairs(*[np.arange(99)] * 2),
    }
    folds = divide(pairs, 0.2, seed=0)
    assert len(folds) == 5
    for fold in folds:
        assert set(fold.held_out) == {("a", "b")}
        aside, kept = fold.held_out["a", "b"], fold.train["a", "b"]
        assert not set(aside.source) & set(kept.source)
        assert as_set(aside) | as_set(kept) == as_set(pairs["a", "b"])
        assert len(np.unique(aside.source)) == 120
        assert fold.train["b", "c"] is pairs["b", "c"]
    words = np.concatenate([np.unique(fold.held_out["a", "b"].source) for fold in folds])
    assert sorted(words) == list(range(600))  # each once


def test_at_least_one_word_is_held_out_and_none_of_small_dictionaries():
    rows = np.arange(600)
    large, small = ({EDGE: RowPairs(rows[:size], rows[:size])} for size in (600, 499))
    for fold in divide(large, 0.0005, 0):
        assert len(fold.held_out[EDGE]) == 1 and len(fold.train[EDGE]) == 599
    assert len(divide(large, 0.5, 0)) == 2 and len(divide(large, 0.2, 0, most=1)) == 1
    assert divide(large, 0.0, 0) == divide(small, 0.2, 0) == []


def test_induced_pairs_that_share_a_word_with_the_fold_are_left_out():
    fold = Fold({}, {EDGE: RowPairs(np.array([1, 2]), np.array([5, 6]))})
    induced = RowPairs(np.array([1, 3, 4, 7]), np.array([9, 6, 8, 1]), labels=np.arange(4.0))
    other = {("es", "it"): induced}
    apart = fold.without_held_out({EDGE: induced} | other)
    assert as_set(apart[EDGE]) == {(4, 8), (7, 1)} and apart[EDGE].labels.tolist() == [2, 3]
    assert apart["es", "it"] is induced


def test_every_word_is_judged_by_maps_that_never_saw_it():
    toy = make_toy(words=700, dimension=10, noise=0.9)
    rows = {name: value.vectors for name, value in toy.embeddings.items()}
    normalizer = Normalizer(("unit", "center")).fit(rows)
    vectors = {name: normalizer.view(name, value) for name, value in rows.items()}
    folds = divide({EDGE: RowPairs(np.arange(600), np.arange(600))}, 0.2, seed=0)
    judgement = CrossFit(vectors, folds).judge(Procrustes(), [fold.train for fold in folds])
    expected = [[], []]
    for fold in folds:
        maps = Procrustes().learn(vectors, fold.train, FitReport())
        pool = Pool(vectors["en"], vectors["es"], fold.held_out[EDGE])
        for masks, mask in zip(expected, pool.correct(maps["en"], maps["es"]), strict=True):
            masks.append(mask)
    expected = [np.concatenate(masks) for masks in expected]
    assert all(map(np.array_equal, judgement.is_correct, expected))
    assert len(expected[0]) == 600 and 0 < judgement.precision < 1
    assert judgement.precision == pytest.approx(np.mean(expected))


def test_gains_are_paired():
    plain = np.arange(100) < 50
    won, mixed = plain.copy(), plain.copy()
    won[60:63] = True  # three won, none lost: the lead is 0.03, its standard error 0.017
    mixed[[0, 1, 60, 61, 62]] ^= True  # two words lost, three won
    gain, error = Judgement([won, won]).gain(Judgement([plain, plain]))
    assert gain == pytest.approx(0.03) and error == pytest.approx(np.sqrt(0.03 * 0.97 / 100))
    gain, error = Judgement([mixed, mixed]).gain(Judgement([plain, plain]))
    assert gain == pytest.approx(0.01) and error > gain
