import numpy as np

from geomm_plugin.factorization import polar
from geomm_plugin.fitting.seeds.wasserstein import Wasserstein, relaxed_rotation
from geomm_plugin.normalize import unit


def clouds():
    random = np.random.default_rng(0)
    x = unit(random.normal(size=(300, 12)) * np.linspace(2, 0.5, 12)).astype(np.float32)
    rotation = np.linalg.qr(random.normal(size=(12, 12)))[0].astype(np.float32)
    return x, x @ rotation, rotation, random


def test_stochastic_steps_turn_a_rough_start_onto_the_target():
    x, z, rotation, random = clouds()
    tilt = 0.15 * random.normal(size=(12, 12))
    start = polar(rotation @ (np.eye(12) + tilt - tilt.T)).astype(np.float32)
    turned = Wasserstein(steps=40, batch=200).rotate(x, z, start)
    assert np.allclose(turned @ turned.T, np.eye(12), atol=1e-4)
    before, after = np.linalg.norm(start - rotation), np.linalg.norm(turned - rotation)
    assert after < 0.3 * before


def test_the_seed_decides_what_is_drawn():
    x, z, rotation, _ = clouds()
    one, same, other = (
        Wasserstein(steps=2, batch=50, seed=seed).rotate(x, z, rotation) for seed in (0, 0, 1)
    )
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_the_relaxation_returns_a_rotation(rotated):
    x, z = (unit(language.vectors) for language in rotated)
    rotation = relaxed_rotation(x, z)
    assert np.allclose(rotation @ rotation.T, np.eye(20), atol=1e-4)


def test_the_relaxation_comes_near_a_rotation_whatever_the_order_of_the_words():
    random = np.random.default_rng(1)
    skewed = random.normal(size=(300, 12)) * np.linspace(2, 0.5, 12) + 0.8 * random.normal(size=12)
    x = unit(skewed).astype(np.float32)
    rotation = np.linalg.qr(random.normal(size=(12, 12)))[0].astype(np.float32)
    z = (x @ rotation)[random.permutation(len(x))]
    assert np.linalg.norm(relaxed_rotation(x, z) - rotation) < 1.5  # a random one: about 5
