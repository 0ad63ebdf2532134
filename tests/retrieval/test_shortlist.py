"""The shortlist of few directions: what it leaves out, and that all else is that of brute force."""

import numpy as np
import pytest

from geomm_plugin.normalize import unit
from geomm_plugin.registry import as_mapper
from geomm_plugin.retrieval import best_neighbors, shortlist
from geomm_plugin.retrieval.shortlist import Shortlist, principal_directions


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


def test_where_all_that_counts_is_listed_it_is_brute_force(monkeypatch):
    monkeypatch.setattr(shortlist, "LEAST_ROWS", 1)
    x, z = languages(60, 24, 0.5)  # lists of 30 rows, products of few directions
    monkeypatch.setattr(shortlist, "LISTED", 60)
    assert principal_directions(x, z, shortlist.LENGTH_SHARE).shape[1] < 12
    cosines = x.astype(float) @ z.T
    r_target = np.sort(cosines, axis=1)[:, -10:].mean(axis=1)
    r_source = np.sort(cosines, axis=0)[-10:].mean(axis=0)
    scores = 2 * cosines - r_target[:, None] - r_source
    best = Shortlist.search(x, z).best(x, z)
    assert np.array_equal(best.forth, scores.argmax(axis=1))
    assert np.array_equal(best.back, scores.argmax(axis=0))
    assert np.allclose(best.forth_scores, scores.max(axis=1), atol=1e-6)


@pytest.mark.parametrize("name", ["geomm", "geomm_plus:max_rounds=0"])
def test_nearly_all_mutual_pairs_of_real_words_are_covered(name, demo):
    embeddings = {language: demo.embeddings[language] for language in ("en", "es")}
    space = as_mapper(name).fit(embeddings, {("en", "es"): demo.train["en", "es"]}).map(embeddings)
    x, z = space.unit_vectors("en"), space.unit_vectors("es")
    directions = principal_directions(x, z, shortlist.LENGTH_SHARE)
    assert directions.shape[1] < 70, "few directions of 100"
    exact, cheap = best_neighbors(x, z), Shortlist.search(x, z).best(x, z)
    expected, covered = mutual_set(exact), mutual_set(cheap)
    assert len(expected & covered) > 0.99 * len(expected)
    assert len(covered - expected) < 0.01 * len(expected)
    same = exact.forth == cheap.forth
    assert same.mean() > 0.99
    assert np.median(np.abs(exact.forth_scores - cheap.forth_scores)) < 1e-5


def test_few_rows_need_no_list(monkeypatch):
    few = languages(200, 16, 0.5)
    assert Shortlist.search(*few) is None
    monkeypatch.setattr(shortlist, "LEAST_ROWS", 200)
    assert Shortlist.search(*few).of_source.shape == (200, 30)


def test_rows_of_later_maps_are_ranked_among_what_was_listed(monkeypatch):
    monkeypatch.setattr(shortlist, "LEAST_ROWS", 1)
    x, z = languages(200, 16, 0.7)
    listed = Shortlist.search(x, z)
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
