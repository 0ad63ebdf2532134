"""The joint problem: its gradients and its best metric."""

import autograd
import autograd.numpy as anp
import numpy as np
import pytest


def cost_by_definition(dictionaries, regularization):
    def cost(rotations, metric):
        total = regularization * anp.sum(metric**2)
        for (i, j), (x, z, labels) in dictionaries.items():
            scores = x @ rotations["abc".index(i)] @ metric @ rotations["abc".index(j)].T @ z.T
            total = total + anp.sum((scores - labels) ** 2) / labels.sum() - 1
        return total

    return cost


def test_gradients_are_those_of_autograd(make_dictionaries, make_problem, random_point):
    dictionaries = make_dictionaries()
    problem = make_problem(dictionaries)
    rotations, metric = random_point()
    cost = cost_by_definition(dictionaries, problem.regularization)
    assert problem.cost(rotations, metric) == pytest.approx(cost(rotations, metric), rel=1e-12)

    in_rotations = autograd.grad(cost, 0)(rotations, metric)
    in_metric = autograd.grad(cost, 1)(rotations, metric)
    ours, ours_in_metric = problem.euclidean_gradient(rotations, metric)
    assert np.allclose(ours, in_rotations, rtol=1e-10, atol=1e-10)
    assert np.allclose(ours_in_metric, (in_metric + in_metric.T) / 2, rtol=1e-10, atol=1e-10)

    latent = problem.latent_gradient(rotations, metric)
    seen = np.einsum("lki,lkj->lij", rotations, in_rotations)
    assert np.allclose(latent.rotations @ metric, seen, rtol=1e-10, atol=1e-10)
    assert np.allclose(latent.metric, ours_in_metric, rtol=1e-10, atol=1e-10)
    assert latent.cost == pytest.approx(problem.cost(rotations, metric), rel=1e-12)


def test_best_metric_leaves_no_gradient(make_dictionaries, make_problem, random_point):
    problem = make_problem(make_dictionaries())
    rotations, _ = random_point()
    best = problem.best_metric(rotations, residual=1e-10)
    assert np.allclose(problem.latent_gradient(rotations, best).metric, 0, atol=1e-7)
