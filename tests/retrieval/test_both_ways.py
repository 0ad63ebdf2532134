"""The best both ways: a bonus of some pairs, lists of near rows, shortlists of few directions."""

import numpy as np
import pytest

from geomm_plugin.arrays import Tiles
from geomm_plugin.normalize import unit
from geomm_plugin.registry import as_mapper
from geomm_plugin.retrieval import CSLS, PairBonus, Retrieval, best_neighbors, mutual_neighbors
from geomm_plugin.retrieval.both_ways import (
    LEAST_NEAR,
    LENGTH_SHARE,
    Shortlist,
    near_rows,
    principal_directions,
)
from geomm_plugin.work import compute_pool


def brute_force(x, z, bonus, k=10):
    """Return CSLS of all pairs, and the same with the bonus."""
    cosines = (x @ z.T).astype(np.float64)
    r_target = np.sort(cosines, axis=1)[:, -k:].mean(axis=1)
    r_source = np.sort(cosines, axis=0)[-k:].mean(axis=0)
    csls = 2 * cosines - r_target[:, None] - r_source
    total = csls.copy()
    np.add.at(total, (bonus.source, bonus.target), bonus.bonus)
    return csls, total


@pytest.fixture
def clouds():
    random = np.random.default_rng(0)
    x, z = (unit(random.normal(size=(rows, 12))).astype(np.float32) for rows in (150, 130))
    cells = random.permutation(150 * 130)[:600]
    bonus = PairBonus(cells // 130, cells % 130, random.uniform(0, 1, 600))
    return x, z, bonus


def test_pairs_compete_with_their_bonus_and_are_returned_with_their_csls(clouds):
    x, z, bonus = clouds
    csls, total = brute_force(x, z, bonus)
    best = best_neighbors(x, z, bonus=bonus)
    assert np.array_equal(best.forth, total.argmax(axis=1))
    assert np.array_equal(best.back, total.argmax(axis=0))
    assert best.forth_scores == pytest.approx(csls[np.arange(150), best.forth], abs=1e-5)
    rows, columns, _ = mutual_neighbors(x, z, bonus=bonus)
    assert np.array_equal(total.argmax(axis=0)[columns], rows)
    assert not np.array_equal(best.forth, best_neighbors(x, z).forth)


def test_csls_finds_in_one_pass_what_two_searches_find(clouds):
    x, z, _ = clouds
    one, two = CSLS(k=5).both_ways(x, z, CSLS(k=5)), Retrieval.both_ways(CSLS(k=5), x, z, CSLS(k=5))
    for found, expected in zip(vars(one).values(), vars(two).values(), strict=True):
        assert np.array_equal(found, expected)


def test_no_bonus_changes_nothing(clouds):
    x, z, bonus = clouds
    plain = best_neighbors(x, z)
    for other in (PairBonus(bonus.source, bonus.target, 0 * bonus.bonus), bonus.within(0, 0)):
        best = best_neighbors(x, z, bonus=other)
        assert np.array_equal(best.forth, plain.forth) and np.array_equal(best.back, plain.back)


def test_only_pairs_among_the_first_rows_are_within(clouds):
    bonus = clouds[2]
    some = bonus.within(50, 40)
    inside = (bonus.source < 50) & (bonus.target < 40)
    assert 0 < len(some.bonus) == inside.sum() < 600
    assert some.source.max() < 50 and some.target.max() < 40


def rows(count, seed, dimension=16):
    return unit(np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32))


def assert_nearest(listed, products):
    """Whatever is listed is larger than all that is not."""
    for columns, values in zip(listed, products, strict=True):
        own = columns[columns >= 0]
        assert len(np.unique(own)) == len(own) >= LEAST_NEAR
        assert values[own].min() >= np.delete(values, own).max() - 1e-6  # equal but for rounding


@pytest.mark.parametrize(("sources", "targets"), [(700, 900), (3000, 400)])
@pytest.mark.parametrize("size", [12, 30])
def test_the_nearest_are_listed_both_ways(sources, targets, size):
    x, z = rows(sources, 0), rows(targets, 1)
    of_source, of_target = near_rows(x, z, size)
    assert of_source.shape == (sources, size) and of_target.shape == (targets, size)
    assert_nearest(of_source, x @ z.T)
    assert_nearest(of_target, z @ x.T)
    assert (of_source < 0).mean() < 0.02  # few lists are short


@pytest.mark.parametrize("dimension", [7, 16, 33, 79])
def test_equal_rows_at_a_floor_are_near(dimension):
    x, z = rows(1111, 10, dimension), rows(1300, 11, dimension)
    z[100:420:8], x[3:800:9] = z[0], x[1]
    x[50] = unit(z[:1] + rows(1, 12, dimension))[0]  # the equal ones are its 12 nearest
    of_source, of_target = near_rows(x, z, 14)
    assert_nearest(of_source, x @ z.T)
    assert_nearest(of_target, z @ x.T)


def test_no_part_and_no_pool_changes_the_lists():
    x, z = rows(900, 2), rows(1100, 3)
    whole = near_rows(x, z, 30)
    parts = near_rows(x, z, 30, part=128)
    with compute_pool(3):
        divided = near_rows(x, z, 30, part=128)
    for one, other, more in zip(whole, parts, divided, strict=True):
        assert np.array_equal(np.sort(one, axis=1), np.sort(other, axis=1))
        assert np.array_equal(other, more)


def test_tiles_at_the_edge_are_whole():
    x, z = rows(333, 4), rows(257, 5)
    whole = near_rows(x, z, 20)
    for one, other in zip(whole, near_rows(x, z, 20, tiles=Tiles(100, 64)), strict=True):
        assert np.array_equal(np.sort(one, axis=1), np.sort(other, axis=1))


@pytest.mark.parametrize("side", ["source", "target", "both"])
def test_rows_that_are_all_equal_have_no_lists_but_a_shortlist(side):
    x, z = rows(3000, 6), rows(3000, 7)
    if side != "target":
        x[:] = x[0]
    if side != "source":
        z[:] = z[0]
    assert near_rows(x, z, 30) is None
    best = Shortlist.search(x, z).best(x, z)
    assert np.isfinite(best.forth_scores).all()


def test_of_equal_listed_rows_the_first_one_is_best():
    x, z = rows(40, 5), rows(30, 6)
    z[20:] = z[:10]
    best = Shortlist.search(x, z, least_rows=1, listed=30).best(x, z)
    back = Shortlist.search(z, x, least_rows=1, listed=30).best(z, x)
    assert (best.forth < 20).all() and (back.back < 20).all()


def test_zero_rows_are_listed_like_any_others():
    x, z = rows(1000, 8), rows(1000, 9)
    x[5], z[7] = 0, 0
    of_source, of_target = near_rows(x, z, 30)
    assert (of_source[5] >= 0).all() and (of_target[7] >= 0).all()


def languages(count, dimension, decay, seed=0):
    """Make rows and noisy copies of them, shorter from direction to direction."""
    generator = np.random.default_rng(seed)
    lengths = decay ** np.arange(dimension)
    x = generator.standard_normal((count, dimension)) * lengths
    z = x + 0.2 * generator.standard_normal((count, dimension)) * lengths
    turn = np.linalg.qr(generator.standard_normal((dimension, dimension)))[0]
    return unit((x @ turn).astype(np.float32)), unit((z[::-1] @ turn).astype(np.float32))


def mutual_set(best):
    rows, columns, _ = best.mutual()
    return set(zip(rows.tolist(), columns.tolist(), strict=True))


def test_the_directions_are_the_fewest_that_keep_the_length():
    x, z = languages(300, 20, 0.8)
    directions = principal_directions(x, z, 0.9)
    rows = np.concatenate([x, z])
    kept = (rows @ directions) ** 2
    assert kept.sum() >= 0.9 * (rows**2).sum() > kept[:, :-1].sum()
    assert np.allclose(directions.T @ directions, np.eye(directions.shape[1]), atol=1e-5)


def test_where_all_that_counts_is_listed_it_is_brute_force():
    x, z = languages(60, 24, 0.5)  # lists of 30 rows, products of few directions
    assert principal_directions(x, z, LENGTH_SHARE).shape[1] < 12
    cosines = x.astype(float) @ z.T
    r_target = np.sort(cosines, axis=1)[:, -10:].mean(axis=1)
    r_source = np.sort(cosines, axis=0)[-10:].mean(axis=0)
    scores = 2 * cosines - r_target[:, None] - r_source
    best = Shortlist.search(x, z, listed=60, least_rows=1).best(x, z)
    assert np.array_equal(best.forth, scores.argmax(axis=1))
    assert np.array_equal(best.back, scores.argmax(axis=0))
    assert np.allclose(best.forth_scores, scores.max(axis=1), atol=1e-6)


@pytest.mark.parametrize("name", ["geomm", "geomm_plus:max_rounds=0"])
def test_nearly_all_mutual_pairs_of_real_words_are_covered(name, demo):
    embeddings = {language: demo.embeddings[language] for language in ("en", "es")}
    space = as_mapper(name).fit(embeddings, {("en", "es"): demo.train["en", "es"]}).map(embeddings)
    x, z = space.unit_vectors("en"), space.unit_vectors("es")
    directions = principal_directions(x, z, LENGTH_SHARE)
    assert directions.shape[1] < 70, "few directions of 100"
    exact, cheap = best_neighbors(x, z), Shortlist.search(x, z).best(x, z)
    expected, covered = mutual_set(exact), mutual_set(cheap)
    assert len(expected & covered) > 0.99 * len(expected)
    assert len(covered - expected) < 0.01 * len(expected)
    same = exact.forth == cheap.forth
    assert same.mean() > 0.99
    assert np.median(np.abs(exact.forth_scores - cheap.forth_scores)) < 1e-5


def test_few_rows_need_no_list():
    few = languages(200, 16, 0.5)
    assert Shortlist.search(*few) is None
    assert Shortlist.search(*few, least_rows=200).of_source.shape == (200, 30)


def test_rows_of_later_maps_are_ranked_among_what_was_listed():
    x, z = languages(200, 16, 0.7)
    listed = Shortlist.search(x, z, least_rows=1)
    stretched = np.diag(np.linspace(0.5, 1.5, 16)).astype(np.float32)
    x, z = unit(x @ stretched), unit(z @ stretched)
    cosines = x.astype(float) @ z.T
    forth_listed = np.take_along_axis(cosines, listed.of_source, axis=1)
    back_listed = np.take_along_axis(cosines.T, listed.of_target, axis=1)
    r_target = np.sort(forth_listed, axis=1)[:, -10:].mean(axis=1)
    r_source = np.sort(back_listed, axis=1)[:, -10:].mean(axis=1)
    scores = 2 * cosines - r_target[:, None] - r_source
    forth, back = np.full(scores.shape, -np.inf), np.full(scores.shape, -np.inf)
    np.put_along_axis(forth, listed.of_source, 0, axis=1)
    np.put_along_axis(back.T, listed.of_target, 0, axis=1)
    best = listed.best(x, z)
    assert np.array_equal(best.forth, (scores + forth).argmax(axis=1))
    assert np.array_equal(best.back, (scores + back).argmax(axis=0))
    assert np.allclose(best.forth_scores, (scores + forth).max(axis=1), atol=1e-6)
