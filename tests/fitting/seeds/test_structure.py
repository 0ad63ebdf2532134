import numpy as np
import pytest

from geomm_plugin.fitting.seeds.structure import factor, profiles


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_a_factor_has_the_power_of_the_kernel_as_its_inner_products(rotated, power):
    x = rotated[0].vectors.astype(np.float64)
    x = x - x.mean(axis=0)
    F = factor(rotated[0].vectors, power).astype(np.float64)
    product = F @ F.T
    squared = product @ product if power == 0.5 else product
    assert np.allclose(squared, x @ x.T, atol=1e-3 * np.abs(x @ x.T).max())


def test_profiles_are_the_same_after_a_rotation_and_move_with_their_words(rotated):
    x = rotated[0].vectors
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(20, 20)))[0].astype(np.float32)
    order = np.random.default_rng(1).permutation(len(x))
    one, other = profiles(factor(x), 50), profiles(factor(x[order] @ rotation), 50)
    assert np.allclose(one[order], other, atol=1e-3)
    assert not np.allclose(one, other, atol=1e-2)


def test_vectors_that_are_all_zero_have_a_zero_factor():
    assert not factor(np.zeros((5, 3), np.float32)).any()
