"""Rounds of self-learning: what is fitted, with which parameters, and how they are judged."""

import numpy as np
import pytest

from geomm_plugin.dictionary import RowPairs
from geomm_plugin.fit_report import FitReport, RoundReport
from geomm_plugin.fitting.cross_fit import CrossFit, Judgement, divide
from geomm_plugin.fitting.induction import Induced
from geomm_plugin.fitting.rounds import Round, Rounds, falls, pays, settled
from geomm_plugin.mappers import GeoMM, Procrustes
from geomm_plugin.normalize import Normalizer
from geomm_plugin.testing import make_toy

EDGE = ("en", "es")


def round_with(won=0, lost=0):
    """A round that translates half of its held-out words, but for those won and lost."""
    is_correct = np.arange(100) < 50
    is_correct[:lost] = False
    is_correct[50 : 50 + won] = True
    return Round({}, FitReport(), RoundReport(10, 5), judgement=Judgement([is_correct, is_correct]))


def test_a_round_pays_and_falls_only_beyond_chance():
    plain = round_with()
    assert not pays(round_with(won=3, lost=2), plain)  # by less than two standard errors
    assert pays(round_with(won=9, lost=2), plain)
    assert not pays(round_with(won=2, lost=9), plain)
    assert not falls(round_with(won=2, lost=5), plain)
    assert falls(round_with(won=2, lost=9), plain)
    unjudged = Round({}, FitReport(), RoundReport(10, 5))
    assert pays(unjudged, unjudged) and not falls(unjudged, unjudged)


def test_a_lambda_that_was_chosen_stays_in_the_folds(toy):
    mapper = toy.fit(GeoMM())
    (choice,) = mapper.report_.regularization.values()
    assert settled(mapper, mapper.report_).regularization == choice.value
    given = GeoMM(regularization=3.0)
    assert settled(given, FitReport()) is given


@pytest.fixture
def problem():
    toy = make_toy(words=700, dimension=10, noise=0.5)
    vectors = {name: value.vectors for name, value in toy.embeddings.items()}
    normalizer = Normalizer(("unit",)).fit(vectors)
    views = {name: normalizer.view(name, rows) for name, rows in vectors.items()}
    return views, {EDGE: RowPairs(np.arange(600), np.arange(600))}


def rounds_of(problem, is_judged, asked):
    vectors, pairs = problem

    def learner(vectors, pairs, held_out, induced):
        asked.append((len(pairs[EDGE]), len(held_out.get(EDGE, ())), induced))
        return Procrustes()

    cross_fit = CrossFit(vectors, divide(pairs, 0.2, 0)) if is_judged else None
    return Rounds(learner, vectors, pairs, "mutual", cross_fit)


def induced_pairs(first, last):
    rows = np.arange(first, last)
    return Induced({EDGE: RowPairs(rows, rows)}, 0.5, 700, {EDGE: None})


def test_parameters_are_chosen_once_on_words_that_are_held_out(problem):
    asked = []
    fits = rounds_of(problem, True, asked)
    plain = fits.plain()
    one = fits.learn(induced_pairs(500, 650), 0.0)
    two = fits.judged(fits.learn(induced_pairs(500, 700), 0.0))
    # The fold holds 480 of 600 words; of the 150 induced pairs those of its other 120 are left out.
    assert asked[0] == (600, 0, False) and len(asked) == 2
    size, held_out, is_induced = asked[1]
    assert held_out == 120 and is_induced and 480 + 50 <= size < 480 + 150
    assert not one.induced.listed, "lists are not kept with every round"
    assert plain.judgement is not None and one.judgement is None
    assert two.told.held_out_precision == two.judgement.precision
    assert two.told.pairs_induced == 200 and fits.judged(two) is two


def test_without_words_to_judge_by_nothing_is_held_out(problem):
    asked = []
    fits = rounds_of(problem, False, asked)
    one = fits.learn(induced_pairs(500, 650), 0.0)
    assert asked == [(650, 0, True)]
    assert fits.judged(one) is one and fits.plain().judgement is None
