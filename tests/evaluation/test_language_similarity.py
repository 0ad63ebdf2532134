import warnings

import numpy as np
import pytest

from geomm_plugin import Embeddings, get_mapper
from geomm_plugin.errors import LanguagesError
from geomm_plugin.evaluation.diagnosis import language_similarity, relational_similarity
from geomm_plugin.fitting.seeds.spelling import cognate_rows
from geomm_plugin.normalize import unit

LETTERS = np.array(list("abcdefghijklmnopqrstuvwxyz"))


def words(count, seed=0):
    random = np.random.default_rng(seed)
    return ["".join(random.choice(LETTERS, 7)) for _ in range(count)]


def vectors(count, seed=0):
    return np.random.default_rng(seed).standard_normal((count, 12)).astype(np.float32)


def test_what_spelling_gives_is_counted_without_a_dictionary():
    one, other = words(200), words(200, 1)
    here = Embeddings([*one, "1999", "3.5"], vectors(202))
    there = Embeddings(["3.5", *one[:80], *other[:120], "1999"], vectors(202, 1))
    (result,) = language_similarity({"en": here, "es": there})
    assert result.pair == ("en", "es") and result.words == (202, 202)
    assert result.seeds["identical"] == 82 and result.seeds["numerals"] == 2
    assert result.seeds["cognates"] == len(cognate_rows(here.words, there.words)[0]) >= 80
    assert result.row()["seeds_identical"] == 82


def test_one_space_is_wholly_alike_and_noise_is_not():
    one = words(200)
    x = vectors(200)
    rotation, _ = np.linalg.qr(np.random.default_rng(5).standard_normal((12, 12)))
    same, noise = Embeddings(one, x @ rotation), Embeddings(one, vectors(200, 7))
    pairs = {
        result.pair: result for result in language_similarity({"a": Embeddings(one, x), "b": same})
    }
    assert pairs["a", "b"].relational_similarity == pytest.approx(1, abs=1e-4)
    assert pairs["a", "b"].laplacian_difference == pytest.approx(0, abs=1e-6)
    (far,) = language_similarity({"a": Embeddings(one, x), "b": noise})
    centered = [unit(rows) - unit(rows).mean(axis=0) for rows in (x, noise.vectors)]
    expected = relational_similarity(*(unit(rows) for rows in centered))
    assert far.relational_similarity == pytest.approx(expected, abs=1e-5)
    assert any("far from isometric" in sentence for sentence in far.advice())


def test_too_few_cognates_are_no_correlation():
    (result,) = language_similarity(
        {"en": Embeddings(words(60), vectors(60)), "ja": Embeddings(words(60, 3), vectors(60, 3))}
    )
    assert result.relational_similarity is None and result.seeds["identical"] == 0
    assert any("dictionary of a hundred pairs" in sentence for sentence in result.advice())


def test_every_pair_of_languages_is_compared_and_one_is_refused():
    three = {name: Embeddings(words(60, i), vectors(60, i)) for i, name in enumerate("abc")}
    assert [r.pair for r in language_similarity(three)] == [("a", "b"), ("a", "c"), ("b", "c")]
    with pytest.raises(LanguagesError, match="two languages"):
        language_similarity({"a": three["a"]})


def test_the_order_of_frequency_is_checked_where_counts_are_known():
    counts = np.arange(60)[::-1]
    sorted_words = Embeddings(words(60), vectors(60), {"count": counts})
    shuffled = Embeddings(
        words(60, 1), vectors(60, 1), {"count": np.random.default_rng(0).permutation(counts)}
    )
    assert sorted_words.frequency_order() == 1 and shuffled.frequency_order() < 0.9
    (result,) = language_similarity({"en": sorted_words, "es": shuffled})
    assert result.frequency_order == {"en": 1, "es": shuffled.frequency_order()}
    assert any("es are not in the order" in sentence for sentence in result.advice())
    assert Embeddings(words(60), vectors(60)).frequency_order() is None


def test_a_fit_without_a_dictionary_warns_of_words_in_another_order():
    mapper = get_mapper("geomm_unsup", on_failure="warn")
    counts = {"count": np.random.default_rng(0).permutation(60)}
    languages = {
        "en": Embeddings(words(60), vectors(60), counts),
        "es": Embeddings(words(60, 1), vectors(60, 1)),
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mapper.fit(languages, {})
    told = [str(warning.message) for warning in caught if "order of their counts" in str(warning)]
    assert len(told) == 1 and "words of en" in told[0]
