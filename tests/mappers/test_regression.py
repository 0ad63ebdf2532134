import numpy as np
import pytest

from geomm_plugin.mappers import Regression
from geomm_plugin.testing import make_toy


@pytest.fixture
def toy():
    return make_toy(dtype="float64", noise=0.3)


def test_regression_solves_the_ridge_equations(toy):
    mapper = toy.fit(Regression(regularization=2.5))
    x, z = toy.rows(mapper, "en", "es")
    W = mapper.W("en", "es")
    assert np.allclose(x.T @ (x @ W - z) + 2.5 * W, 0, atol=1e-9)
    singular = np.linalg.svd(W, compute_uv=False)
    for language in ("en", "es"):  # both sides carry the root of the metric
        A = mapper.matrices_[language]
        assert np.allclose(np.linalg.svd(A, compute_uv=False), np.sqrt(singular), atol=1e-9)
