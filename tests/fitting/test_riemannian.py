"""A loss of one's own: GeoMM's, written as an author would, ends where the exact solver does."""

from dataclasses import dataclass
from typing import ClassVar

import autograd.numpy as anp
import numpy as np
import pytest

from geomm_plugin import RiemannianMapper, get_mapper
from geomm_plugin.dictionary import pair_languages
from geomm_plugin.errors import LanguagesError, ParameterError
from geomm_plugin.fit_report import ALL_DICTIONARIES
from geomm_plugin.fitting.joint_problem import JointProblem
from geomm_plugin.fitting.moments import Moments
from geomm_plugin.fitting.riemannian import dictionary_words, rotations_and_metric
from geomm_plugin.mappers.geomm import cost_of
from geomm_plugin.testing import check_mapper, make_toy

LAMBDA = 0.05


@dataclass(kw_only=True, eq=False, repr=False)
class OwnGeoMM(RiemannianMapper):
    """GeoMM's loss, for two languages or many."""

    name: ClassVar[str] = "own_geomm"
    regularization: float = LAMBDA

    def loss(self, rotations, metric, vectors, pairs):
        total = self.regularization * anp.sum(metric**2)
        for (source, target), own in pairs.items():
            x = vectors[source][np.unique(own.source)] @ rotations[source] @ metric
            z = vectors[target][np.unique(own.target)] @ rotations[target]
            labels = np.zeros((len(x), len(z)))
            labels[np.unique(own.source, return_inverse=True)[1],
                   np.unique(own.target, return_inverse=True)[1]] = 1  # fmt: skip
            total = total + anp.sum((x @ z.T - labels) ** 2) / len(own)
        return total


@dataclass(kw_only=True, eq=False, repr=False)
class WithGradient(OwnGeoMM):
    """The same with the gradient that the design gives."""

    name: ClassVar[str] = "with_gradient"

    def gradient(self, rotations, metric, vectors, pairs):
        moments = {(s, t): Moments.of(vectors[s], vectors[t], own) for (s, t), own in pairs.items()}
        problem = JointProblem(list(rotations), moments, self.regularization)
        in_rotations, in_metric = problem.euclidean_gradient(list(rotations.values()), metric)
        return dict(zip(rotations, in_rotations, strict=True)), in_metric


def arguments(toy, mapper, seed=0):
    """Return a point that is far from special, and the data of the loss."""
    toy.fit(mapper)
    views = {n: mapper.normalizer_.view(n, e.vectors) for n, e in toy.embeddings.items()}
    rows, pairs = dictionary_words(views, pair_languages(toy.embeddings, toy.dictionaries))
    random = np.random.default_rng(seed)
    size = next(iter(rows.values())).shape[1]
    rotations = {name: random.normal(size=(size, size)) for name in rows}
    square = random.normal(size=(size, size))
    return rotations, square @ square.T, rows, pairs


@pytest.mark.parametrize("languages", ["two", "three"])
def test_autograd_finds_the_gradient_that_is_given(languages, request):
    mapper = WithGradient(max_iterations=1)
    at = arguments(request.getfixturevalue(languages), mapper)
    given, given_metric = mapper.gradient(*at)
    automatic, automatic_metric = RiemannianMapper.gradient(mapper, *at)
    assert given.keys() == automatic.keys()
    for name, slope in given.items():
        np.testing.assert_allclose(automatic[name], slope, rtol=1e-9, atol=1e-9)
    symmetric = (automatic_metric + automatic_metric.T) / 2
    np.testing.assert_allclose(symmetric, given_metric, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("start", ["procrustes", None])
@pytest.mark.parametrize("own", [OwnGeoMM, WithGradient])
def test_geomm_s_own_loss_reaches_the_exact_cost(two, moments_of, own, start):
    mapper = two.fit(own(start=start, tolerance=1e-13, max_iterations=2000))
    moments = moments_of(two, mapper)
    weight = LAMBDA * moments.pairs
    exact = two.fit("geomm", regularization=weight)
    least = cost_of(moments, exact.W("en", "es"), weight) / moments.pairs
    cost = cost_of(moments, mapper.W("en", "es"), weight) / moments.pairs
    assert least <= cost <= least * (1 + 1e-5)
    assert mapper.report_.solver[ALL_DICTIONARIES].cost == pytest.approx(cost, rel=1e-9)


def test_the_loss_falls_from_its_start(two):
    mapper = two.fit(OwnGeoMM(start="procrustes"))
    assert mapper.report_.solver[ALL_DICTIONARIES].cost < mapper.report_.extras["start"]["loss"]


def test_three_languages_reach_what_geomm_multi_reaches(three):
    mapper = three.fit(OwnGeoMM(start="procrustes", tolerance=1e-12, max_iterations=2000))
    joint = three.fit("geomm_multi", regularization=LAMBDA, tolerance=1e-9)
    solver = joint.report_.solver[ALL_DICTIONARIES]
    assert mapper.report_.solver[ALL_DICTIONARIES].cost == pytest.approx(solver.cost, rel=1e-4)


@pytest.mark.parametrize("name", ["geomm", "geomm_multi"])
def test_the_start_is_what_geomm_learnt(two, name):
    fitted = two.fit(name, regularization=1.0)
    rotations, metric = rotations_and_metric(fitted.matrices_)
    for rotation in rotations.values():
        np.testing.assert_allclose(rotation.T @ rotation, np.eye(len(metric)), atol=1e-10)
    W = rotations["en"] @ metric @ rotations["es"].T
    np.testing.assert_allclose(W, fitted.W("en", "es"), atol=1e-5 * np.abs(W).max())


def test_only_dictionary_words_are_given_and_pairs_count_them(three):
    rows, pairs = arguments(three, OwnGeoMM(max_iterations=1))[2:]
    mapper = three.fit(OwnGeoMM(max_iterations=1))
    for language, vectors in rows.items():
        assert len(vectors) < len(three.embeddings[language])
        assert len(np.unique(vectors, axis=0)) == len(vectors)
    for (source, target), own in pairs.items():
        listed = dict.fromkeys(three.dictionaries[source, target])
        x, z = three.rows(mapper, source, target)
        assert len(own) == len(listed)
        given = {tuple(map(float, row)) for row in np.hstack([x, z]).round(6)}
        both = np.hstack([rows[source][own.source], rows[target][own.target]])
        assert {tuple(map(float, row)) for row in both.round(6)} == given


def test_languages_of_different_dimensions(uneven):
    mapper = uneven.fit(OwnGeoMM())
    assert mapper.matrices_["en"].shape[0] == 12
    assert mapper.matrices_["es"].shape[0] == 9


@dataclass(kw_only=True, eq=False, repr=False)
class PlainNumpy(RiemannianMapper):
    """Written without autograd."""

    name: ClassVar[str] = "plain"

    def loss(self, rotations, metric, vectors, pairs):
        return float(np.sum(metric))


@dataclass(kw_only=True, eq=False, repr=False)
class NoNumber(RiemannianMapper):
    """A loss without a value."""

    name: ClassVar[str] = "no_number"

    def loss(self, rotations, metric, vectors, pairs):
        return anp.log(-anp.sum(metric**2))


def test_a_loss_without_gradient_or_value_is_told(toy):
    with pytest.raises(ParameterError, match="autograd.numpy"):
        toy.fit(PlainNumpy())
    with pytest.raises(LanguagesError, match="not finite at its start"):
        toy.fit(NoNumber())


@pytest.mark.parametrize("start", ["geomm_unsup", "nothing"])
def test_a_start_without_matrices_is_refused(toy, start):
    with pytest.raises((ParameterError, LookupError)):
        toy.fit(OwnGeoMM(start=start))


def test_contract():
    check_mapper(OwnGeoMM, max_iterations=20)


def test_many_languages_are_learnt_along_a_chain():
    toy = make_toy(("en", "es", "it"), links=[("en", "es"), ("es", "it")])
    mapper = toy.fit(OwnGeoMM())
    answers = mapper.map(toy.embeddings).translate("en5", "en", "it", k=1)
    assert answers[0][0] == "it5"
    assert get_mapper("geomm_multi").joint and mapper.joint
