import numpy as np
import pytest

from geomm_plugin import Embeddings
from geomm_plugin.arrays import Tiles
from geomm_plugin.dictionary import pair_languages
from geomm_plugin.fit_report import FitReport
from geomm_plugin.fitting.hub import Edge
from geomm_plugin.mappers.rcsls import RCSLS, RelaxedCSLS
from geomm_plugin.testing import Toy, make_toy


def edge_of(toy):
    (languages, pairs), *_ = pair_languages(toy.embeddings, toy.dictionaries).items()
    views = toy.views("unit", "center", "unit")
    return Edge(*languages, *(views[name] for name in languages), pairs)


def brute_force(edge, W, k, vocabulary):
    x, z = (np.asarray(side).astype(np.float64) for side in (edge.x, edge.z))
    scores = x @ W @ z.T
    total = 0.0
    for row, column in zip(edge.pairs.source, edge.pairs.target, strict=True):
        total += -2 * scores[row, column]
        total += np.sort(scores[row, :vocabulary])[-k:].mean()
        total += np.sort(scores[:vocabulary, column])[-k:].mean()
    return total / len(edge.pairs)


@pytest.mark.parametrize("vocabulary", [120, 200_000])
def test_the_loss_is_the_formula(uneven, vocabulary):
    edge = edge_of(uneven)
    W = np.random.default_rng(1).normal(size=(12, 9))
    loss, gradient = RelaxedCSLS(edge, 5, vocabulary)(W)
    assert loss == pytest.approx(brute_force(edge, W, 5, vocabulary), abs=1e-5)
    # Piecewise linear: between two kinks the gradient gives the difference exactly.
    direction = np.random.default_rng(2).normal(size=W.shape)
    near = W + 1e-7 * direction
    expected = (brute_force(edge, near, 5, vocabulary) - brute_force(edge, W, 5, vocabulary)) / 1e-7
    assert np.vdot(gradient, direction) == pytest.approx(expected, rel=1e-3, abs=1e-4)


def test_tiles_change_nothing(two):
    edge = edge_of(two)
    W = np.random.default_rng(1).normal(size=(12, 12))
    whole = RelaxedCSLS(edge, 10, 1000)(W)
    tiled = RelaxedCSLS(edge, 10, 1000, Tiles(7, 11))(W)
    assert tiled[0] == pytest.approx(whole[0], abs=1e-6)
    np.testing.assert_allclose(tiled[1], whole[1], atol=1e-6)


def test_the_loss_is_convex(two):
    loss = RelaxedCSLS(edge_of(two), 10, 1000)
    random = np.random.default_rng(0)
    for _ in range(5):
        first, second = random.normal(size=(2, 12, 12))
        middle = loss((first + second) / 2)[0]
        assert middle <= (loss(first)[0] + loss(second)[0]) / 2 + 1e-6


def test_starts_at_procrustes(two):
    rcsls = two.fit("rcsls", iterations=0)
    procrustes = two.fit("procrustes", normalize=rcsls.normalize)
    np.testing.assert_allclose(rcsls.W("en", "es"), procrustes.W("en", "es"), atol=1e-12)


@pytest.mark.parametrize("constraint", ["spectral", "none"])
@pytest.mark.parametrize("step", [0.03, 3.0])
def test_a_step_that_raises_the_loss_is_undone(two, constraint, step):
    mapper = RCSLS(constraint=constraint, step=step)
    edge = edge_of(two)
    visited = list(mapper.descent(edge, FitReport(), 15))
    losses = [loss for _, loss in visited]
    assert len(losses) > 1
    assert (np.diff(losses) < 0).all()
    # Each W still has the loss it was given with: no later step changed it in place.
    for W, loss in visited:
        assert RelaxedCSLS(edge, mapper.k, mapper.vocabulary)(W)[0] == pytest.approx(loss, abs=1e-9)


def test_the_convex_variant_stays_in_the_spectral_ball(two):
    inside = two.fit("rcsls", constraint="spectral", iterations=10).W("en", "es")
    outside = two.fit("rcsls", constraint="none", iterations=10).W("en", "es")
    assert np.linalg.norm(inside, 2) <= 1 + 1e-9
    assert np.linalg.norm(outside, 2) > 1 + 1e-3


def test_auto_takes_the_first_best_number_of_steps(two):
    mapper = two.fit("rcsls", max_iterations=8)
    report = mapper.report_.extras["descent"]["en-es"]
    curve = report["held-out p@1"]
    assert report["iterations"] == curve.index(max(curve))
    again = two.fit("rcsls", iterations=report["iterations"])
    np.testing.assert_array_equal(mapper.W("en", "es"), again.W("en", "es"))


@pytest.mark.parametrize("max_iterations", [30, 4])
def test_too_few_words_to_hold_out_take_ten_steps_or_as_many_as_are_allowed(max_iterations):
    toy, steps = make_toy(pairs=5), min(10, max_iterations)
    auto = toy.fit(RCSLS(max_iterations=max_iterations))
    report = auto.report_.extras["descent"]["en-es"]
    assert report["held-out p@1"] == [] and report["iterations"] == steps
    given = toy.fit(RCSLS(iterations=steps))
    np.testing.assert_array_equal(auto.W("en", "es"), given.W("en", "es"))


def test_words_beyond_the_vocabulary_are_nobody_s_neighbours():
    toy = make_toy(words=120, pairs=80, noise=0.3)
    frequent = {n: Embeddings(e.words[:80], e.vectors[:80]) for n, e in toy.embeddings.items()}

    def fit(toy, vocabulary):
        mapper = RCSLS(normalize=("unit",), iterations=5, vocabulary=vocabulary)
        return toy.fit(mapper).W("en", "es")

    alone = fit(Toy(frequent, toy.dictionaries), 120)
    np.testing.assert_allclose(fit(toy, 80), alone, atol=1e-6)
    assert abs(fit(toy, 120) - alone).max() > 1e-3


def test_latent_inference_shares_the_same_map(two):
    target = two.fit("rcsls", iterations=5, inference="target")
    latent = two.fit("rcsls", iterations=5)
    np.testing.assert_allclose(target.W("en", "es"), latent.W("en", "es"), atol=1e-9)
    np.testing.assert_array_equal(target.matrices_["es"], np.eye(12))
    assert not np.allclose(latent.matrices_["es"], np.eye(12))
