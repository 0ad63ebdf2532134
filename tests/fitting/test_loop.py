"""The loop of self-learning, with told means: when it searches, when it ends, what it keeps."""

import numpy as np
import pytest

from geomm_plugin.fit_report import FitReport, RoundReport
from geomm_plugin.fitting import loop as module
from geomm_plugin.fitting.cross_fit import Judgement
from geomm_plugin.fitting.induction import Induced
from geomm_plugin.fitting.loop import Loop, rises
from geomm_plugin.fitting.rounds import Round

MANY = 25_000


class Told:
    """Stands for fits and inductions: round r has the maps {"round": r}; means are told."""

    def __init__(self, means, precision=None):
        self.vectors, self.pairs, self.induction = {}, {}, "mutual"
        self.means = list(means)  # of each induction, in turn
        self.precision = precision or {}  # share of 400 words right, by round, where judged
        self.asked = []  # (round whose maps were looked at, words, was it a search)
        self.judged_rounds = []
        self.fitted = 0

    def plain(self):
        return self._round(None) if not self.precision else self.judged(self._round(None))

    def learn(self, induced, clock):
        self.fitted += 1
        return self._round(induced)

    def judged(self, each):
        number = each.maps["round"]
        self.judged_rounds.append(number)
        if number not in self.precision:
            return each
        words = np.arange(400) < 400 * self.precision[number]
        return Round(each.maps, each.report, each.told, each.induced, Judgement([words, words]))

    def induce(self, vectors, maps, edges, words, induction, listed):
        self.asked.append((maps["round"], words, listed is None))
        return Induced({}, self.means.pop(0), words, {})

    def _round(self, induced):
        return Round({"round": self.fitted}, FitReport(), RoundReport(0, 0), induced)


def run(monkeypatch, told, words=MANY, max_rounds=30):
    monkeypatch.setattr(module, "induce", told.induce)
    seen = []
    loop = Loop(told, max_rounds, seen.append)
    loop.run(words)
    assert len(seen) == len(loop.rounds) - 1 == told.fitted
    return loop


def test_three_rounds_learn_from_a_search_until_they_raise_the_mean_no_more(monkeypatch):
    few, many = [0.1, 0.2, 0.3, 0.2, 0.202, 0.2035], [0.1, 0.2, 0.3, 0.2, 0.2]
    told = Told(few + many)
    loop = run(monkeypatch, told)
    words, rows = module.FIRST_WORDS, iter(told.asked)
    assert [next(rows) for _ in few] == [
        *[(0, words, True), (1, words, False), (2, words, False)],
        *[(3, words, True), (4, words, False), (5, words, False)],
    ]
    assert list(rows) == [
        *[(6, MANY, True), (7, MANY, False), (8, MANY, False)],
        *[(9, MANY, True), (10, MANY, False)],
    ]
    assert loop.kept == 10 and not told.means


def test_few_words_are_all_words_where_there_are_no_more(monkeypatch):
    told = Told([0.1, 0.2, 0.3, 0.2, 0.2004])
    loop = run(monkeypatch, told, words=500)
    assert told.asked[-1] == (4, 500, False) and {words for _, words, _ in told.asked} == {500}
    assert loop.kept == 4 and not told.means


def test_maps_whose_mean_fell_are_dropped(monkeypatch):
    flat = run(monkeypatch, Told([0.2, 0.2005]), words=500)
    assert flat.kept == 1 and len(flat.rounds) == 2
    told = Told([0.2, 0.3, 0.25, 0.3, 0.3])
    fell = run(monkeypatch, told, words=500)
    assert told.asked[3] == (1, 500, True), "the second round's maps had 0.25, the first's 0.3"
    assert fell.kept == 3
    at_once = run(monkeypatch, Told([0.2, 0.19]), words=500)
    assert at_once.kept == 0 and len(at_once.rounds) == 2
    searched_lower = run(monkeypatch, Told([0.2, 0.3, 0.4, 0.19]), words=500)
    assert searched_lower.kept == 0 and len(searched_lower.rounds) == 4


@pytest.mark.parametrize("most", [0, 1, 2, 4])
def test_there_are_no_more_rounds_than_asked_for(monkeypatch, most):
    told = Told(np.arange(1, 20) / 10)
    loop = run(monkeypatch, told, max_rounds=most)
    assert loop.kept == most == len(loop.rounds) - 1


def test_a_first_round_that_does_not_pay_is_the_last(monkeypatch):
    told = Told([0.1] * 9, {0: 0.50, 1: 0.505})
    loop = run(monkeypatch, told)
    assert len(loop.rounds) == 2 and loop.kept == 0
    assert told.asked == [(0, module.FIRST_WORDS, True)] and told.judged_rounds == [0, 1]


@pytest.mark.parametrize("last", [0.6, 0.3])
def test_held_out_words_judge_the_first_round_and_have_a_veto_on_the_last(monkeypatch, last):
    told = Told([0.1, 0.101, 0.101] * 2, {0: 0.5, 1: 0.6, 4: last})
    loop = run(monkeypatch, told)
    assert told.judged_rounds == [0, 1, 4]
    assert loop.kept == (4 if last > 0.5 else 0)


def test_a_rise_is_a_share_of_the_mean():
    assert rises(0.103, 0.1, 0.02) and not rises(0.102, 0.1, 0.02)
    assert rises(-0.1, -np.inf, 0.02) and not rises(-0.1, -0.1, 0.02)
