import itertools

import numpy as np
import pytest

from geomm_plugin import Embeddings, compare, evaluate
from geomm_plugin.errors import ParameterError
from geomm_plugin.evaluation.translation import GROUPS, break_down, common_letters, is_cognate

WORDS = ["paris", "nation", "dog", "chien", "radio"]
TARGETS = ["paris", "nación", "perro", "can", "radio"]
PAIRS = [("paris", "paris"), ("nation", "nación"), ("dog", "perro"), ("dog", "can")]


@pytest.fixture
def space():
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


def test_every_word_is_in_one_group(space):
    for by, (names, _) in GROUPS.items():
        evaluation = evaluate(space, "en", "es", PAIRS, "cosine", by=by)
        groups = break_down(evaluation.words, by)
        assert list(groups) == list(names)
        words = [result for group in groups.values() for result in group]
        assert sorted(words, key=evaluation.words.index) == list(evaluation.words)


def test_rows_tell_each_group(space):
    row = evaluate(space, "en", "es", PAIRS, "cosine", by="spelling").row()
    assert [row[f"n_words {name}"] for name in ("identical", "cognate", "different")] == [1, 1, 1]
    row = evaluate(space, "en", "es", PAIRS, "cosine", by="translations").row()
    assert (row["n_words 1 translation"], row["n_words 2 translations"]) == (2, 1)
    assert row["p@1 3 or more"] is None
    row = evaluate(space, "en", "es", PAIRS, "cosine", by="frequency").row()
    assert row["n_words 1-1,000"] == 3
    assert "p@1 identical" not in evaluate(space, "en", "es", PAIRS, "cosine").row()


def test_a_comparison_tells_each_group(space):
    train = {("en", "es"): [("paris", "paris"), ("radio", "radio"), ("nation", "nación")]}
    data = space, train, {("en", "es"): PAIRS}
    comparison = compare(["procrustes", "unconstrained"], *data, by="spelling", retrievals="cosine")
    assert "P@1 identical (words)" in str(comparison)
    for row in comparison.rows:
        parts = [
            row[f"p@1 {n}"] * row[f"n_words {n}"] for n in ("identical", "cognate", "different")
        ]
        assert sum(parts) / row["n_words"] == pytest.approx(row["p@1"])


def test_an_unknown_breakdown_is_refused_with_a_hint(space):
    with pytest.raises(ParameterError, match="not by 'speling'. Did you mean 'spelling'"):
        evaluate(space, "en", "es", PAIRS, by="speling")
    with pytest.raises(ParameterError, match="Words are grouped by"):
        compare("procrustes", space, {("en", "es"): PAIRS}, {("en", "es"): PAIRS}, by="x")
