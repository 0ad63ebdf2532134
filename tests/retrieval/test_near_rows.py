"""Lists of near rows from floors: what is listed is the nearest, and nothing nearer is left out."""

import numpy as np
import pytest

from geomm_plugin.arrays import Tiles
from geomm_plugin.normalize import unit
from geomm_plugin.retrieval import near_rows as module
from geomm_plugin.retrieval import shortlist
from geomm_plugin.retrieval.near_rows import LEAST_NEAR, near_rows
from geomm_plugin.work import compute_pool


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


def test_no_part_and_no_pool_changes_the_lists(monkeypatch):
    x, z = rows(900, 2), rows(1100, 3)
    whole = near_rows(x, z, 30)
    monkeypatch.setattr(module, "COLUMNS_A_PART", 128)
    parts = near_rows(x, z, 30)
    with compute_pool(3):
        divided = near_rows(x, z, 30)
    for one, other, more in zip(whole, parts, divided, strict=True):
        assert np.array_equal(np.sort(one, axis=1), np.sort(other, axis=1))
        assert np.array_equal(other, more)


def test_tiles_at_the_edge_are_whole(monkeypatch):
    x, z = rows(333, 4), rows(257, 5)
    whole = near_rows(x, z, 20)
    monkeypatch.setattr(module, "IN_CACHE", Tiles(100, 64))
    for one, other in zip(whole, near_rows(x, z, 20), strict=True):
        assert np.array_equal(np.sort(one, axis=1), np.sort(other, axis=1))


@pytest.mark.parametrize("side", ["source", "target", "both"])
def test_rows_that_are_all_equal_have_no_lists_but_a_shortlist(monkeypatch, side):
    monkeypatch.setattr(shortlist, "LEAST_ROWS", 1)
    x, z = rows(3000, 6), rows(3000, 7)
    if side != "target":
        x[:] = x[0]
    if side != "source":
        z[:] = z[0]
    assert near_rows(x, z, 30) is None
    best = shortlist.Shortlist.search(x, z).best(x, z)
    assert np.isfinite(best.forth_scores).all()


def test_zero_rows_are_listed_like_any_others():
    x, z = rows(1000, 8), rows(1000, 9)
    x[5], z[7] = 0, 0
    of_source, of_target = near_rows(x, z, 30)
    assert (of_source[5] >= 0).all() and (of_target[7] >= 0).all()
