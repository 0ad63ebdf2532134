import json

import numpy as np
import pytest

from geomm_plugin import Embeddings
from geomm_plugin.errors import DictionaryError, LanguagesError
from geomm_plugin.evaluation.diagnosis import (
    diagnose,
    hubness,
    laplacian_difference,
    own_hubness,
    relational_similarity,
    singular_value_gap,
    skewness,
)
from geomm_plugin.evaluation.runs import measure
from geomm_plugin.normalize import unit
from geomm_plugin.retrieval import CSLS, Cosine


def cloud(seed=0, count=400, dimension=20):
    return np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)


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


def test_a_pair_that_is_its_own_suggestion_is_not_suspected(languages, monkeypatch):
    noise = np.random.default_rng(3).standard_normal((300, 20)).astype(np.float32)
    noise[:285] *= 0.02
    noise[285:] *= 0.4
    spanish = Embeddings(languages["es"].words, rotate(languages["en"].vectors) + noise)
    pairs = [(f"en{i}", f"es{i}") for i in range(300)]
    for pool in (10_000, 250):  # the words of the pairs count, also where they are rare
        monkeypatch.setattr("geomm_plugin.evaluation.diagnosis.FREQUENT_WORDS", pool)
        data = {"en": languages["en"], "es": spanish}
        (found,) = diagnose(data, {("en", "es"): [*pairs, ("en7", "es8")]})
        assert [pair.target for pair in found.suspicious] == ["es8"]
        assert found.suspicious[0].suggestion == "es7"


def test_no_vocabulary_is_copied(monkeypatch):
    monkeypatch.setattr("geomm_plugin.evaluation.diagnosis.FREQUENT_WORDS", 500)
    data = {
        language: Embeddings([f"{language}{i}" for i in range(60_000)], cloud(seed, 60_000, 100))
        for seed, language in enumerate(("en", "es"))
    }
    pairs = {("en", "es"): [(f"en{i}", f"es{i}") for i in range(300)]}
    for embeddings in data.values():
        assert embeddings.row_of  # made once, whatever is asked first
    _, peak = measure(lambda: diagnose(data, pairs))
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
