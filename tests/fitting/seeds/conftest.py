import numpy as np
import pytest

from geomm_plugin.embeddings import Embeddings


@pytest.fixture
def rotated():
    """Two languages that are one cloud, turned; word n of one is word n of the other."""
    random = np.random.default_rng(3)
    # Skewed and clustered, as words are: a Gaussian cloud looks the same from many sides.
    centers = random.normal(size=(12, 20)) * np.linspace(3, 1, 20)
    cloud = centers[random.integers(12, size=400)] + random.exponential(size=(400, 20))
    rotation = np.linalg.qr(random.normal(size=(20, 20)))[0]
    noisy = cloud @ rotation + 0.05 * random.normal(size=cloud.shape)
    words = [str(number) for number in range(400)]
    return Embeddings(words, cloud.astype(np.float32)), Embeddings(words, noisy.astype(np.float32))
