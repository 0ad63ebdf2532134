import numpy as np
import pytest

from geomm_plugin.dictionary import RowPairs
from geomm_plugin.fitting.held_out import Pool, Trial, choose, folds
from geomm_plugin.fitting.induction import join_mutual


def pairs_of(words, translations=1):
    source = np.repeat(np.arange(words), translations)
    return RowPairs(source, np.arange(words * translations))


@pytest.mark.parametrize(("words", "count"), [(9, 0), (10, 5), (400, 5), (1000, 3), (3000, 1)])
def test_small_dictionaries_are_divided_more_often(words, count):
    assert len(folds(pairs_of(words))) == count


def test_folds_hold_out_whole_words_and_every_word_once():
    pairs = pairs_of(100, translations=3)
    held = []
    for train, held_out in folds(pairs):
        assert not set(train.source) & set(held_out.source)
        assert len(train) + len(held_out) == len(pairs)
        held += held_out.target.tolist()
    assert sorted(held) == pairs.target.tolist()


def test_folds_do_not_depend_on_the_order_of_the_pairs():
    pairs = pairs_of(50, 2)
    turned = pairs.take(np.arange(len(pairs))[::-1])
    for (_, one), (_, other) in zip(folds(pairs), folds(turned), strict=True):
        assert sorted(one.target) == sorted(other.target)


def test_the_best_candidate_is_chosen_and_its_neighbours_were_tried():
    random = np.random.default_rng(0)
    x = random.normal(size=(300, 10)).astype(np.float32)
    noise = random.normal(size=(10, 10))

    def maps_of(candidate):
        return np.eye(10) + abs(candidate - 4) * noise, np.eye(10)

    trials = [Trial(maps_of, Pool(x, x, held_out)) for _, held_out in folds(pairs_of(300))]
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
    for train, held in folds(joined):
        assert as_set(held) <= {(n, n) for n in range(40)}
        assert not set(held.source.tolist()) & set(train.source.tolist())
        assert len(train) + len(held) <= len(joined)
    words = set().union(*(held.source.tolist() for _, held in folds(joined)))
    assert words == set(range(40))
