"""The loop: what is held out, which round is kept."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from geomm_plugin import evaluate, get_mapper, load_mapper, save_mapper
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.fit_report import FitReport
from geomm_plugin.fitting.induction import induce
from geomm_plugin.mappers import Procrustes
from geomm_plugin.normalize import Normalizer
from geomm_plugin.testing import Toy, make_toy

SEMI = ("geomm_semi", "procrustes_semi", "geomm_multi_semi")


def as_set(pairs):
    return set(zip(pairs.source.tolist(), pairs.target.tolist(), strict=True))


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
def test_few_words_are_learnt_first_and_then_all(name, monkeypatch):
    monkeypatch.setattr("geomm_plugin.fitting.loop.FIRST_WORDS", 100)
    toy = make_toy(words=400, dimension=20, noise=0.5, pairs=12)
    learnt = toy.fit(get_mapper(name))
    plain, *rounds = learnt.report_.rounds
    assert plain.words == plain.pairs_induced == 0 and plain.mean_csls is None
    words = [told.words for told in rounds]
    assert set(words) == {100, 400} and words == sorted(words) and words.count(400) <= 3
    assert len(rounds) < learnt.max_rounds
    assert learnt.report_.kept_round >= len(rounds) - 1 and precision(learnt, toy) > 0.9
    cut = toy.fit(get_mapper(name, max_rounds=2, vocabulary=100)).report_.rounds
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


def views(toy):
    vectors = {name: value.vectors for name, value in toy.embeddings.items()}
    normalizer = Normalizer(("unit",)).fit(vectors)
    return {name: normalizer.view(name, rows) for name, rows in vectors.items()}


@pytest.mark.parametrize(
    "name",
    [
        *("procrustes", "geomm", "geomm_multi", "msf", "cca", "regression"),
        *("gpa", "msf_mu", "rcsls", "geomm_rcsls"),
    ],
)
def test_pairs_that_are_hardly_sure_hardly_count(name):
    toy = make_toy(words=150, dimension=8)
    vectors, rows = views(toy), np.arange(90)
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
