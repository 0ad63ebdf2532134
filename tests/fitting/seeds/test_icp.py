import itertools

import numpy as np

from geomm_plugin.embeddings import Embeddings
from geomm_plugin.fitting.seeds.icp import ClosestPoints, descend, nearness, principal


def test_a_rotated_cloud_is_turned_back():
    random = np.random.default_rng(0)
    cloud = random.exponential(size=(300, 8)) * np.linspace(3, 1, 8)  # skewed, so that signs show
    rotation = np.linalg.qr(random.normal(size=(8, 8)))[0]
    words = [str(number) for number in range(300)]
    source, target = (Embeddings(words, x.astype(np.float32)) for x in (cloud, cloud @ rotation))
    pairs = ClosestPoints(starts=200, steps=20).pairs(source, target)
    assert len(pairs) > 200
    assert (pairs.source == pairs.target).mean() > 0.95


def test_a_seed_decides_the_starts(rotated):
    x, z = (principal(language.vectors, 5) for language in rotated)
    one, same, other = (
        ClosestPoints(starts=3, steps=1, seed=seed).best_rotation(x, z) for seed in (0, 0, 1)
    )
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_steps_never_raise_the_error(rotated):
    x, z = (principal(language.vectors, 10) for language in rotated)
    errors = [descend(x, z, np.eye(10, dtype=np.float32), steps)[1] for steps in range(1, 12)]
    assert all(later <= earlier + 1e-4 for earlier, later in itertools.pairwise(errors))
    assert errors[-1] < errors[0]


def test_nearness_is_minus_the_squared_distance():
    x, z = np.random.default_rng(0).normal(size=(2, 6, 4)).astype(np.float32)
    distances = np.square(x[:, None] - z).sum(axis=2)
    assert np.allclose(nearness(x, z), -distances, atol=1e-4)
