import numpy as np
import pytest

from geomm_plugin import Embeddings
from geomm_plugin.testing import Toy, make_toy

PLAIN = {"max_rounds": 0}  # the closed form alone


def objective(moments, W, mixture, regularization):
    """||XWZ' - Y||^2 + lambda (a c ||W||^2 + mu (c ||XW||^2 + a ||WZ'||^2)), without |Omega|."""
    A, C = moments.source, moments.target
    a, c = np.trace(A) / len(A), np.trace(C) / len(C)
    return (
        np.vdot(A @ W, W @ C)
        - 2 * np.vdot(W, moments.cross)
        + regularization * mixture * (c * np.vdot(W, A @ W) + a * np.vdot(W, W @ C))
        + regularization * a * c * np.vdot(W, W)
    )


def scaled(W):
    return W / np.linalg.norm(W)


@pytest.mark.parametrize(("mixture", "regularization"), [(0.0, 0.3), (1.0, 0.5), (5.0, 0.2)])
def test_w_is_the_minimum(uneven, mixture, regularization, moments_of):
    params = {"mixture": mixture, "regularization": regularization, "background": 0.0}
    mapper = uneven.fit("geomm_plus", **params, **PLAIN)
    moments = moments_of(uneven, mapper)
    direction = mapper.W("en", "es")
    a = np.trace(moments.source) / len(moments.source)
    c = np.trace(moments.target) / len(moments.target)
    W = direction / (a * c)  # eigenvalues were taken relative to their means
    lowest = objective(moments, W, mixture, regularization)
    random = np.random.default_rng(0)
    for _ in range(20):
        other = W + random.normal(size=W.shape) * 1e-3 * abs(W).max()
        assert objective(moments, other, mixture, regularization) > lowest


def test_without_regression_and_background_it_is_geomm(two, moments_of):
    plus = two.fit("geomm_plus", mixture=0.0, regularization=0.7, background=0.0, **PLAIN)
    moments = moments_of(two, plus)
    mean_product = np.trace(moments.source) * np.trace(moments.target) / 12**2
    geomm = two.fit("geomm", regularization=0.7 * mean_product)
    np.testing.assert_allclose(scaled(plus.W("en", "es")), scaled(geomm.W("en", "es")), atol=1e-10)


def test_much_regularization_leaves_the_cross_covariance(two, moments_of):
    plus = two.fit("geomm_plus", mixture=0.0, regularization=1e9, **PLAIN)
    np.testing.assert_allclose(
        scaled(plus.W("en", "es")), scaled(moments_of(two, plus).cross), atol=1e-6
    )


def test_parameters_have_no_units(two):
    """Longer vectors give the same map, but for its length."""
    before = two.fit("geomm_plus", normalize=("center",), **PLAIN)
    en = two.embeddings["en"]
    two.embeddings["en"] = Embeddings(en.words, 16 * en.vectors)
    after = two.fit("geomm_plus", normalize=("center",), **PLAIN)
    np.testing.assert_allclose(scaled(before.W("en", "es")), scaled(after.W("en", "es")), atol=1e-6)


@pytest.mark.parametrize("background", [0.3, 1.0])
def test_background_is_the_share_of_the_vocabulary_in_the_variances(uneven, background, moments_of):
    params = {"mixture": 2.0, "regularization": 0.4, "background": background}
    mapper = uneven.fit("geomm_plus", **params, **PLAIN)
    moments = moments_of(uneven, mapper)

    def variance(own, language):
        whole = uneven.normalized(mapper, language).astype(np.float64)
        whole = whole.T @ whole
        mixed = (1 - background) * own / np.trace(own) + background * whole / np.trace(whole)
        return mixed * len(mixed)  # at a mean eigenvalue of 1

    A, C = variance(moments.source, "en"), variance(moments.target, "es")
    W = mapper.W("en", "es")
    slope = A @ W @ C - moments.cross + 0.4 * (W + 2 * (A @ W + W @ C))
    np.testing.assert_allclose(slope, 0, atol=1e-9 * abs(moments.cross).max())


def test_background_gives_variance_where_the_dictionary_has_none(moments_of):
    few = make_toy(words=400, pairs=5, noise=0.3)

    def beyond_the_dictionary(background):
        """Return the share of W in directions that no source word of the dictionary has."""
        mapper = few.fit("geomm_plus", background=background, **PLAIN)
        values, basis = np.linalg.eigh(moments_of(few, mapper).source)
        empty = basis[:, values < 1e-9 * values.max()]
        assert empty.shape[1] == 12 - 5
        return np.linalg.norm(empty.T @ scaled(mapper.W("en", "es")))

    assert beyond_the_dictionary(0.0) < 1e-9
    assert beyond_the_dictionary(1.0) > 0.01


def test_the_order_of_the_languages_does_not_matter(two):
    there = two.fit("geomm_plus", **PLAIN)
    pairs = [pair[::-1] for pair in two.dictionaries["en", "es"]]
    back = Toy(two.embeddings, {("es", "en"): pairs}).fit("geomm_plus", **PLAIN)
    np.testing.assert_allclose(there.W("en", "es"), back.W("en", "es"), atol=1e-10)


def test_lambda_follows_the_number_of_pairs(uneven):
    pairs = len(set(uneven.dictionaries["en", "es"]))
    auto = uneven.fit("geomm_plus", **PLAIN)
    given = uneven.fit("geomm_plus", regularization=10 * (12 + 9) / 2 / pairs, **PLAIN)
    np.testing.assert_array_equal(auto.W("en", "es"), given.W("en", "es"))
