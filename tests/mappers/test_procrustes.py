import numpy as np
import pytest

from geomm_plugin.mappers import Procrustes
from geomm_plugin.testing import make_toy


@pytest.fixture
def toy():
    return make_toy(dtype="float64", noise=0.3)


def test_procrustes_is_orthogonal_and_no_rotation_is_nearer(toy):
    mapper = toy.fit(Procrustes())
    x, z = toy.rows(mapper, "en", "es")
    R = mapper.W("en", "es")
    assert np.allclose(R.T @ R, np.eye(12), atol=1e-10)
    best = np.linalg.norm(x @ R - z)
    random = np.random.default_rng(0)
    for size in (1e-3, 1e-1, 10):
        skew = random.normal(size=(12, 12)) * size
        other = R @ np.linalg.qr(np.eye(12) + skew - skew.T)[0]
        assert np.linalg.norm(x @ other - z) > best


def test_learn_pair_and_learn_edge_of_procrustes_agree(toy):
    mapper = toy.fit(Procrustes())
    assert np.allclose(
        mapper.learn_pair(*toy.rows(mapper, "en", "es")), mapper.W("en", "es"), atol=1e-9
    )
