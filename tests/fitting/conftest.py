"""Small joint problems of three languages."""

import numpy as np
import pytest

from geomm_plugin.fitting.joint_problem import JointProblem
from geomm_plugin.fitting.moments import Moments

DIMENSION = 6


def make_dictionaries(seed=0):
    """Three languages in a triangle: unique words, 0/1 labels with words that have two partners."""
    random = np.random.default_rng(seed)
    found = {}
    for pair, words in {("a", "b"): 30, ("b", "c"): 20, ("a", "c"): 25}.items():
        x, z = random.normal(size=(2, words, DIMENSION))
        labels = np.eye(words)[random.permutation(words)]
        labels[0, :3] = 1
        found[pair] = (x, z, labels)
    return found


def make_problem(dictionaries, regularization=0.3):
    moments = {
        pair: Moments(x.T @ x, z.T @ z, x.T @ labels @ z, int(labels.sum()), labels.sum())
        for pair, (x, z, labels) in dictionaries.items()
    }
    return JointProblem(["a", "b", "c"], moments, regularization)


def random_point(seed=1, languages=3):
    random = np.random.default_rng(seed)
    rotations = np.linalg.qr(random.normal(size=(languages, DIMENSION, DIMENSION)))[0]
    root = random.normal(size=(DIMENSION, DIMENSION))
    return rotations, root @ root.T


@pytest.fixture(name="make_dictionaries")
def dictionaries_fixture():
    return make_dictionaries


@pytest.fixture(name="make_problem")
def problem_fixture():
    return make_problem


@pytest.fixture(name="random_point")
def point_fixture():
    return random_point
