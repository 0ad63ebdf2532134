"""Procrustes, regression and the ablations: each against its own definition."""

import numpy as np
import pytest

from geomm_plugin.dictionary import pair_up
from geomm_plugin.fitting.moments import Moments
from geomm_plugin.mappers import (
    MetricOnly,
    Procrustes,
    Regression,
    RotationOnly,
)
from geomm_plugin.mappers.geomm import cost_of
from geomm_plugin.testing import make_toy


@pytest.fixture
def toy():
    return make_toy(dtype="float64", noise=0.3)


def paired(toy, mapper):
    rows = np.arange(len(toy.dictionaries["en", "es"]))
    return [
        mapper.normalizer_.transform(language, toy.embeddings[language].vectors[rows])
        for language in ("en", "es")
    ]


def moments_of(toy, mapper):
    views = {n: mapper.normalizer_.view(n, e.vectors) for n, e in toy.embeddings.items()}
    pairs = pair_up(toy.dictionaries["en", "es"], toy.embeddings["en"], toy.embeddings["es"])
    return Moments.of(views["en"], views["es"], pairs)


def test_procrustes_is_orthogonal_and_no_rotation_is_nearer(toy):
    mapper = toy.fit(Procrustes())
    x, z = paired(toy, mapper)
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
    assert np.allclose(mapper.learn_pair(*paired(toy, mapper)), mapper.W("en", "es"), atol=1e-9)


def test_regression_solves_the_ridge_equations(toy):
    mapper = toy.fit(Regression(regularization=2.5))
    x, z = paired(toy, mapper)
    W = mapper.W("en", "es")
    assert np.allclose(x.T @ (x @ W - z) + 2.5 * W, 0, atol=1e-9)
    singular = np.linalg.svd(W, compute_uv=False)
    for language in ("en", "es"):  # both sides carry the root of the metric
        A = mapper.matrices_[language]
        assert np.allclose(np.linalg.svd(A, compute_uv=False), np.sqrt(singular), atol=1e-9)


def test_metric_only_shares_one_positive_metric_that_nothing_nearby_beats(toy):
    mapper = toy.fit(MetricOnly(regularization=3.0))
    B = mapper.W("en", "es")
    assert np.allclose(B, B.T) and np.linalg.eigvalsh(B).min() > -1e-12
    assert np.array_equal(mapper.matrices_["en"], mapper.matrices_["es"])
    moments = moments_of(toy, mapper)
    best = cost_of(moments, B, 3.0)
    random = np.random.default_rng(0)
    for size in (1e-3, 1e-2):
        step = random.normal(size=(12, 12)) * size * np.abs(B).max()
        values, vectors = np.linalg.eigh(B + step + step.T)
        other = (vectors * np.maximum(values, 0)) @ vectors.T
        assert cost_of(moments, other, 3.0) > best


def test_rotation_only_is_orthogonal_and_no_worse_than_procrustes_on_its_own_loss(toy):
    mapper, start = toy.fit(RotationOnly()), toy.fit(Procrustes())
    R = mapper.W("en", "es")
    assert np.allclose(R.T @ R, np.eye(12), atol=1e-8)
    moments = moments_of(toy, mapper)
    assert cost_of(moments, R, 0) < cost_of(moments, start.W("en", "es"), 0)
