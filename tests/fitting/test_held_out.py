import numpy as np
import pytest

from geomm_plugin.dictionary import RowPairs
from geomm_plugin.fit_report import FitReport
from geomm_plugin.fitting.held_out import (
    CrossFit,
    Fold,
    HeldOutHits,
    Pool,
    choose,
    divide,
    splits,
)
from geomm_plugin.fitting.induction import join_mutual
from geomm_plugin.mappers import Procrustes
from geomm_plugin.testing import make_toy

EDGE = ("en", "es")


def pairs_of(words, translations=1):
    source = np.repeat(np.arange(words), translations)
    return RowPairs(source, np.arange(words * translations))


@pytest.mark.parametrize(("words", "count"), [(9, 0), (10, 5), (400, 5), (1000, 3), (3000, 1)])
def test_small_dictionaries_are_divided_more_often(words, count):
    assert len(splits(pairs_of(words))) == count


def test_folds_hold_out_whole_words_and_every_word_once():
    pairs = pairs_of(100, translations=3)
    held = []
    for train, held_out in splits(pairs):
        assert not set(train.source) & set(held_out.source)
        assert len(train) + len(held_out) == len(pairs)
        held += held_out.target.tolist()
    assert sorted(held) == pairs.target.tolist()


def test_folds_do_not_depend_on_the_order_of_the_pairs():
    pairs = pairs_of(50, 2)
    turned = pairs.take(np.arange(len(pairs))[::-1])
    for (_, one), (_, other) in zip(splits(pairs), splits(turned), strict=True):
        assert sorted(one.target) == sorted(other.target)


def test_the_best_candidate_is_chosen_and_its_neighbours_were_tried():
    random = np.random.default_rng(0)
    x = random.normal(size=(300, 10)).astype(np.float32)
    noise = random.normal(size=(10, 10))

    def maps_of(candidate):
        return np.eye(10) + abs(candidate - 4) * noise, np.eye(10)

    trials = [(maps_of, Pool(x, x, held_out)) for _, held_out in splits(pairs_of(300))]
    choice = choose(range(1, 10), trials, default=1)
    assert choice.value == 4
    assert {1, 3, 4, 5, 7, 9} <= set(choice.scores)
    assert choice.scores[4] == 1


def test_precision_is_brute_force_csls_in_both_directions():
    random = np.random.default_rng(1)
    x = random.normal(size=(80, 6)).astype(np.float32)
    z = (x + 0.8 * random.normal(size=x.shape)).astype(np.float32)
    pairs = pairs_of(80).take(np.arange(0, 80, 3))
    unit_x, unit_z = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (x, z))
    cosines = unit_x @ unit_z.T
    csls = 2 * cosines
    csls -= np.sort(cosines, axis=1)[:, -10:].mean(axis=1)[:, None]
    csls -= np.sort(cosines, axis=0)[-10:].mean(axis=0)
    rows = pairs.source
    expected = np.mean([csls[rows].argmax(1) == rows, csls[:, rows].argmax(0) == rows])
    assert 0 < expected < 1
    assert np.isclose(Pool(x, z, pairs).precision(np.eye(6), np.eye(6)), expected)


def test_maps_that_are_not_finite_score_nothing():
    x = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    with np.errstate(all="ignore"):
        assert Pool(x, x, pairs_of(50)).precision(np.full((4, 4), np.nan), np.eye(4)) == 0


def as_set(pairs):
    return set(zip(pairs.source.tolist(), pairs.target.tolist(), strict=True))


def test_lambda_of_a_mapper_inside_is_chosen_by_the_dictionary_alone():
    rows = np.arange(40)
    joined = join_mutual(RowPairs(rows, rows), RowPairs(rows + 20, rows + 25))
    for train, held in splits(joined):
        assert as_set(held) <= {(n, n) for n in range(40)}
        assert not set(held.source.tolist()) & set(train.source.tolist())
        assert len(train) + len(held) <= len(joined)
    words = set().union(*(held.source.tolist() for _, held in splits(joined)))
    assert words == set(range(40))


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
    vectors = toy.views("unit", "center")
    folds = divide({EDGE: RowPairs(np.arange(600), np.arange(600))}, 0.2, seed=0)
    hits = CrossFit(vectors, folds).hits(Procrustes(), [fold.train for fold in folds])
    expected = [[], []]
    for fold in folds:
        maps = Procrustes().learn(vectors, fold.train, FitReport())
        pool = Pool(vectors["en"], vectors["es"], fold.held_out[EDGE])
        for masks, mask in zip(expected, pool.correct(maps["en"], maps["es"]), strict=True):
            masks.append(mask)
    expected = [np.concatenate(masks) for masks in expected]
    assert all(map(np.array_equal, hits.is_correct, expected))
    assert len(expected[0]) == 600 and 0 < hits.precision < 1
    assert hits.precision == pytest.approx(np.mean(expected))


def test_gains_are_paired():
    plain = np.arange(100) < 50
    won, mixed = plain.copy(), plain.copy()
    won[60:63] = True  # three won, none lost: the lead is 0.03, its standard error 0.017
    mixed[[0, 1, 60, 61, 62]] ^= True  # two words lost, three won
    gain, error = HeldOutHits([won, won]).gain(HeldOutHits([plain, plain]))
    assert gain == pytest.approx(0.03) and error == pytest.approx(np.sqrt(0.03 * 0.97 / 100))
    gain, error = HeldOutHits([mixed, mixed]).gain(HeldOutHits([plain, plain]))
    assert gain == pytest.approx(0.01) and error > gain
