import numpy as np
import pytest

from geomm_plugin.embeddings import Embeddings
from geomm_plugin.factorization import polar
from geomm_plugin.fitting.confirmation import cognate_precision
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


def test_the_relaxation_needs_no_mean_direction():
    random = np.random.default_rng(2)
    centers = random.normal(size=(9, 12)) * np.linspace(2, 0.5, 12)
    x = centers[random.integers(9, size=300)] + random.exponential(size=(300, 12))
    for _ in range(20):  # centered words of unit length
        x = unit(x)
        x = x - x.mean(axis=0)
    x = unit(x).astype(np.float32)
    rotation = np.linalg.qr(random.normal(size=(12, 12)))[0].astype(np.float32)
    z = (x @ rotation)[random.permutation(len(x))]
    assert np.linalg.norm(relaxed_rotation(x, z) - rotation) < 1.5  # a random one: about 5


def frequent(demo, language, count, drop=None):
    words = demo.embeddings[language].head(count)
    rows = np.arange(count)
    if drop is not None:
        rows = np.flatnonzero(np.random.default_rng(drop).random(count) >= 0.1)
    vectors = unit(np.asarray(words.vectors)[rows])
    vectors = unit(vectors - vectors.mean(axis=0)).astype(np.float32)
    return Embeddings([words.words[row] for row in rows], vectors)


@pytest.mark.parametrize(
    ("target", "count", "drop"),
    [("es", 2000, None), ("it", 2000, None), ("es", 3000, 0)],
)
def test_real_words_start_whichever_are_there(demo, target, count, drop):
    source, other = (frequent(demo, language, count, drop) for language in ("en", target))
    x, z = source.vectors[:2000], other.vectors[:2000]
    start = relaxed_rotation(x, z)
    assert cognate_precision(source, other, start, np.eye(len(start))) > 0.02  # by chance: 0.001
