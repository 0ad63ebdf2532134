import re

import numpy as np
import pytest

from geomm_plugin import get_mapper, identical_words
from geomm_plugin.demo import load_demo
from geomm_plugin.dictionary import Dictionary, RowPairs
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import UnsupervisedError
from geomm_plugin.fit_report import ALL_DICTIONARIES, Choice, FitReport
from geomm_plugin.fitting.confirmation import (
    FEWEST_COGNATES,
    FEWEST_JUDGED,
    LEAST_ROWS,
    agreement_of_pairs,
    cognate_precision,
    doubt,
    doubt_of_fit,
    doubt_of_space,
    held_out_ranks,
    needed_agreement,
)
from geomm_plugin.normalize import unit
from geomm_plugin.rows import Rows

EDGE = ("a", "b")


def languages(words=200, dimension=20, seed=0):
    """One cloud, turned: word n of one is word n of the other, spelt alike."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(words, dimension)).astype(np.float32)
    rotation = np.linalg.qr(random.normal(size=(dimension, dimension)))[0]
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    names = ["".join(random.choice(letters, 8)) for _ in range(words)]
    one, other = Embeddings(names, x), Embeddings(names, (x @ rotation).astype(np.float32))
    return {"a": one, "b": other}, {"a": rotation, "b": np.eye(dimension)}


def test_right_maps_find_words_spelt_alike_and_wrong_ones_do_not():
    both, maps = languages()
    assert cognate_precision(*both.values(), maps["a"], maps["b"]) == 1
    assert cognate_precision(*both.values(), np.eye(20), maps["b"]) < 0.05


def test_few_words_spelt_alike_are_no_evidence():
    both, maps = languages()
    count = FEWEST_COGNATES - 1
    few = Embeddings([*both["b"].words[:count], *map(str, range(200 - count))], both["b"].vectors)
    assert cognate_precision(both["a"], few, maps["a"], maps["b"]) is None
    one_more = Embeddings([*both["b"].words[: count + 1], *few.words[count + 1 :]], few.vectors)
    assert cognate_precision(both["a"], one_more, maps["a"], maps["b"]) == 1


def test_rotations_need_more_pairs_than_other_maps():
    random = np.random.default_rng(0)
    rotation = np.linalg.qr(random.normal(size=(20, 20)))[0]
    for scale in (1, 7.5):
        assert needed_agreement(scale * rotation, np.eye(20)) == 0.75
    stretched = rotation * np.linspace(1, 1.1, 20)
    assert needed_agreement(stretched, np.eye(20)) == 0.5
    assert needed_agreement(np.full((20, 20), np.nan), np.eye(20)) == 0.5


@pytest.mark.parametrize(
    ("agreement", "needed", "cognates", "reason"),
    [
        (0.75, 0.75, None, "$"),
        (0.9, 0.5, 0.05, "$"),
        (0.74, 0.75, None, "74% of its pairs are confirmed by the others, 75% are needed"),
        (0.9, 0.5, 0.04, "4% of the cognates .* 5% are needed; does"),
        (0.4, 0.5, 0.6, "40% of its pairs .* 50% are needed"),
        (float("nan"), 0.5, None, "nan% of its pairs"),
    ],
)
def test_all_that_is_known_must_hold(agreement, needed, cognates, reason):
    assert re.match(reason, doubt(agreement, needed, cognates))


def test_vectors_of_other_words_are_refused_though_they_align():
    both, maps = languages()
    order = np.random.default_rng(1).permutation(200)
    both["b"] = Embeddings([both["b"].words[row] for row in order], both["b"].vectors)
    report = FitReport(recover={"a-b": 1.0})
    with pytest.raises(UnsupervisedError, match="a-b: 0% of the cognates.*own vector"):
        get_mapper("icp").confirm(both, maps, [EDGE], report)
    assert report.witnessed["a-b"] < 0.05
    with pytest.warns(UserWarning, match="icp found no translations"):
        get_mapper("icp", on_failure="warn").confirm(both, maps, [EDGE], report)


def test_pairs_found_by_rotations_need_more_whatever_the_last_maps():
    both, maps = languages()
    maps["a"] = maps["a"] * np.linspace(1, 1.01, 20)
    report = FitReport(recover={"a-b": 0.6})
    get_mapper("geomm_unsup").confirm(both, maps, [EDGE], report)
    assert report.witnessed == {"a-b": 1.0}
    with pytest.raises(UnsupervisedError, match="60% of its pairs.*75% are needed"):
        get_mapper("sl_unsup").confirm(both, maps, [EDGE], report)


def clouds(seed=0, words=600, dimension=20):
    random = np.random.default_rng(seed)
    x = unit(random.normal(size=(words, dimension))).astype(np.float32)
    rotation = np.linalg.qr(random.normal(size=(dimension, dimension)))[0]
    return x, (x @ rotation).astype(np.float32), unit(random.normal(size=x.shape))


def test_translations_are_found_again():
    x, z, _ = clouds()
    everything = np.arange(len(x))
    assert agreement_of_pairs(x, z, everything, everything) == 1


def test_pairs_without_a_rotation_are_not():
    x, _, other = clouds()
    everything = np.arange(len(x))
    assert agreement_of_pairs(x, other.astype(np.float32), everything, everything) < 0.2


def test_too_few_pairs_agree_on_nothing():
    x, z, _ = clouds(words=5)
    assert agreement_of_pairs(x, z, np.array([0]), np.array([0])) == 0


@pytest.fixture(scope="module")
def demo():
    """Return the vectors of two languages and a dictionary, and the same with shuffled columns."""
    whole = load_demo()
    right = whole.train["en", "es"]
    sources, targets = zip(*right, strict=True)
    order = np.random.default_rng(0).permutation(len(right))
    wrong = Dictionary(zip(sources, (targets[row] for row in order), strict=True))
    return {name: whole.embeddings[name] for name in ("en", "es")}, right, wrong


def test_held_out_pairs_rank_first_after_an_exact_rotation_and_anywhere_by_chance():
    random = np.random.default_rng(0)
    x = random.normal(size=(400, 20))
    z = x @ np.linalg.qr(random.normal(size=(20, 20)))[0]
    rows = np.arange(300)
    count, rank, first = held_out_ranks(Rows(x), Rows(z), RowPairs(rows, rows))
    assert (count, rank, first) == (300, 1 / 400, 1)
    shuffled = RowPairs(rows, random.permutation(rows))
    count, rank, first = held_out_ranks(Rows(x), Rows(z), shuffled)
    assert count == 300 and 0.4 < rank < 0.6 and first < 0.05
    assert held_out_ranks(Rows(x), Rows(np.zeros_like(z)), shuffled)[1:] == (1, 0)  # all are equal


@pytest.mark.parametrize("name", ["procrustes", "geomm", "msf", "geomm_plus"])
def test_a_fit_to_shuffled_pairs_is_doubted_and_one_to_real_pairs_is_not(demo, name):
    embeddings, right, wrong = demo
    for pairs in (right, right[: FEWEST_JUDGED + 20]):
        given = {("en", "es"): Dictionary(pairs)}
        mapper = get_mapper(name, **({"max_rounds": 0} if name == "geomm_plus" else {}))
        assert doubt_of_fit(mapper.fit(embeddings, given), embeddings, given) == ""
    for pairs in (wrong, wrong[: FEWEST_JUDGED + 20]):
        given = {("en", "es"): Dictionary(pairs)}
        told = doubt_of_fit(mapper.fit(embeddings, given), embeddings, given)
        assert "held-out words of en-es are hardly nearer" in told and "50% by chance" in told
    given = {("en", "es"): Dictionary(wrong[: FEWEST_JUDGED - 1])}
    assert doubt_of_fit(mapper.fit(embeddings, given), embeddings, given) == ""  # cannot be said


@pytest.mark.parametrize("few", ["en", "es"])
def test_a_few_words_on_one_side_do_not_make_ranks_look_good(few):
    random, spoken = np.random.default_rng(0), {}
    for name in ("en", "es"):
        words = [f"{name}{number}" for number in range(150 if name == few else 2000)]
        spoken[name] = Embeddings(words, random.normal(size=(len(words), 20)))
    pairs = Dictionary((f"en{number}", f"es{number}") for number in range(150))
    mapper = get_mapper("procrustes").fit(spoken, {("en", "es"): pairs})
    assert "hardly nearer" in doubt_of_fit(mapper, spoken, {("en", "es"): pairs})


@pytest.mark.parametrize("edge", ["en-es", ALL_DICTIONARIES])
def test_the_held_out_precision_of_the_fit_itself_comes_first(demo, edge):
    embeddings, right, wrong = demo
    mapper = get_mapper("procrustes").fit(embeddings, {("en", "es"): right})
    mapper.report_.regularization[edge] = Choice(1, {1: 0.004, 3: 0.003})
    assert "a P@1 of 0.004" in doubt_of_fit(mapper, embeddings, {("en", "es"): right})
    mapper.report_.regularization[edge] = Choice(1, {1: 0.4, 3: 0.003})
    assert doubt_of_fit(mapper, embeddings, {("en", "es"): wrong}) == ""


def test_languages_that_share_a_space_are_told_from_those_that_do_not(demo):
    embeddings, right, _ = demo
    told = doubt_of_space(embeddings)
    assert told.startswith("en and es do not seem to share a space")
    for name in ("procrustes", "cca"):
        mapper = get_mapper(name).fit(embeddings, {("en", "es"): right})
        assert doubt_of_space(mapper.map(embeddings)) == ""
        assert doubt_of_space(mapper.map(embeddings, into="es")) == ""
    random = np.random.default_rng(0)
    space = mapper.map(embeddings)
    turn = np.linalg.qr(random.normal(size=(space["es"].dimension,) * 2))[0].astype(np.float32)
    numbered = [f"es{row}" for row in range(len(space["es"]))]  # no word is spelt alike
    turned = {"en": space["en"], "es": Embeddings(numbered, space["es"].vectors @ turn)}
    assert not identical_words(*turned.values())
    assert doubt_of_space(turned)
    assert doubt_of_space({name: each.head(LEAST_ROWS - 1) for name, each in turned.items()}) == ""
    assert doubt_of_space({"en": space["en"]}) == ""
