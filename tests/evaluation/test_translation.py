import itertools
import subprocess
import sys

import numpy as np
import pytest

from geomm_plugin import (
    CSLS,
    Embeddings,
    SharedSpace,
    compare,
    evaluate,
    registry,
)
from geomm_plugin.errors import DictionaryError, ParameterError
from geomm_plugin.evaluation import translation as evaluation
from geomm_plugin.evaluation.metrics import NOT_FOUND
from geomm_plugin.evaluation.translation import GROUPS, break_down, common_letters, is_cognate
from geomm_plugin.normalize import unit

COUNT = 200


@pytest.fixture
def space():
    """Two languages in one space; the translation of word i is word i."""
    generator = np.random.default_rng(0)
    vectors = generator.standard_normal((COUNT, 12))
    noise = 0.7 * generator.standard_normal((COUNT, 12))
    return SharedSpace(
        {
            "en": Embeddings([f"en{i}" for i in range(COUNT)], vectors),
            "es": Embeddings([f"es{i}" for i in range(COUNT)], vectors + noise),
        }
    )


def pairs(count):
    return [(f"en{i}", f"es{i}") for i in range(count)]


def brute_force_ranks(space, count, k):
    x, z = (unit(space[language].vectors).astype(np.float64) for language in ("en", "es"))
    cosines = x @ z.T
    r_source = np.sort(cosines, axis=0)[-k:].mean(axis=0)
    scores = 2 * cosines - r_source
    return np.array([1 + np.sum(np.delete(row, i) >= row[i]) for i, row in enumerate(scores)])[
        :count
    ]


@pytest.mark.parametrize("k", [1, 10])
def test_scores_are_those_of_brute_force(space, k):
    found = evaluate(space, "en", "es", pairs(50), CSLS(k=k))
    ranks = brute_force_ranks(space, 50, k)
    assert np.array_equal(found.ranks, ranks)
    assert 1 < ranks.max(), "a toy in which all is found tests nothing"
    assert found.scores["p@1"] == np.mean(ranks == 1)
    assert found.scores["p@5"] == np.mean(ranks <= 5)
    assert found.scores["mrr"] == pytest.approx(np.mean(1 / ranks))


def test_any_correct_translation_counts_and_the_best_is_ranked(space):
    one = evaluate(space, "en", "es", pairs(30))
    wrong = [(f"en{i}", f"es{i + 100}") for i in range(30)]
    both = evaluate(space, "en", "es", wrong + pairs(30))
    assert (both.ranks <= one.ranks).all()
    assert [result.gold for result in both.words[:1]] == [("es100", "es0")]


def test_words_outside_the_vocabulary_are_covered_not_hidden(space):
    dictionary = [*pairs(30), ("nowhere", "es3"), ("en40", "en ninguna parte"), ("en0", "nada")]
    skipped = evaluate(space, "en", "es", dictionary)
    assert skipped.coverage == 30 / 32
    assert skipped.n_words == 30
    assert skipped.missing == ("nowhere", "en40")
    wrong = evaluate(space, "en", "es", dictionary, oov="wrong")
    assert wrong.n_words == 32 and wrong.coverage == skipped.coverage
    assert wrong.scores["p@1"] == pytest.approx(skipped.scores["p@1"] * 30 / 32)
    assert wrong.scores["mrr"] == pytest.approx(skipped.scores["mrr"] * 30 / 32)
    assert (wrong.ranks[30:] == NOT_FOUND).all()
    with pytest.raises(ParameterError, match="'skip' or 'wrong'"):
        evaluate(space, "en", "es", dictionary, oov="guess")


def test_answers_are_those_of_translate(space):
    found = evaluate(space, "en", "es", pairs(10), answers=3)
    words = [result.word for result in found.words]
    assert [list(result.answers) for result in found.words] == space.translate(
        words, "en", "es", k=3
    )
    for result in found.words:
        best = [word for word, _ in result.answers]
        assert (result.rank == 1) == (best[0] in result.gold)


def test_fewer_metrics_give_the_same_numbers(space):
    everything = evaluate(space, "en", "es", pairs(60))
    few = evaluate(space, "en", "es", pairs(60), metrics=["p@1", "p@5"])
    assert list(everything.scores) == list(registry.metrics)
    assert few.scores == {name: everything.scores[name] for name in ("p@1", "p@5")}
    assert list(evaluate(space, "en", "es", pairs(60), metrics="p@5").scores) == ["p@5"]


def test_a_dictionary_without_known_words_is_an_error(space):
    with pytest.raises(DictionaryError, match="None of the 1 test words"):
        evaluate(space, "en", "es", [("EN1", "ES1")])


def test_what_is_no_pair_is_said_as_fit_says_it(space):
    for wrong, item in (([("a", "b", "c")], r"\('a', 'b', 'c'\)"), (["ab"], "'ab'")):
        with pytest.raises(DictionaryError, match=f"one of its items is {item}"):
            evaluate(space, "en", "es", wrong)
        for train, test in ((pairs(50), wrong), (wrong, pairs(50))):
            with pytest.raises(DictionaryError, match=f"one of its items is {item}"):
                compare("procrustes", space, {("en", "es"): train}, {("en", "es"): test})


@pytest.mark.parametrize("first", ["evaluation", "evaluation.comparison", "evaluation.outcome"])
def test_compare_is_found_beside_evaluate(first):
    code = (
        f"import geomm_plugin.{first}\n"
        "from geomm_plugin.evaluation import Comparison, compare, evaluate\n"
        "import geomm_plugin\n"
        "assert compare is geomm_plugin.compare and evaluate is geomm_plugin.evaluate\n"
        "assert compare.__annotations__['return'] == Comparison.__name__\n"
    )
    path = ":".join(sys.path)
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": path})
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = evaluation.nothing


WORDS = ["paris", "nation", "dog", "chien", "radio"]
TARGETS = ["paris", "nación", "perro", "can", "radio"]
PAIRS = [("paris", "paris"), ("nation", "nación"), ("dog", "perro"), ("dog", "can")]


@pytest.fixture
def spelt():
    return {"en": Embeddings(WORDS, np.eye(5)), "es": Embeddings(TARGETS, np.eye(5))}


def longest_common_subsequence(first, second):
    """Look at every subsequence of the first word."""
    parts = (c for size in range(len(first) + 1) for c in itertools.combinations(first, size))

    def fits(part):
        letters = iter(second)
        return all(letter in letters for letter in part)

    return max(len(part) for part in parts if fits(part))


@pytest.mark.parametrize("seed", range(30))
def test_common_letters_are_the_longest_common_subsequence(seed):
    random = np.random.default_rng(seed)
    first, second = ("".join(random.choice(list("abc"), random.integers(0, 9))) for _ in "12")
    longest = longest_common_subsequence(first, second)
    assert common_letters(first, second) == longest / max(len(first), len(second), 1)


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        ("nation", "nación", True),
        ("Москва", "Moskva", True),
        ("possible", "posible", True),
        ("dog", "perro", False),
        ("night", "notte", False),
        ("", "a", False),
    ],
)
def test_cognates(first, second, alike):
    assert is_cognate(first, second) is alike and is_cognate(second, first) is alike


def test_every_word_is_in_one_group(spelt):
    for by, (names, _) in GROUPS.items():
        evaluation = evaluate(spelt, "en", "es", PAIRS, "cosine", by=by)
        groups = break_down(evaluation.words, by)
        assert list(groups) == list(names)
        words = [result for group in groups.values() for result in group]
        assert sorted(words, key=evaluation.words.index) == list(evaluation.words)


def test_rows_tell_each_group(spelt):
    row = evaluate(spelt, "en", "es", PAIRS, "cosine", by="spelling").row()
    assert [row[f"n_words {name}"] for name in ("identical", "cognate", "different")] == [1, 1, 1]
    row = evaluate(spelt, "en", "es", PAIRS, "cosine", by="translations").row()
    assert (row["n_words 1 translation"], row["n_words 2 translations"]) == (2, 1)
    assert row["p@1 3 or more"] is None
    row = evaluate(spelt, "en", "es", PAIRS, "cosine", by="frequency").row()
    assert row["n_words 1-1,000"] == 3
    assert "p@1 identical" not in evaluate(spelt, "en", "es", PAIRS, "cosine").row()


def test_a_comparison_tells_each_group(spelt):
    train = {("en", "es"): [("paris", "paris"), ("radio", "radio"), ("nation", "nación")]}
    data = spelt, train, {("en", "es"): PAIRS}
    comparison = compare(["procrustes", "unconstrained"], *data, by="spelling", retrievals="cosine")
    assert "P@1 identical (words)" in str(comparison)
    for row in comparison.rows:
        parts = [
            row[f"p@1 {n}"] * row[f"n_words {n}"] for n in ("identical", "cognate", "different")
        ]
        assert sum(parts) / row["n_words"] == pytest.approx(row["p@1"])


def test_an_unknown_breakdown_is_refused_with_a_hint(spelt):
    with pytest.raises(ParameterError, match="not by 'speling'. Did you mean 'spelling'"):
        evaluate(spelt, "en", "es", PAIRS, by="speling")
    with pytest.raises(ParameterError, match="Words are grouped by"):
        compare("procrustes", spelt, {("en", "es"): PAIRS}, {("en", "es"): PAIRS}, by="x")
