import json
import warnings

import numpy as np
import pytest

from geomm_plugin import Embeddings, get_mapper
from geomm_plugin.errors import DictionaryError, LanguagesError
from geomm_plugin.evaluation.diagnosis import (
    diagnose,
    hubness,
    language_similarity,
    laplacian_difference,
    own_hubness,
    relational_similarity,
    singular_value_gap,
    skewness,
)
from geomm_plugin.evaluation.runs import measure
from geomm_plugin.fitting.seeds.spelling import cognate_rows
from geomm_plugin.normalize import unit
from geomm_plugin.retrieval import CSLS, Cosine


def cloud(seed=0, count=400, dimension=20):
    return np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)


def words(count, seed=0):
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    random = np.random.default_rng(seed)
    return ["".join(random.choice(letters, 7)) for _ in range(count)]


def rotate(vectors, seed=9):
    generator = np.random.default_rng(seed)
    rotation, _ = np.linalg.qr(generator.standard_normal((vectors.shape[1],) * 2))
    return (vectors @ rotation).astype(np.float32)


def test_isometric_spaces_are_called_so():
    x = cloud()
    z = rotate(x)
    assert relational_similarity(unit(x), unit(z)) == pytest.approx(1, abs=1e-5)
    assert laplacian_difference(unit(x), unit(z)) == pytest.approx(0, abs=1e-6)
    assert singular_value_gap(x, z) == pytest.approx(0, abs=1e-6)


def test_noise_makes_spaces_less_alike():
    x = cloud()
    noisy = [rotate(x) + amount * cloud(1) for amount in (0.0, 0.5, 1.0)]
    likeness = [relational_similarity(unit(x), unit(z)) for z in noisy]
    assert likeness == sorted(likeness, reverse=True) and likeness[-1] < 0.7
    stretched = rotate(x) * np.linspace(0.2, 2, 20, dtype=np.float32)
    assert singular_value_gap(x, stretched) > 1
    assert laplacian_difference(unit(x), unit(stretched)) > 1


def test_skewness_by_hand():
    assert skewness(np.array([3, 3, 3])) == 0
    assert skewness(np.array([1, 2, 3])) == pytest.approx(0)
    assert skewness(np.array([0, 0, 0, 4])) == pytest.approx(2 / np.sqrt(3))


def test_a_hub_is_seen_and_csls_holds_it_back():
    x, z = cloud(), rotate(cloud()) * 0 + cloud()
    z[:5] = x.mean(axis=0) + 0.3 * z[:5]
    x += 1.0
    z += 1.0
    z[0] = z.mean(axis=0)
    x, z = unit(x), unit(z)
    by_cosine = hubness(Cosine().index(x, z), x, len(z))
    by_csls = hubness(CSLS().index(x, z), x, len(z))
    assert by_cosine > 2 * by_csls
    assert own_hubness(z) > own_hubness(unit(cloud()))


@pytest.fixture
def languages():
    x = cloud(count=300)
    z = rotate(x) + 0.1 * cloud(5, 300)
    return {
        "en": Embeddings([f"en{i}" for i in range(300)], x),
        "es": Embeddings([f"es{i}" for i in range(300)], z),
    }


def test_wrong_pairs_are_suspected_and_mended(languages):
    right = [(f"en{i}", f"es{i}") for i in range(200)]
    wrong = [(f"en{i}", f"es{i + 50}") for i in range(200, 205)]
    (found,) = diagnose(languages, {("en", "es"): right + wrong})
    suspects = {(pair.source, pair.target): pair for pair in found.suspicious}
    assert set(wrong) <= set(suspects)
    assert len(suspects) < 25
    for source, target in wrong:
        assert suspects[source, target].suggestion == f"es{source[2:]}"
        assert suspects[source, target].cosine < 0.5


def test_a_pair_that_is_its_own_suggestion_is_not_suspected(languages):
    noise = np.random.default_rng(3).standard_normal((300, 20)).astype(np.float32)
    noise[:285] *= 0.02
    noise[285:] *= 0.4
    spanish = Embeddings(languages["es"].words, rotate(languages["en"].vectors) + noise)
    pairs = [(f"en{i}", f"es{i}") for i in range(300)]
    for pool in (10_000, 250):  # the words of the pairs count, also where they are rare
        data = {"en": languages["en"], "es": spanish}
        (found,) = diagnose(data, {("en", "es"): [*pairs, ("en7", "es8")]}, words=pool)
        assert [pair.target for pair in found.suspicious] == ["es8"]
        assert found.suspicious[0].suggestion == "es7"


def test_no_vocabulary_is_copied():
    data = {
        language: Embeddings([f"{language}{i}" for i in range(60_000)], cloud(seed, 60_000, 100))
        for seed, language in enumerate(("en", "es"))
    }
    pairs = {("en", "es"): [(f"en{i}", f"es{i}") for i in range(300)]}
    for embeddings in data.values():
        assert embeddings.row_of  # made once, whatever is asked first
    _, peak = measure(lambda: diagnose(data, pairs, words=500))
    assert peak < 60_000 * 100 * 4


def test_what_cannot_be_diagnosed_is_said(languages):
    with pytest.raises(LanguagesError, match="'fr', which has no embeddings"):
        diagnose(languages, {("en", "fr"): [("en1", "es1")]})
    with pytest.raises(DictionaryError, match="one of its items is 'ab'"):
        diagnose(languages, {("en", "es"): ["ab"]})


def test_coverage_and_letter_case_are_told(languages):
    dictionary = [(f"en{i}", f"es{i}") for i in range(100)] + [
        ("EN7", "es7"),
        ("nowhere", "es8"),
        ("en9", "ES9"),
    ]
    (found,) = diagnose(languages, {("en", "es"): dictionary})
    assert found.n_pairs == 100
    assert found.coverage == 100 / 102
    assert (found.missing_source, found.missing_target) == (2, 1)
    assert found.found_in_lower_case == 2
    assert any("lower case" in sentence for sentence in found.advice())
    assert json.loads(json.dumps(found.row()))["n_pairs"] == 100


def test_too_few_pairs_are_an_error(languages):
    with pytest.raises(DictionaryError, match="Only 2 of the 2 pairs"):
        diagnose(languages, {("en", "es"): [("en1", "es1"), ("en2", "es2")]})


def test_what_spelling_gives_is_counted_without_a_dictionary():
    one, other = words(200), words(200, 1)
    here = Embeddings([*one, "1999", "3.5"], cloud(0, 202, 12))
    there = Embeddings(["3.5", *one[:80], *other[:120], "1999"], cloud(1, 202, 12))
    (result,) = language_similarity({"en": here, "es": there})
    assert result.pair == ("en", "es") and result.words == (202, 202)
    assert result.seeds["identical"] == 82 and result.seeds["numerals"] == 2
    assert result.seeds["cognates"] == len(cognate_rows(here.words, there.words)[0]) >= 80
    assert result.row()["seeds_identical"] == 82


def test_one_space_is_wholly_alike_and_noise_is_not():
    one = words(200)
    x = cloud(0, 200, 12)
    same, noise = Embeddings(one, rotate(x)), Embeddings(one, cloud(7, 200, 12))
    (near,) = language_similarity({"a": Embeddings(one, x), "b": same})
    assert near.relational_similarity == pytest.approx(1, abs=1e-4)
    assert near.laplacian_difference == pytest.approx(0, abs=1e-6)
    (far,) = language_similarity({"a": Embeddings(one, x), "b": noise})
    centered = [unit(rows) - unit(rows).mean(axis=0) for rows in (x, noise.vectors)]
    expected = relational_similarity(*(unit(rows) for rows in centered))
    assert far.relational_similarity == pytest.approx(expected, abs=1e-5)
    assert any("far from isometric" in sentence for sentence in far.advice())


def test_too_few_cognates_are_no_correlation():
    (result,) = language_similarity(
        {
            "en": Embeddings(words(60), cloud(0, 60, 12)),
            "ja": Embeddings(words(60, 3), cloud(3, 60, 12)),
        }
    )
    assert result.relational_similarity is None and result.seeds["identical"] == 0
    assert any("dictionary of a hundred pairs" in sentence for sentence in result.advice())


def test_every_pair_of_languages_is_compared_and_one_is_refused():
    three = {name: Embeddings(words(60, i), cloud(i, 60, 12)) for i, name in enumerate("abc")}
    assert [r.pair for r in language_similarity(three)] == [("a", "b"), ("a", "c"), ("b", "c")]
    with pytest.raises(LanguagesError, match="two languages"):
        language_similarity({"a": three["a"]})


def test_the_order_of_frequency_is_checked_where_counts_are_known():
    counts = np.arange(60)[::-1]
    sorted_words = Embeddings(words(60), cloud(0, 60, 12), {"count": counts})
    shuffled = Embeddings(
        words(60, 1), cloud(1, 60, 12), {"count": np.random.default_rng(0).permutation(counts)}
    )
    assert sorted_words.frequency_order() == 1 and shuffled.frequency_order() < 0.9
    (result,) = language_similarity({"en": sorted_words, "es": shuffled})
    assert result.frequency_order == {"en": 1, "es": shuffled.frequency_order()}
    assert any("es are not in the order" in sentence for sentence in result.advice())
    assert Embeddings(words(60), cloud(0, 60, 12)).frequency_order() is None


def test_a_fit_without_a_dictionary_warns_of_words_in_another_order():
    mapper = get_mapper("geomm_unsup", on_failure="warn")
    counts = {"count": np.random.default_rng(0).permutation(60)}
    languages = {
        "en": Embeddings(words(60), cloud(0, 60, 12), counts),
        "es": Embeddings(words(60, 1), cloud(1, 60, 12)),
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mapper.fit(languages, {})
    told = [str(warning.message) for warning in caught if "order of their counts" in str(warning)]
    assert len(told) == 1 and "words of en" in told[0]
