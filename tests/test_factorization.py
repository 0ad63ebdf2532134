"""Factorizations: their identities, and the few threads they run on."""

import os
import subprocess
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from geomm_plugin import Embeddings, factorization
from geomm_plugin.mappers.procrustes import Procrustes


@pytest.fixture
def matrix():
    return np.random.default_rng(0).standard_normal((7, 5))


def test_svd_multiplies_back_with_signs_that_do_not_depend_on_the_library(matrix):
    p, s, v = factorization.svd(matrix)
    np.testing.assert_allclose(p * s @ v.T, matrix, atol=1e-12)
    assert (np.diff(s) <= 0).all()
    largest = np.abs(p).argmax(axis=0)
    assert (p[largest, range(5)] > 0).all()


def test_eigh_multiplies_back_and_has_no_negative_values(matrix):
    square = matrix @ matrix.T  # rank 5 of 7: two values are zero, give or take
    values, vectors = factorization.eigh(square)
    assert (values >= 0).all()
    np.testing.assert_allclose(vectors * values @ vectors.T, square, atol=1e-12)


def test_polar_is_the_nearest_rotation(matrix):
    rotation = factorization.polar(matrix)
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(5), atol=1e-12)
    rng = np.random.default_rng(1)
    for _ in range(20):
        other, _ = np.linalg.qr(rng.standard_normal((7, 5)))
        assert np.linalg.norm(matrix - rotation) <= np.linalg.norm(matrix - other)


def threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_all_threads_come_back_in_the_midst_of_few():
    with factorization.all_threads():
        everything = threads()
    with factorization.few_threads():
        assert set(threads()) == {1}
        with factorization.all_threads():
            assert threads() == everything
        assert set(threads()) == {1}


def test_a_fit_has_few_threads():
    class Watching(Procrustes):
        def learn(self, vectors, pairs):
            self.threads_ = threads()
            return super().learn(vectors, pairs)

    vectors = np.random.default_rng(2).standard_normal((6, 3))
    words = Embeddings(list("abcdef"), vectors)
    pairs = {("en", "es"): [(letter, letter) for letter in "abcdef"]}
    assert set(Watching().fit({"en": words, "es": words}, pairs).threads_) == {1}


@pytest.mark.parametrize("name, shape", [("svd", (4, 4)), ("eigh", (4, 4))])
def test_one_thread_inside_and_as_many_as_before_outside(monkeypatch, name, shape):
    before, inside = threads(), []
    original = getattr(np.linalg, name)
    monkeypatch.setattr(
        np.linalg, name, lambda *args, **kw: (inside.append(threads()), original(*args, **kw))[1]
    )
    getattr(factorization, name)(np.eye(*shape))
    assert inside and set(inside[0]) == {1}
    assert threads() == before


def test_a_library_that_is_loaded_later_is_limited_too():
    """scipy brings a BLAS of its own, after numpy's was found."""
    code = (
        "import threadpoolctl\n"
        "from geomm_plugin.factorization import few_threads\n"
        "with few_threads():\n    pass\n"
        "import scipy.linalg\n"
        "with few_threads():\n"
        "    print({pool['num_threads'] for pool in threadpoolctl.threadpool_info()\n"
        "           if pool['user_api'] == 'blas'})\n"
    )
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "2"},
    )
    assert done.stdout.strip() == "{1}", done.stdout + done.stderr
