"""Self-learning: what is held out, which fit is kept, the loop on toys of a known curve."""

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import pytest

from geomm_plugin import evaluate, get_mapper, load_mapper, save_mapper
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.errors import DictionaryError
from geomm_plugin.fit_report import FitReport, RoundReport
from geomm_plugin.fitting.held_out import CrossFit, HeldOutHits, divide
from geomm_plugin.fitting.induction import Induced, induce
from geomm_plugin.fitting.self_learning import (
    PACE,
    Fit,
    Fits,
    Loop,
    Pace,
    change_beyond_chance,
    rises,
    translated_share,
    with_chosen_regularization,
)
from geomm_plugin.mapper import LinearMapper
from geomm_plugin.mappers import GeoMM, Procrustes
from geomm_plugin.normalize import Normalizer
from geomm_plugin.testing import Toy, make_toy

SEMI = ("geomm_semi", "procrustes_semi", "geomm_multi_semi", "geomm_plus")


def seeded(toy, count):
    """Keep only some pairs of each dictionary."""
    return Toy(toy.embeddings, {key: found[:count] for key, found in toy.dictionaries.items()})


def precision(mapper, toy, languages=("en", "es")):
    space = mapper.map(toy.embeddings)
    source, target = languages
    gold = [(f"{source}{n}", f"{target}{n}") for n in range(len(toy.embeddings[source]))]
    return evaluate(space, source, target, gold).scores["p@1"]


@pytest.mark.parametrize("name", SEMI)
def test_a_tiny_dictionary_grows_into_the_whole_language(name):
    toy = seeded(make_toy(words=400, dimension=20, noise=0.3), 8)
    plain = toy.fit(get_mapper(name, max_rounds=0))
    learnt = toy.fit(get_mapper(name))
    assert precision(plain, toy) < 0.8
    assert precision(learnt, toy) > 0.95
    rounds = learnt.report_.rounds
    assert rounds[-1].pairs_induced > rounds[1].pairs_induced > rounds[0].pairs_induced == 0
    assert rounds[-1].mean_csls > rounds[1].mean_csls
    assert learnt.report_.kept_round > 0
    assert [each.words for each in rounds] == [0] + [400] * (len(rounds) - 1)  # there are no more
    assert all(each.held_out_precision is None for each in rounds)


@pytest.mark.parametrize("name", ["geomm", "procrustes"])
def test_without_rounds_it_is_the_plain_method(name, toy):
    plain = toy.fit(get_mapper(name))
    semi = toy.fit(get_mapper(f"{name}_semi", max_rounds=0))
    assert np.array_equal(semi.W("en", "es"), plain.W("en", "es"))
    assert semi.report_.rounds == [] and semi.report_.kept_round == 0


def test_if_no_round_helps_it_is_the_plain_method():
    # The frequent words are noise without counterparts: whatever is induced among them is wrong.
    bad, good = 1500, 550
    toy = make_toy(words=bad + good, dimension=10, noise=0.4)
    random = np.random.default_rng(1)
    embeddings = {}
    for language, value in toy.embeddings.items():
        vectors = value.vectors.copy()
        vectors[:bad] = random.normal(size=(bad, 10))
        embeddings[language] = type(value)(value.words, vectors)
    dictionary = {("en", "es"): [(f"en{n}", f"es{n}") for n in range(bad, bad + good)]}
    spoilt = Toy(embeddings, dictionary)
    plain = spoilt.fit(get_mapper("procrustes"))
    semi = spoilt.fit(get_mapper("procrustes_semi", vocabulary=bad))
    assert semi.report_.kept_round == 0
    assert np.array_equal(semi.W("en", "es"), plain.W("en", "es"))


@pytest.mark.parametrize("name", ["procrustes_semi", "geomm_semi"])
def test_few_words_are_learnt_first_and_then_all(name):
    toy = make_toy(words=400, dimension=20, noise=0.5, pairs=12)

    def learn(**params):
        mapper = get_mapper(name, **params)
        mapper.pace = Pace(first_words=100)
        return toy.fit(mapper)

    learnt = learn()
    plain, *rounds = learnt.report_.rounds
    assert plain.words == plain.pairs_induced == 0 and plain.mean_csls is None
    words = [told.words for told in rounds]
    assert set(words) == {100, 400} and words == sorted(words) and words.count(400) <= 3
    assert len(rounds) < learnt.max_rounds
    assert learnt.report_.kept_round >= len(rounds) - 1 and precision(learnt, toy) > 0.9
    cut = learn(max_rounds=2, vocabulary=100).report_.rounds
    assert [told.mean_csls for told in cut[1:]] == [told.mean_csls for told in rounds[:2]]


def test_many_languages_learn_on_every_edge():
    toy = seeded(make_toy(("en", "es", "it"), words=400, dimension=20, noise=0.3), 8)
    learnt = toy.fit(get_mapper("geomm_multi_semi"))
    assert precision(learnt, toy, ("es", "it")) > 0.95


def test_held_out_words_judge_the_rounds(tmp_path):
    toy = make_toy(words=900, dimension=12, pairs=600)
    learnt = toy.fit(get_mapper("procrustes_semi"))
    rounds = learnt.report_.rounds
    for each in (rounds[0], rounds[1], rounds[learnt.report_.kept_round]):
        assert 0 <= each.held_out_precision <= 1
    assert all(each.cpu_seconds >= 0 for each in rounds)
    save_mapper(learnt, tmp_path)  # without times, so that equal fits save equally
    for told, each in zip(load_mapper(tmp_path).report_.rounds, rounds, strict=True):
        assert told == replace(each, cpu_seconds=None)
    rounds = toy.fit(get_mapper("procrustes_semi", held_out=0.0)).report_.rounds
    assert all(each.held_out_precision is None for each in rounds)


@pytest.mark.parametrize(
    "name",
    [
        *("procrustes", "geomm", "geomm_multi", "msf", "cca", "regression"),
        *("gpa", "msf_mu", "rcsls", "geomm_rcsls"),
    ],
)
def test_pairs_that_are_hardly_sure_hardly_count(name):
    toy = make_toy(words=150, dimension=8)
    vectors, rows = toy.views("unit"), np.arange(90)
    wrong = np.roll(rows, 7)
    doubted = RowPairs(
        np.concatenate([rows, rows]),
        np.concatenate([rows, wrong]),
        labels=np.repeat([1.0, 1e-9], 90),
    )

    def learn(pairs):
        mapper = get_mapper(name, normalize=())
        if hasattr(mapper, "regularization"):
            mapper.regularization = 0.0
        if hasattr(mapper, "iterations"):
            mapper.iterations = 5
        maps = mapper.learn(vectors, {("en", "es"): pairs}, FitReport())
        return maps["en"] @ maps["es"].T

    def same(one, other):
        return np.allclose(one / np.linalg.norm(one), other / np.linalg.norm(other), atol=1e-6)

    right = learn(RowPairs(rows, rows))
    misled = learn(RowPairs(doubted.source, doubted.target))
    assert same(learn(doubted), right) and not same(misled, right)


@pytest.mark.parametrize("name", ["geomm_semi", "procrustes_semi", "geomm_plus"])
def test_many_languages_go_to_the_hub_and_what_is_not_used_is_told_once(name):
    toy = make_toy(("en", "es", "it"), words=150, dimension=8, noise=0.3, pairs=100)
    dictionaries = dict(toy.dictionaries)
    dictionaries["es", "it"] = [(f"es{n}", f"it{n}") for n in range(60)]
    with pytest.warns(UserWarning) as told:
        mapper = get_mapper(name, hub="es").fit(toy.embeddings, dictionaries)
    assert [str(warning.message) for warning in told] == [
        f"{name} maps each language to the hub 'es' and does not use the dictionaries en-it. "
        "Choose another hub, or a joint method such as geomm_multi."
    ]
    assert mapper.report_.hub == "es"


@pytest.mark.parametrize("induction", ["mutual", "union"])
def test_what_a_union_finds_twice_counts_twice_and_what_is_mutual_once(induction, monkeypatch):
    toy = make_toy(words=150, dimension=10, noise=0.8, pairs=40)
    plain = toy.fit(get_mapper("procrustes"))
    vectors = {n: plain.normalizer_.view(n, e.vectors) for n, e in toy.embeddings.items()}
    found = induce(vectors, plain.matrices_, [("en", "es")], 150, induction).pairs["en", "es"]
    fitted = []
    learn = Procrustes.learn

    def watched(self, vectors, pairs, report):
        fitted.append(pairs["en", "es"])
        return learn(self, vectors, pairs, report)

    def counted(pairs):
        return Counter(zip(pairs.source.tolist(), pairs.target.tolist(), strict=True))

    monkeypatch.setattr(Procrustes, "learn", watched)
    semi = toy.fit(get_mapper("procrustes_semi", induction=induction, max_rounds=1))
    first, second, *_ = fitted
    assert counted(first) & counted(found)  # some are in the dictionary already
    if induction == "mutual":
        assert counted(second) == counted(first) | counted(found)
    else:
        assert counted(second) == counted(first) + counted(found)
        assert set(counted(found).values()) == {1, 2}  # those that are mutual twice
    assert (second.labels is None) == (induction == "union")
    assert semi.report_.rounds[1].pairs_induced == len(found)


EDGE = ("en", "es")


def fit_with(won=0, lost=0):
    """A fit that translates half of its held-out words, but for those won and lost."""
    is_correct = np.arange(100) < 50
    is_correct[:lost] = False
    is_correct[50 : 50 + won] = True
    return Fit({}, FitReport(), RoundReport(10, 5), hits=HeldOutHits([is_correct, is_correct]))


@pytest.mark.parametrize(
    ("won", "lost", "change"), [(3, 2, 0), (9, 2, 1), (2, 5, 0), (2, 9, -1), (0, 0, 0)]
)
def test_fits_differ_only_beyond_chance(won, lost, change):
    plain = fit_with()
    assert change_beyond_chance(fit_with(won=won, lost=lost), plain) == change


def test_without_held_out_words_the_loop_goes_on():
    unjudged = Fit({}, FitReport(), RoundReport(10, 5))
    assert change_beyond_chance(unjudged, unjudged) == 1


def test_a_lambda_that_was_chosen_stays_in_the_folds(toy):
    mapper = toy.fit(GeoMM())
    (choice,) = mapper.report_.regularization.values()
    assert with_chosen_regularization(mapper, mapper.report_).regularization == choice.value
    given = GeoMM(regularization=3.0)
    assert with_chosen_regularization(given, FitReport()) is given


@pytest.fixture
def problem():
    views = make_toy(words=700, dimension=10, noise=0.5).views("unit")
    return views, {EDGE: RowPairs(np.arange(600), np.arange(600))}


def fits_of(problem, is_judged, asked):
    vectors, pairs = problem

    def learner(vectors, pairs, held_out):
        aside = None if held_out is None else len(held_out.get(EDGE, ()))
        asked.append((len(pairs[EDGE]), aside))
        return Procrustes()

    cross_fit = CrossFit(vectors, divide(pairs, 0.2, 0)) if is_judged else None
    return Fits(learner, vectors, pairs, "mutual", cross_fit)


def induced_pairs(first, last):
    rows = np.arange(first, last)
    return Induced({EDGE: RowPairs(rows, rows)}, 0.5, 700, {EDGE: None})


def test_parameters_are_chosen_once_on_words_that_are_held_out(problem):
    asked = []
    fits = fits_of(problem, True, asked)
    plain = fits.plain()
    one = fits.learn(induced_pairs(500, 650))
    two = fits.judged(fits.learn(induced_pairs(500, 700)))
    # The fold holds 480 of 600 words; of the 150 induced pairs those of its other 120 are left out.
    assert asked[0] == (600, None) and len(asked) == 2
    size, held_out = asked[1]
    assert held_out == 120 and 480 + 50 <= size < 480 + 150
    assert not one.induced.listed, "lists are not kept with every round"
    assert plain.hits is not None and one.hits is None
    assert two.summary.held_out_precision == two.hits.precision
    assert two.summary.pairs_induced == 200 and fits.judged(two) is two


def test_without_words_to_judge_by_nothing_is_held_out(problem):
    asked = []
    fits = fits_of(problem, False, asked)
    one = fits.learn(induced_pairs(500, 650))
    assert asked == [(650, 0)]
    assert fits.judged(one) is one and fits.plain().hits is None


@dataclass(kw_only=True, eq=False, repr=False)
class Turning(LinearMapper):
    """Fit number n is wrong by the n-th angle: the mean CSLS falls as the angle grows."""

    name: ClassVar[str] = "turning"
    degrees: list = field(default_factory=list)

    def learn(self, vectors, pairs, report):
        angle = np.radians(self.degrees.pop(0) if len(self.degrees) > 1 else self.degrees[0])
        plane = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        turn = np.kron(np.eye(10), plane)
        return {"en": turn, "es": np.eye(20)}


def loop_of(*degrees, words=400, max_rounds=30, held_out=0):
    """Run the loop on two copies of a language, by fits that are wrong by these angles."""
    toy = make_toy(words=600, dimension=20, noise=0.0)
    x = toy.embeddings["en"].vectors
    normalizer = Normalizer(("unit",)).fit({"en": x, "es": x})
    vectors = {name: normalizer.view(name, x) for name in ("en", "es")}
    rows = np.arange(40)
    pairs = {EDGE: RowPairs(rows, rows)}
    mapper = Turning(degrees=list(degrees))
    cross_fit = CrossFit(vectors, divide(pairs, 0.5, 0, spare=2)) if held_out else None
    means = []
    loop = Loop(
        Fits(lambda *_: mapper, vectors, pairs, "mutual", cross_fit), max_rounds, means.append
    )
    loop.run(words)
    assert means == [each.summary.mean_csls for each in loop.fits[1:]]
    return loop


def mean_csls(degrees):
    """The mean CSLS of the mutual pairs that maps of some angle find."""
    return loop_of(degrees, degrees, max_rounds=1).fits[1].summary.mean_csls


def test_the_curve_is_known():
    assert mean_csls(50) < mean_csls(40) < mean_csls(30) < mean_csls(15) < mean_csls(0)


def test_rounds_go_on_while_they_raise_the_mean_and_the_best_is_kept():
    loop = loop_of(50, 40, 30, 15, 0)
    assert 4 <= loop.kept == len(loop.fits) - 1
    means = [each.summary.mean_csls for each in loop.fits[1:]]
    assert means == sorted(means)
    assert len(loop.fits) < 4 + 2 * PACE.rounds_a_search, "a plateau ends the loop"


def test_maps_whose_mean_fell_are_dropped():
    assert loop_of(50, 0, 50, 50).kept == 1
    assert loop_of(0, 50, 50).kept == 0


@pytest.mark.parametrize("most", [0, 1, 2])
def test_there_are_no_more_rounds_than_asked_for(most):
    loop = loop_of(50, 40, 30, 15, 0, max_rounds=most)
    assert loop.kept == most == len(loop.fits) - 1


def test_a_first_round_that_does_not_beat_the_plain_fit_is_the_last():
    # Each judgement is two fits, of the folds: plain and its folds are right, the round is wrong.
    worse = loop_of(0, 0, 0, 80, 80, 80, held_out=1)
    assert len(worse.fits) == 2 and worse.kept == 0
    assert worse.fits[0].hits.precision == 1 > worse.fits[1].hits.precision
    better = loop_of(80, 80, 80, 0, held_out=1)
    assert better.kept > 0 and better.fits[1].hits.precision == 1


@pytest.mark.parametrize(("judged", "kept"), [(0, 2), (80, 0)])
def test_held_out_words_have_a_veto_on_the_last_round(judged, kept):
    """Its mean CSLS is the highest; the fits of its folds are right, or worse than plain ones."""
    loop = loop_of(50, 50, 50, 30, 0, 0, 15, judged, judged, max_rounds=2, held_out=1)
    plain, first, last = (fit.hits.precision for fit in loop.fits)
    assert loop.fits[2].summary.mean_csls > loop.fits[1].summary.mean_csls
    assert (first > plain and last > plain) if kept else (first > plain > last)
    assert loop.kept == kept


def test_a_rise_is_a_share_of_the_mean():
    assert rises(0.103, 0.1, 0.02) and not rises(0.102, 0.1, 0.02)
    assert rises(-0.1, -np.inf, 0.02) and not rises(-0.1, -0.1, 0.02)


def test_the_loop_of_the_paper_ends_by_its_validation_words_and_learns_from_all_pairs(monkeypatch):
    fitted, learn = [], Procrustes.learn

    def watched(self, vectors, pairs, report):
        fitted.append(pairs[EDGE])
        return learn(self, vectors, pairs, report)

    monkeypatch.setattr(Procrustes, "learn", watched)
    toy = make_toy(words=400, dimension=20, noise=0.4, pairs=25)
    report = toy.fit(get_mapper("procrustes_semi", induction="paper")).report_
    shares = [each.held_out_precision for each in report.rounds]
    kept = report.kept_round
    assert shares[: kept + 1] == sorted(set(shares[: kept + 1])) and kept > 0
    assert len(shares) == kept + 2 and shares[-1] <= shares[kept], "it ends where nothing is gained"
    *rounds, last = fitted
    assert {len(pairs.given()) for pairs in rounds} == {20} and len(last.given()) == 25
    again = rounds[kept]
    assert len(last) - len(last.given()) == len(again) - len(again.given()) == 2 * 400
    assert last.labels is None


def test_the_loop_of_the_paper_needs_words_to_validate_by():
    toy = make_toy(words=100, dimension=10, pairs=9)
    with pytest.raises(DictionaryError, match="procrustes_semi with induction='paper'.*10 source"):
        toy.fit(get_mapper("procrustes_semi", induction="paper"))


def test_the_share_of_validation_words_is_that_of_words_that_were_translated():
    found = Induced({}, 0.5, 4, {}, {EDGE: np.array([7, 1, 2, 0])})
    gold = RowPairs(np.array([0, 0, 1, 3, 9]), np.array([5, 7, 3, 0, 9]))  # word 9 is beyond
    assert translated_share(found, {EDGE: gold}) == pytest.approx(2 / 3)
    assert translated_share(found, {}) == 0
