import numpy as np
import pytest

from geomm_plugin.embeddings import Embeddings
from geomm_plugin.factorization import orthonormal_columns
from geomm_plugin.mappers import Procrustes, RotationOnly
from geomm_plugin.mappers.geomm import cost_of
from geomm_plugin.testing import Toy, make_toy


@pytest.fixture
def toy():
    return make_toy(dtype="float64", noise=0.3)


def test_rotation_only_is_orthogonal_and_no_worse_than_procrustes_on_its_own_loss(toy, moments_of):
    mapper, start = toy.fit(RotationOnly()), toy.fit(Procrustes())
    R = mapper.W("en", "es")
    assert np.allclose(R.T @ R, np.eye(12), atol=1e-8)
    moments = moments_of(toy, mapper)
    assert cost_of(moments, R, 0) < cost_of(moments, start.W("en", "es"), 0)


def test_it_ends_where_no_small_turn_lowers_the_loss(toy, moments_of):
    mapper = toy.fit(RotationOnly(tolerance=1e-9))
    R, moments = mapper.W("en", "es"), moments_of(toy, mapper)
    slope = R.T @ (moments.source @ R @ moments.target - moments.cross)
    assert np.linalg.norm(slope - slope.T) < 1e-6 * np.linalg.norm(slope + slope.T)
    assert "fell to 1e-09" in mapper.report_.solver["en-es"].stopped
    random = np.random.default_rng(0)
    best = cost_of(moments, R, 0)
    for size in (1e-3, 1e-2):
        turn = size * random.normal(size=R.shape)
        other = R @ np.linalg.solve(np.eye(12) - (turn - turn.T), np.eye(12) + (turn - turn.T))
        assert cost_of(moments, other, 0) > best


def test_where_it_ends_does_not_depend_on_the_coordinates(toy):
    turns = {
        name: orthonormal_columns(np.random.default_rng(n).normal(size=(12, 12)))
        for n, name in enumerate(("en", "es"))
    }
    turned = Toy(
        {
            name: Embeddings(own.words, own.vectors @ turns[name])
            for name, own in toy.embeddings.items()
        },
        toy.dictionaries,
    )
    R, other = (each.fit(RotationOnly()).W("en", "es") for each in (toy, turned))
    assert np.allclose(turns["en"] @ other @ turns["es"].T, R, atol=1e-5)


def test_a_search_that_is_cut_short_says_where_it_stopped(toy):
    stopped = toy.fit(RotationOnly(max_iterations=2)).report_.solver["en-es"].stopped
    assert "limit of 2 steps" in stopped and "of its first size" in stopped
