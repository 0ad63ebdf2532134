"""The contrastive loss: its gradient against autograd, its negatives against brute force."""

import autograd
import autograd.numpy as anp
import numpy as np
import pytest

from geomm_plugin.dictionary import pair_languages
from geomm_plugin.fit_report import FitReport
from geomm_plugin.fitting.hub import Edge
from geomm_plugin.mappers.contrastive import Contrastive, ContrastiveLoss
from geomm_plugin.mappers.geomm_plus import Mixture
from geomm_plugin.mappers.msf import MSF
from geomm_plugin.testing import make_toy


@pytest.fixture
def edge():
    toy = make_toy({"en": 7, "es": 6}, words=80, pairs=30, drawn=True, noise=0.8, dtype="float64")
    ((languages, pairs),) = pair_languages(toy.embeddings, toy.dictionaries).items()
    views = toy.views("unit", "center")
    return Edge(*languages, *(views[name] for name in languages), pairs)


@pytest.fixture
def sides():
    random = np.random.default_rng(1)
    return random.normal(size=(7, 5)), random.normal(size=(6, 5))


def cosines(x, z):
    x = x / anp.sqrt(anp.sum(x**2, axis=1))[:, None]
    z = z / anp.sqrt(anp.sum(z**2, axis=1))[:, None]
    return x @ z.T


def test_loss_and_gradients_are_those_of_the_definition(edge, sides):
    loss_of = ContrastiveLoss(edge, 4, 0.3, 80)
    loss_of.find_negatives(sides)
    x, z = np.asarray(edge.x), np.asarray(edge.z)

    def by_definition(source, target):
        scores = cosines(x @ source, z @ target) / 0.3
        total = 0.0
        for pair, (i, j) in enumerate(zip(edge.pairs.source, edge.pairs.target, strict=True)):
            wrong = [scores[i, n] for n in loss_of.targets[pair]]
            wrong += [scores[n, j] for n in loss_of.sources[pair]]
            among = sum(anp.exp(score) for score in [scores[i, j], *wrong])
            total = total - (scores[i, j] - anp.log(among))
        return total / len(edge.pairs)

    loss, slopes = loss_of(sides)
    assert loss == pytest.approx(by_definition(*sides), rel=1e-9)
    for argument, slope in enumerate(slopes):
        expected = autograd.grad(by_definition, argument)(*sides)
        np.testing.assert_allclose(slope, expected, atol=1e-9)


def test_negatives_are_the_nearest_words_that_are_no_translations(edge, sides):
    loss_of = ContrastiveLoss(edge, 3, 0.3, 50)
    loss_of.find_negatives(sides)
    scores = cosines(np.asarray(edge.x) @ sides[0], np.asarray(edge.z) @ sides[1])
    pairs = set(zip(edge.pairs.source.tolist(), edge.pairs.target.tolist(), strict=True))
    for pair, (i, j) in enumerate(zip(edge.pairs.source, edge.pairs.target, strict=True)):
        wrong = [n for n in np.argsort(-scores[i, :50]) if (i, n) not in pairs]
        assert sorted(wrong[:3]) == loss_of.targets[pair].tolist()
        wrong = [n for n in np.argsort(-scores[:50, j]) if (n, j) not in pairs]
        assert sorted(wrong[:3]) == loss_of.sources[pair].tolist()


def test_without_steps_it_is_the_closed_form_and_steps_lower_the_loss(edge):
    mapper = Contrastive(negatives=5, iterations=0)
    start = mapper.first_maps(edge, FitReport())
    mixture = Mixture()
    expected = mixture.two_maps(mixture.learn_edge(edge, FitReport()))
    assert all(map(np.array_equal, start, expected))
    report = FitReport()
    assert all(map(np.array_equal, mapper.learn_sides(edge, report), start))
    assert report.extras["descent"]["en-es"]["iterations"] == 0
    losses = [loss for _, loss in mapper.descent(edge, report, 9)]  # no new negatives until then
    assert losses[-1] < losses[0]


def test_the_start_of_the_paper_is_that_of_msf(edge):
    expected = MSF().learn_sides(edge, FitReport())
    found = Contrastive(start="msf", iterations=0).learn_sides(edge, FitReport())
    assert all(map(np.array_equal, found, expected))
