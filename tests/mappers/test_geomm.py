"""The exact solver against the Riemannian one, against autograd, and against the definition."""

import autograd
import autograd.numpy as anp
import numpy as np
import pytest

from geomm_plugin.dictionary import RowPairs
from geomm_plugin.factorization import svd
from geomm_plugin.fit_report import Choice
from geomm_plugin.fitting.moments import Moments
from geomm_plugin.mappers import GeoMM, Unconstrained
from geomm_plugin.mappers.geomm import (
    ClosedForm,
    cost_of,
    gradients,
    riemannian_solution,
    riemannian_start,
)
from geomm_plugin.testing import make_toy


def problem(n=60, d=8, e=8, seed=0):
    """Vectors, pairs with words that repeat on both sides, and labels as the paper writes them."""
    random = np.random.default_rng(seed)
    x, z = random.normal(size=(n, d)), random.normal(size=(n, e))
    z[:, : min(d, e)] += x[:, : min(d, e)]
    rows = np.unique(random.integers(0, n, size=(2 * n, 2)), axis=0)
    pairs = RowPairs(rows[:, 0], rows[:, 1])
    source, target = np.unique(pairs.source), np.unique(pairs.target)
    labels = np.zeros((len(source), len(target)))
    labels[np.searchsorted(source, pairs.source), np.searchsorted(target, pairs.target)] = 1
    return x[source], z[target], labels, Moments.of(x, z, pairs)


@pytest.mark.parametrize("e", [8, 5, 11])
def test_cost_on_moments_is_the_paper_s_cost(e):
    x, z, labels, moments = problem(e=e)
    W = np.random.default_rng(1).normal(size=(8, e))
    by_definition = np.sum((x @ W @ z.T - labels) ** 2) + 3.5 * np.sum(W**2)
    assert np.isclose(cost_of(moments, W, 3.5), by_definition)


@pytest.mark.parametrize("regularization", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("e", [8, 5])
def test_the_closed_form_is_stationary_and_solves_the_normal_equations(regularization, e):
    x, z, labels, moments = problem(e=e)
    W = ClosedForm(moments).W(regularization)

    def cost(W):
        return anp.sum((x @ W @ z.T - labels) ** 2) + regularization * anp.sum(W**2)

    assert np.allclose(autograd.grad(cost)(W), 0, atol=1e-8)
    design = np.kron(x, z)
    vector = np.linalg.solve(
        design.T @ design + regularization * np.eye(8 * e), design.T @ labels.ravel()
    )
    assert np.allclose(W.ravel(), vector, atol=1e-9)


def test_without_regularization_the_smallest_solution_is_taken():
    x, z, labels, moments = problem(n=5)
    assert np.linalg.matrix_rank(moments.source) < 8
    W = ClosedForm(moments).W(0.0)
    assert np.allclose(W, np.linalg.pinv(x) @ labels @ np.linalg.pinv(z).T, atol=1e-8)


def test_gradients_agree_with_autograd():
    x, z, labels, moments = problem(e=6)
    random = np.random.default_rng(2)
    u_source, u_target = (np.linalg.qr(random.normal(size=(n, 6)))[0] for n in (8, 6))
    b = random.normal(size=(6, 6))
    b = b @ b.T + np.eye(6)

    def cost(u_source, u_target, b):
        scores = x @ u_source @ ((b + b.T) / 2) @ u_target.T @ z.T
        return anp.sum((scores - labels) ** 2) + 2.0 * anp.sum(b**2)

    found = gradients(moments, u_source, u_target, b, 2.0)
    for argument, gradient in enumerate(found):
        expected = autograd.grad(cost, argument)(u_source, u_target, b)
        assert np.allclose(gradient, expected, atol=1e-9)


@pytest.mark.parametrize("e", [8, 5, 11])
@pytest.mark.parametrize("regularization", [1.0, 50.0])
def test_the_riemannian_solver_comes_down_to_the_exact_cost_and_never_below(e, regularization):
    *_, moments = problem(e=e)
    exact_W = ClosedForm(moments).W(regularization)
    exact = cost_of(moments, exact_W, regularization)
    found = riemannian_solution(moments, regularization)
    assert exact * (1 - 1e-12) <= found.cost <= exact * (1 + 1e-6)
    (u_source, u_target), b = found.rotations, found.metric
    assert np.allclose(u_source @ b @ u_target.T, exact_W, atol=2e-3 * np.abs(exact_W).max())
    assert np.allclose(u_source.T @ u_source, np.eye(len(b)), atol=1e-9)
    assert np.linalg.eigvalsh(b).min() > 0


def test_the_start_is_the_best_diagonal_metric():
    *_, moments = problem()
    p, v, b = riemannian_start(moments, 2.0)
    diagonal = np.diag(b)
    assert diagonal.min() > diagonal.max() * 1.001e-3  # nothing had to be lifted above zero
    best = cost_of(moments, p @ b @ v.T, 2.0)
    for step in (*1e-6 * np.eye(8), *-1e-6 * np.eye(8)):
        assert cost_of(moments, p @ np.diag(diagonal + step) @ v.T, 2.0) > best


def test_both_solvers_give_the_same_translations():
    toy = make_toy(dtype="float64")
    one = toy.fit(GeoMM(regularization=10))
    other = toy.fit(GeoMM(regularization=10, solver="riemannian"))
    scale = np.abs(one.W("en", "es")).max()
    assert np.allclose(one.W("en", "es"), other.W("en", "es"), atol=1e-3 * scale)
    assert other.report_.solver["en-es"].iterations > 0


def rotated(moments):
    """U_s, U_t and B of the closed form, in a latent space that is turned in some way."""
    p, s, v = svd(ClosedForm(moments).W(10.0))
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(len(s), len(s))))[0]
    return p @ turn, v @ turn, turn.T @ np.diag(s) @ turn


def searched_for(moments):
    found = riemannian_solution(moments, 10.0)
    return *found.rotations, found.metric


@pytest.mark.parametrize(("factorize", "error"), [(rotated, 1e-9), (searched_for, 5e-3)])
def test_the_latent_space_has_the_cosines_of_any_factorization(factorize, error):
    """Words are mapped by U_s B^(1/2) and U_t B^(1/2), whatever rotation U_s, U_t and B are in."""
    toy = make_toy(dtype="float64")
    mapper = toy.fit(GeoMM(regularization=10))
    vectors = {n: e.vectors for n, e in toy.embeddings.items()}
    normalized = [mapper.normalizer_.transform(n, rows) for n, rows in vectors.items()]
    pairs = RowPairs(*[np.arange(len(toy.dictionaries["en", "es"]))] * 2)
    u_source, u_target, b = factorize(Moments.of(*normalized, pairs))
    values, basis = np.linalg.eigh(b)
    root = (basis * np.sqrt(values)) @ basis.T

    def cosines(*parts):
        rows = np.concatenate(parts)
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return rows @ rows.T

    found = cosines(*(mapper.transform(n, rows) for n, rows in vectors.items()))
    expected = cosines(normalized[0] @ u_source @ root, normalized[1] @ u_target @ root)
    assert np.allclose(found, expected, atol=error)


def test_target_inference_is_the_unconstrained_map():
    toy = make_toy()
    one = toy.fit(GeoMM(regularization=10, inference="target"))
    other = toy.fit(Unconstrained(regularization=10))
    assert np.array_equal(one.matrices_["en"], other.matrices_["en"])
    assert np.array_equal(one.matrices_["es"], np.eye(12))
    latent = toy.fit(GeoMM(regularization=10))
    assert np.allclose(latent.W("en", "es"), one.W("en", "es"))


def test_auto_reports_its_choice_and_refits_on_all_pairs(toy):
    mapper = toy.fit(GeoMM())
    (choice,) = mapper.report_.regularization.values()
    assert choice.scores[choice.value] == max(choice.scores.values())
    again = toy.fit(GeoMM(regularization=choice.value))
    assert np.array_equal(mapper.W("en", "es"), again.W("en", "es"))


def test_too_few_words_to_hold_out_take_the_default():
    toy = make_toy(pairs=5)
    mapper = toy.fit(GeoMM())
    assert mapper.report_.regularization == {"en-es": Choice(GeoMM.default, {})}
