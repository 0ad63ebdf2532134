import numpy as np
import pytest

from geomm_plugin.mappers import Procrustes, RotationOnly
from geomm_plugin.mappers.geomm import cost_of
from geomm_plugin.testing import make_toy


@pytest.fixture
def toy():
    return make_toy(dtype="float64", noise=0.3)


def test_rotation_only_is_orthogonal_and_no_worse_than_procrustes_on_its_own_loss(toy, moments_of):
    mapper, start = toy.fit(RotationOnly()), toy.fit(Procrustes())
    R = mapper.W("en", "es")
    assert np.allclose(R.T @ R, np.eye(12), atol=1e-8)
    moments = moments_of(toy, mapper)
    assert cost_of(moments, R, 0) < cost_of(moments, start.W("en", "es"), 0)
