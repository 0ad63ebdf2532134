"""The search over rotations and a metric."""

import os
import subprocess
import sys

import numpy as np
import pytest

from geomm_plugin.fitting.joint_problem import JointProblem
from geomm_plugin.fitting.moments import Moments
from geomm_plugin.fitting.quasi_newton import PairInverse, minimize_jointly, preconditioner
from geomm_plugin.mappers.geomm import ClosedForm

DIMENSION = 6


@pytest.mark.parametrize("sign", [-1, 1])
def test_pair_inverse_inverts_skew_and_symmetric_matrices(sign):
    random = np.random.default_rng(0)
    a, k = (m @ m.T + np.eye(5) for m in random.normal(size=(2, 5, 5)))
    right = random.normal(size=(5, 5))
    right = right + sign * right.T
    found = PairInverse(a, k)(right)
    assert np.allclose(found, sign * found.T)
    assert np.allclose(a @ found @ k + k @ found @ a, right, atol=1e-6)


def test_preconditioner_is_positive_and_keeps_the_tangent_space(
    make_dictionaries, make_problem, random_point
):
    problem = make_problem(make_dictionaries())
    rotations, metric = random_point()
    root = np.linalg.cholesky(metric)
    root = (root + root.T) / 2
    precondition = preconditioner(problem, rotations, root)
    random = np.random.default_rng(2)
    a, b = random.normal(size=(2, 4, DIMENSION, DIMENSION))
    for tangent in (a, b):
        tangent[:3] -= tangent[:3].transpose(0, 2, 1).copy()
        tangent[3] += tangent[3].T.copy()

    def inner(one, other):
        return np.vdot(one[:3], other[:3]) / 2 + np.vdot(one[3], other[3])

    result = precondition(a)
    assert np.allclose(result[:3], -result[:3].transpose(0, 2, 1))
    assert np.allclose(result[3], result[3].T)
    assert inner(a, result) > 0
    assert inner(b, result) == pytest.approx(inner(precondition(b), a), rel=1e-6)


def test_search_ends_where_no_gradient_is_left(make_dictionaries, make_problem):
    problem = make_problem(make_dictionaries())
    maps = {(i, j): ClosedForm(found).W(problem.regularization) for i, j, found in problem.edges}
    rotations, metric = problem.start(maps)
    found = minimize_jointly(problem, rotations, metric, tolerance=1e-14, max_iterations=2000)
    gradient = problem.latent_gradient(found.rotations, found.metric)
    turned = gradient.rotations @ found.metric
    assert np.allclose(turned, turned.transpose(0, 2, 1), atol=1e-5)
    # Where the metric is zero the constraint holds it there; elsewhere it has no slope.
    assert np.allclose(found.metric @ gradient.metric, 0, atol=1e-5)
    assert np.linalg.eigvalsh(gradient.metric).min() > -1e-4
    assert np.allclose(found.rotations @ found.rotations.transpose(0, 2, 1), np.eye(DIMENSION))
    assert found.cost < problem.cost(rotations, np.zeros_like(metric)) + len(problem.edges)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_search_ends_from_far_away_too(seed, make_dictionaries, make_problem, random_point):
    """There the Hessian is another one than at the end, so its first guess must be made anew."""
    problem = make_problem(make_dictionaries(seed))
    found = minimize_jointly(problem, *random_point(seed), tolerance=1e-10, max_iterations=800)
    assert "The cost fell by less than" in found.reason  # never, in 2000, with the guess made once


def test_no_blas_has_several_threads_in_the_search():
    code = """
from geomm_plugin import get_mapper
from geomm_plugin.fitting import quasi_newton
from geomm_plugin.testing import make_toy
from threadpoolctl import threadpool_info

made, seen = quasi_newton.PairInverse.__init__, set()

def watched(self, *arguments):
    made(self, *arguments)
    seen.update((pool["filepath"], pool["num_threads"]) for pool in threadpool_info())

quasi_newton.PairInverse.__init__ = watched
make_toy(words=60, dimension=6).fit(get_mapper("geomm_multi", regularization=0.1))
print(len(seen), {threads for _, threads in seen})
"""
    environment = os.environ | {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    pools, threads = told.stdout.split(maxsplit=1)
    assert int(pools) >= 1 and threads.strip() == "{1}", told.stdout


def test_two_languages_agree_from_a_poor_start(make_dictionaries):
    x, z, labels = make_dictionaries()["a", "b"]
    moments = Moments(x.T @ x, z.T @ z, x.T @ labels @ z, int(labels.sum()), labels.sum())
    problem = JointProblem(["a", "b"], {("a", "b"): moments}, 0.2)
    exact = ClosedForm(moments).W(0.2 * moments.pairs)
    bent = exact + 0.1 * np.random.default_rng(3).normal(size=exact.shape) * np.abs(exact).max()
    rotations, metric = problem.start({(0, 1): bent})
    found = minimize_jointly(problem, rotations, metric, tolerance=1e-15, max_iterations=3000)
    W = found.rotations[0] @ found.metric @ found.rotations[1].T
    assert found.iterations > 0
    assert np.allclose(W, exact, atol=1e-3 * np.linalg.norm(exact))
