"""The loop: what is induced, what is held out, which round is kept."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from geomm_plugin import (
    evaluate,
    get_mapper,
    load_mapper,
    save_mapper,
)
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.errors import ParameterError
from geomm_plugin.fitting.edge import Edge
from geomm_plugin.fitting.fit_report import ALL_DICTIONARIES, FitReport
from geomm_plugin.fitting.held_out import Pool, folds
from geomm_plugin.fitting.induction import induce, join_all, join_mutual, soft_labels
from geomm_plugin.fitting.latent import latent_maps
from geomm_plugin.fitting.self_learner import (
    MIN_CSLS_GAIN,
    Round,
    best_round,
    divide,
)
from geomm_plugin.mappers import (
    GeoMM,
    GeoMMMultiSemi,
    GeoMMSemi,
    Procrustes,
    SelfLearning,
)
from geomm_plugin.mappers.geomm_semi import ScaledGeoMM
from geomm_plugin.mappers.gpa import chained
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
    assert rounds[-1].pairs_induced > rounds[0].pairs_induced
    assert rounds[-1].mean_csls > rounds[0].mean_csls
    assert learnt.report_.kept_round > 0
    assert {each.words for each in rounds} == {400}  # there are no more
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


def test_any_linear_mapper_can_be_wrapped(toy):
    wrapped = toy.fit(get_mapper("self_learning", mapper="procrustes"))
    semi = toy.fit(get_mapper("procrustes_semi"))
    assert np.array_equal(wrapped.W("en", "es"), semi.W("en", "es"))
    other = toy.fit(get_mapper("self_learning", mapper="regression"))
    assert not np.allclose(other.W("en", "es"), semi.W("en", "es"))
    strict, lax = (
        toy.fit(get_mapper("self_learning", mapper=f"regression:regularization={value}"))
        for value in (0, 1000)
    )
    assert np.linalg.norm(lax.W("en", "es")) < np.linalg.norm(strict.W("en", "es")) / 2
    with pytest.raises(ParameterError, match="'regression' has no parameter 'lambda'"):
        toy.fit(get_mapper("self_learning", mapper="regression:lambda=3"))
    with pytest.raises(ParameterError, match="self-learning already"):
        toy.fit(get_mapper("self_learning", mapper="geomm_semi"))


@pytest.mark.parametrize("name", ["procrustes_semi", "geomm_semi"])
def test_few_words_are_learnt_and_then_all_each_until_the_mean_csls_is_flat(name, monkeypatch):
    monkeypatch.setattr("geomm_plugin.fitting.self_learner.FIRST_WORDS", 100)
    toy = make_toy(words=400, dimension=20, noise=0.5, pairs=12)
    learnt = toy.fit(get_mapper(name))
    rounds = learnt.report_.rounds
    words = [told.words for told in rounds]
    assert words == sorted(words) and set(words) == {100, 400}
    for count in (100, 400):
        means = np.array([told.mean_csls for told in rounds if told.words == count])
        rises = np.diff(means) > MIN_CSLS_GAIN * np.abs(means[1:])
        assert len(rises) > 1 and rises[:-1].all() and not rises[-1]
    assert len(rounds) < learnt.max_rounds
    assert words[learnt.report_.kept_round] == 400 and precision(learnt, toy) > 0.9
    cut = toy.fit(get_mapper(name, max_rounds=2, vocabulary=100)).report_.rounds
    assert [told.mean_csls for told in cut] == [told.mean_csls for told in rounds[:3]]


def test_many_languages_learn_on_every_edge():
    toy = seeded(make_toy(("en", "es", "it"), words=400, dimension=20, noise=0.3), 8)
    learnt = toy.fit(get_mapper("geomm_multi_semi"))
    assert precision(learnt, toy, ("es", "it")) > 0.95


def test_held_out_words_judge_the_rounds(tmp_path):
    toy = make_toy(words=900, dimension=12, pairs=600)
    learnt = toy.fit(get_mapper("procrustes_semi"))
    rounds = learnt.report_.rounds
    assert all(0 <= each.held_out_precision <= 1 and each.cpu_seconds >= 0 for each in rounds)
    save_mapper(learnt, tmp_path)  # without times, so that equal fits save equally
    for told, each in zip(load_mapper(tmp_path).report_.rounds, rounds, strict=True):
        assert told == replace(each, cpu_seconds=None)
    rounds = toy.fit(get_mapper("procrustes_semi", held_out=0.0)).report_.rounds
    assert all(each.held_out_precision is None for each in rounds)


def test_division_is_by_source_word_and_spares_small_dictionaries():
    source = np.repeat(np.arange(600), 2)
    pairs = {
        ("a", "b"): RowPairs(source, np.arange(1200)),
        ("b", "c"): RowPairs(*[np.arange(99)] * 2),
    }
    train, held = divide(pairs, 0.2, seed=0)
    assert set(held) == {("a", "b")}
    aside, kept = held["a", "b"], train["a", "b"]
    assert not set(aside.source) & set(kept.source)
    assert as_set(aside) | as_set(kept) == as_set(pairs["a", "b"])
    assert len(np.unique(aside.source)) == 120
    assert train["b", "c"] is pairs["b", "c"]


def views(toy):
    vectors = {name: value.vectors for name, value in toy.embeddings.items()}
    normalizer = Normalizer(("unit",)).fit(vectors)
    return {name: normalizer.view(name, rows) for name, rows in vectors.items()}


def brute_force_csls(x, z, k=10):
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    z = z / np.linalg.norm(z, axis=1, keepdims=True)
    cosines = x @ z.T
    r_target = np.sort(cosines, axis=1)[:, -k:].mean(axis=1)
    r_source = np.sort(cosines, axis=0)[-k:].mean(axis=0)
    return 2 * cosines - r_target[:, None] - r_source


def test_induced_pairs_are_those_of_brute_force():
    toy = make_toy(words=150, dimension=8, noise=0.8)
    vectors, words = views(toy), 100
    random = np.random.default_rng(0)
    maps = {name: random.normal(size=(8, 8)) for name in vectors}
    x, z = (vectors[name][:words].astype(float) @ maps[name] for name in ("en", "es"))
    scores = brute_force_csls(x, z)
    forth, back = scores.argmax(axis=1), scores.argmax(axis=0)
    mutual = {(i, int(j)) for i, j in enumerate(forth) if back[j] == i}

    found = induce(vectors, maps, [("en", "es")], words, "mutual")
    assert as_set(found.pairs["en", "es"]) == mutual
    expected = np.mean([scores[pair] for pair in mutual])
    assert found.mean_csls == pytest.approx(expected, abs=1e-5)
    pairs = found.pairs["en", "es"]
    sure = np.maximum(scores[pairs.source, pairs.target], 1e-3)
    assert np.allclose(pairs.labels, sure / sure.mean(), atol=1e-3)

    union = induce(vectors, maps, [("en", "es")], words, "union")
    pairs = union.pairs["en", "es"]
    assert len(pairs) == 2 * words and pairs.labels is None
    both = {(i, int(j)) for i, j in enumerate(forth)} | {(int(i), j) for j, i in enumerate(back)}
    assert as_set(pairs) == both
    assert union.mean_csls == pytest.approx(expected, abs=1e-5)


def test_joining_counts_once_or_twice():
    one = RowPairs(np.array([0, 1, 2]), np.array([5, 6, 7]))
    other = RowPairs(np.array([2, 3]), np.array([7, 8]))
    assert len(join_mutual(one, other)) == 4
    assert len(join_all(one, other)) == 5
    assert (
        as_set(join_mutual(one, other))
        == as_set(join_all(one, other))
        == as_set(one) | as_set(other)
    )


def test_induced_pairs_are_labelled_by_their_csls_and_the_dictionary_by_one():
    labels = soft_labels(np.array([0.1, 0.3, -0.2]))
    assert np.allclose(labels, np.array([0.1, 0.3, 0.001]) * 3 / 0.401)
    assert len(soft_labels(np.empty(0))) == 0
    dictionary = RowPairs(np.array([5, 0]), np.array([5, 0]))
    induced = RowPairs(np.array([0, 1, 5]), np.array([0, 1, 6]), labels=labels)
    both = join_mutual(dictionary, induced)
    found = dict(zip(zip(both.source, both.target, strict=True), both.label(), strict=True))
    assert found == {(0, 0): 1.0, (1, 1): labels[1], (5, 5): 1.0, (5, 6): labels[2]}


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


PLAIN = Procrustes()


def round_with(correct, of=100, words=10):
    """A round that translates the first so many of its held-out words, in both directions."""
    right = np.arange(of) < correct
    return Round(words, None, 0.1, PLAIN, (right, right))


def test_the_best_round_is_by_held_out_words():
    assert best_round([]) == 0
    held = [round_with(50), round_with(70), round_with(60, words=20)]
    assert [each.precision for each in held] == [0.5, 0.7, 0.6]
    assert best_round(held) == 1
    assert best_round([*held, round_with(70)]) == 3  # of equals the last
    assert best_round([round_with(50), round_with(50)]) == 0  # no gain: the plain fit


def test_a_lead_within_its_standard_error_is_none():
    plain = round_with(50, of=100)
    lucky = np.arange(100) < 50
    lucky[[0, 1, 60, 61, 62]] ^= True  # two words lost, three won
    assert best_round([plain, Round(10, None, 0.1, PLAIN, (lucky, lucky))]) == 0
    won = np.arange(100) < 50
    won[60:63] = True  # three won, none lost: the lead is 0.03, its standard error 0.017
    assert best_round([plain, Round(10, None, 0.1, PLAIN, (won, won))]) == 1


def test_without_held_out_words_the_best_round_is_by_mean_csls_of_the_last_vocabulary():
    seen = [Round(10, None, 0.9, PLAIN), Round(20, None, 0.3, PLAIN), Round(20, None, 0.2, PLAIN)]
    assert [each.precision for each in seen] == [None] * 3
    assert best_round(seen) == 1


def test_lambda_follows_the_number_of_pairs():
    # At a given lambda on the 1/|Omega| scale, a dictionary written twice is the same problem.
    toy = make_toy(words=150, dimension=8)
    vectors = views(toy)
    pairs = RowPairs(np.arange(90), np.arange(90))
    edge = Edge("en", "es", vectors["en"], vectors["es"], pairs)
    scaled = ScaledGeoMM(regularization=0.5).solve(edge, 0.5, FitReport())
    assert np.allclose(scaled, GeoMM().solve(edge, 45.0, FitReport()))


def test_lambda_is_that_which_translates_held_out_words_best():
    edge, chosen = ("en", "es"), []
    for dimension, pairs in ((12, 30), (40, 60)):
        vectors = views(make_toy(words=300, dimension=dimension, noise=0.9))
        train = RowPairs(np.arange(pairs), np.arange(pairs))
        held = RowPairs(np.arange(200, 300), np.arange(200, 300))
        pool = Pool(vectors["en"], vectors["es"], held)

        def precision_at(share, vectors=vectors, train=train, pool=pool):
            edge = Edge("en", "es", vectors["en"], vectors["es"], train)
            W = ScaledGeoMM().solve(edge, share, FitReport())
            maps = latent_maps("es", {"en": W})
            return pool.precision(maps["en"], maps["es"])

        chosen.append(GeoMMSemi().share(vectors, {edge: train}, {edge: held}))
        assert chosen[-1] == max(GeoMMSemi.candidates, key=precision_at)
        assert GeoMMSemi().share(vectors, {edge: train}, {}) == GeoMMSemi.default
        assert GeoMMSemi(regularization=7.0).share(vectors, {edge: train}, {edge: held}) == 7.0
    assert chosen[0] != chosen[1]  # no constant does


def test_lambda_of_a_shared_metric_is_multiplied_by_the_number_of_dictionaries():
    toy = make_toy(("en", "es", "it"), words=150, dimension=8, noise=0.3, pairs=60)
    semi = toy.fit(GeoMMMultiSemi(regularization=0.2, max_rounds=0))
    joint = toy.fit(get_mapper("geomm_multi", regularization=0.2 * 2))
    for language in toy.embeddings:
        assert np.array_equal(semi.matrices_[language], joint.matrices_[language])
    _, *later = toy.fit(GeoMMMultiSemi(max_rounds=1)).report_.rounds
    assert [told.regularization for told in later] == [GeoMMMultiSemi.default * 2]


def test_the_last_fit_takes_the_whole_dictionary_and_the_lambda_of_the_round_kept(monkeypatch):
    toy = make_toy(words=1500, dimension=30, pairs=520, noise=0.7)
    fitted = []
    learn = ScaledGeoMM.learn

    def watched(self, vectors, pairs, report):
        fitted.append((self.regularization, pairs["en", "es"]))
        return learn(self, vectors, pairs, report)

    monkeypatch.setattr(ScaledGeoMM, "learn", watched)
    mapper = toy.fit(GeoMMSemi())
    kept = mapper.report_.kept_round
    assert kept > 0
    last, pairs = fitted[-1]
    assert last == fitted[kept - 1][0] == mapper.report_.rounds[kept].regularization
    assert mapper.report_.regularization[ALL_DICTIONARIES].value == last
    assert as_set(pairs.given()) == {(n, n) for n in range(520)}
    assert len(fitted[kept - 1][1].given()) == 416  # a fifth was held out


def test_lambda_of_a_mapper_inside_is_chosen_by_the_dictionary_alone():
    rows = np.arange(40)
    joined = join_mutual(RowPairs(rows, rows), RowPairs(rows + 20, rows + 25))
    for train, held in folds(joined):
        assert as_set(held) <= {(n, n) for n in range(40)}
        assert not set(held.source.tolist()) & set(train.source.tolist())
        assert len(train) + len(held) <= len(joined)
    words = set().union(*(held.source.tolist() for _, held in folds(joined)))
    assert words == set(range(40))


def test_the_mapper_inside_keeps_its_normalization():
    toy = make_toy(words=200, dimension=8, pairs=120, noise=0.3)
    for name in ("msf", "procrustes"):
        plain = toy.fit(get_mapper(name))
        wrapped = toy.fit(SelfLearning(mapper=name, max_rounds=0))
        assert np.array_equal(wrapped.W("en", "es"), plain.W("en", "es"))
    bare = toy.fit(SelfLearning(mapper="procrustes:normalize=unit", max_rounds=0))
    assert bare.normalizer_.steps == ("unit",)
    given = toy.fit(SelfLearning(mapper="msf", normalize=("unit",), max_rounds=0))
    assert given.normalizer_.steps == ("unit",)
    assert SelfLearning(mapper="geomm_multi").joint and not SelfLearning().joint


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


def test_at_least_one_word_is_held_out():
    rows = np.arange(600)
    train, held = divide({("en", "es"): RowPairs(rows, rows)}, 0.0005, 0)
    assert len(held["en", "es"]) == 1 and len(train["en", "es"]) == 599


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
    assert semi.report_.rounds[0].pairs_induced == len(found)


def test_union_pairs_are_chained_as_they_are():
    toy = make_toy(("en", "es", "it"), words=600, dimension=20, noise=0.5, pairs=60)
    mapper = get_mapper("self_learning", mapper="gpa", induction="union", vocabulary=300)
    assert mapper.fit(toy.embeddings, toy.dictionaries).report_.rounds


def test_chains_are_those_of_a_loop_over_pairs_in_any_order():
    random = np.random.default_rng(0)
    first = RowPairs(random.integers(0, 9, 30), random.integers(0, 9, 30))
    second = RowPairs(random.integers(0, 9, 30), random.integers(0, 9, 30))
    found = chained({("en", "es"): first, ("es", "it"): second})["en", "it"]
    expected = {
        (a, d)
        for a, b in zip(first.source.tolist(), first.target.tolist(), strict=True)
        for c, d in zip(second.source.tolist(), second.target.tolist(), strict=True)
        if b == c
    }
    assert as_set(found) == expected and len(found) == len(expected)
