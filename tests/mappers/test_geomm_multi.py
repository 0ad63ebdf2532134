"""Many languages at once: gradients, the bilingual case, the two solvers, odd graphs."""

import os
import subprocess
import sys

import autograd
import autograd.numpy as anp
import numpy as np
import pytest

from geomm_plugin import Embeddings, get_mapper
from geomm_plugin.errors import LanguagesError
from geomm_plugin.fitting.joint_problem import JointProblem
from geomm_plugin.fitting.moments import Moments
from geomm_plugin.fitting.quasi_newton import PairInverse, minimize_jointly, preconditioner
from geomm_plugin.mappers.geomm import ClosedForm
from geomm_plugin.testing import Toy, make_toy

DIMENSION = 6


def solver_of(mapper):
    (run,) = mapper.report_.solver.values()
    return run


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


def cost_by_definition(dictionaries, regularization):
    def cost(rotations, metric):
        total = regularization * anp.sum(metric**2)
        for (i, j), (x, z, labels) in dictionaries.items():
            scores = x @ rotations["abc".index(i)] @ metric @ rotations["abc".index(j)].T @ z.T
            total = total + anp.sum((scores - labels) ** 2) / labels.sum() - 1
        return total

    return cost


def test_gradients_are_those_of_autograd():
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


def test_best_metric_leaves_no_gradient():
    problem = make_problem(make_dictionaries())
    rotations, _ = random_point()
    best = problem.best_metric(rotations, residual=1e-10)
    assert np.allclose(problem.latent_gradient(rotations, best).metric, 0, atol=1e-7)


@pytest.mark.parametrize("sign", [-1, 1])
def test_pair_inverse_inverts_skew_and_symmetric_matrices(sign):
    random = np.random.default_rng(0)
    a, k = (m @ m.T + np.eye(5) for m in random.normal(size=(2, 5, 5)))
    right = random.normal(size=(5, 5))
    right = right + sign * right.T
    found = PairInverse(a, k)(right)
    assert np.allclose(found, sign * found.T)
    assert np.allclose(a @ found @ k + k @ found @ a, right, atol=1e-6)


def test_preconditioner_is_positive_and_keeps_the_tangent_space():
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


def test_search_ends_where_no_gradient_is_left():
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
def test_search_ends_from_far_away_too(seed):
    """There the Hessian is another one than at the end, so its first guess must be made anew."""
    problem = make_problem(make_dictionaries(seed))
    found = minimize_jointly(problem, *random_point(seed), tolerance=1e-10, max_iterations=800)
    assert "The cost fell by less than" in found.reason  # never, in 2000, with the guess made once


@pytest.mark.parametrize("solver", ["quasi-newton", "riemannian"])
def test_two_languages_agree_with_the_closed_form(toy, solver):
    pairs = len(toy.dictionaries["en", "es"])
    exact = toy.fit(get_mapper("geomm", regularization=5.0))
    joint = toy.fit(
        get_mapper("geomm_multi", regularization=5.0 / pairs, solver=solver, tolerance=1e-10)
    )
    assert np.allclose(joint.W("en", "es"), exact.W("en", "es"), atol=1e-5 * norm(exact))


def norm(mapper):
    return np.linalg.norm(mapper.W("en", "es"))


def test_two_languages_agree_from_a_poor_start():
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


def make_cycle(**kwargs):
    """Four languages, dictionaries in either direction, with a cycle."""
    toy = make_toy(("de", "en", "es", "it"), **kwargs)
    names = [[f"{language}{n}" for n in range(80)] for language in ("de", "en", "es", "it")]
    de, en, es, it = names
    return Toy(
        toy.embeddings,
        {
            ("en", "de"): list(zip(en, de, strict=True)),
            ("en", "es"): list(zip(en, es, strict=True))[:60],
            ("it", "es"): list(zip(it, es, strict=True))[:50],
            ("it", "en"): list(zip(it, en, strict=True)),
        },
    )


def test_the_solvers_agree_on_a_cycle():
    toy = make_cycle()
    params = {"regularization": 0.05, "tolerance": 1e-8}
    ours = toy.fit(get_mapper("geomm_multi", **params))
    theirs = toy.fit(get_mapper("geomm_multi", solver="riemannian", **params))
    assert solver_of(ours).cost <= solver_of(theirs).cost * (1 + 1e-6)
    assert np.allclose(ours.W("de", "it"), theirs.W("de", "it"), atol=2e-2 * norm(ours))


def test_rotated_clouds_are_recovered_in_every_pair():
    toy = make_cycle(noise=0.0)
    space = toy.fit(get_mapper("geomm_multi")).map(toy.embeddings)
    for source in space:
        for target in space:
            words = [f"{source}{n}" for n in range(100, 120)]  # in no dictionary
            best = [found[0][0] for found in space.translate(words, source, target, k=1)]
            assert best == [f"{target}{n}" for n in range(100, 120)]


def test_direction_of_a_dictionary_does_not_matter():
    toy = make_cycle()
    turned = Toy(
        toy.embeddings,
        {(t, s): [(b, a) for a, b in found] for (s, t), found in toy.dictionaries.items()},
    )
    one = toy.fit(get_mapper("geomm_multi", regularization=0.1)).W("de", "es")
    other = turned.fit(get_mapper("geomm_multi", regularization=0.1)).W("de", "es")
    assert np.allclose(one, other, atol=1e-3 * np.linalg.norm(one))


def test_languages_may_differ_in_dimension():
    toy = make_cycle()
    vectors = toy.embeddings["es"].vectors
    smaller = Toy(
        toy.embeddings | {"es": Embeddings(toy.embeddings["es"].words, vectors[:, :9])},
        toy.dictionaries,
    )
    mapper = smaller.fit(get_mapper("geomm_multi", regularization=0.1))
    assert mapper.W("es", "it").shape == (9, 12)
    assert mapper.map(smaller.embeddings).translate("es3", "es", "en", k=1)[0][0] == "en3"


def test_a_graph_in_two_parts_is_refused_by_name():
    toy = make_toy(("de", "en", "es", "it"))
    halves = {key: toy.dictionaries["de", "en"] for key in [("de", "en")]}
    halves["es", "it"] = [(f"es{n}", f"it{n}") for n in range(50)]
    with pytest.raises(LanguagesError, match=r"\(de, en\) and \(es, it\)"):
        get_mapper("geomm_multi").fit(toy.embeddings, halves)


def test_report_tells_how_the_search_went():
    mapper = make_cycle().fit(get_mapper("geomm_multi", max_iterations=3))
    run = solver_of(mapper)
    assert run.iterations == 3
    assert "limit of 3" in run.stopped
    assert 0 < run.cost < 4
    (choice,) = mapper.report_.regularization.values()
    assert choice.value in choice.scores


def test_auto_takes_the_best_lambda_and_refits_on_all_pairs():
    toy = make_toy(("en", "es", "it"), words=200, noise=0.5, pairs=60)
    mapper = toy.fit(get_mapper("geomm_multi"))
    (choice,) = mapper.report_.regularization.values()
    scores = choice.scores
    assert scores[choice.value] == max(scores.values())
    smallest, *_, largest = scores.values()
    assert max(smallest, largest) < max(scores.values())  # so neither end will do
    again = toy.fit(get_mapper("geomm_multi", regularization=choice.value))
    assert np.array_equal(mapper.W("es", "it"), again.W("es", "it"))


@pytest.mark.parametrize("pairs", [3, 8])
def test_fewer_pairs_than_dimensions_need_no_regularization(pairs):
    toy = make_toy(("en", "es", "it"), pairs=pairs)
    free = solver_of(toy.fit(get_mapper("geomm_multi", regularization=0.0)))
    regularized = solver_of(toy.fit(get_mapper("geomm_multi", regularization=1e-6)))
    assert free.iterations > 1
    assert free.cost <= regularized.cost


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
