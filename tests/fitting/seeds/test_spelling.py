"""Seeds by spelling: identical words, numerals, and cognates."""

import numpy as np
import pytest

from geomm_plugin import Embeddings, cognates
from geomm_plugin.fitting.seeds.spelling import (
    MIN_RAISED,
    Cognates,
    Identical,
    Numerals,
    alike_rows,
    cognate_rows,
    numeral,
)
from geomm_plugin.retrieval.rerank.ngrams import Ngrams


def language(*words):
    return Embeddings(words, np.zeros((len(words), 2), np.float32))


def test_words_of_both_vocabularies_are_paired_with_themselves():
    pairs = Identical().pairs(language("de", "Paris", "la"), language("la", "of", "Paris"))
    assert list(zip(pairs.source, pairs.target, strict=True)) == [(1, 2), (2, 0)]
    assert pairs.induced.all()


def test_nothing_in_common_is_no_pair():
    assert len(Identical().pairs(language("a"), language("b"))) == 0


@pytest.mark.parametrize(
    ("word", "expected"),
    [("1999", "1999"), ("3,5%", "3,5%"), ("٣٤", "34"), ("²", ""), ("a1", ""), ("-", ""), ("", "")],
)
def test_a_numeral_has_digits_and_nothing_else(word, expected):
    assert numeral(word) == expected


def test_numbers_are_paired_across_scripts_and_words_are_not():
    source = Embeddings(["de", "7", "2", "12"], np.zeros((4, 2), np.float32))
    target = Embeddings(["de", "٢", "12"], np.zeros((3, 2), np.float32))
    pairs = Numerals().pairs(source, target)
    assert list(zip(pairs.source, pairs.target, strict=True)) == [(2, 1), (3, 2)]


OTHERS = ["garden", "winter", "chapel", "bottle", "silver", "kitchen"]


def embeddings(words):
    return Embeddings(words, np.ones((len(words), 2), np.float32))


def test_cognates_of_two_scripts():
    source = embeddings(["университет", "дом", "парламент", "хлеб", *OTHERS])
    target = embeddings(["parlement", "maison", "université", "pain", *OTHERS[::-1]])
    pairs = cognates(source, target, min_cosine=0.4)
    assert sorted(pair for pair in pairs if pair[0] not in OTHERS) == [
        ("парламент", "parlement"),
        ("университет", "université"),
    ]


def test_short_and_rare_words_are_left_out():
    words = ["one", "four", *OTHERS]
    pairs = list(cognates(embeddings(words), embeddings(words)))
    assert pairs == [(word, word) for word in words[1:]]
    some = list(cognates(embeddings(words), embeddings(words), max_words=5))
    assert some == [(word, word) for word in words[1:5]]
    assert len(cognates(embeddings(words), embeddings(["東京大学", "京都大学"]))) == 0


def test_pairs_are_mutual_and_more_alike_than_asked():
    generator = np.random.default_rng(0)
    source, target = (
        ["".join(generator.choice(list("abcd"), generator.integers(4, 9))) for _ in range(80)]
        for _ in "xz"
    )
    source, target = list(dict.fromkeys(source)), list(dict.fromkeys(target))
    cosines = Ngrams.of(source, target).pairs(
        source, np.tile(np.arange(len(target)), (len(source), 1))
    )
    for least in (0.3, 0.5):
        rows, columns, alike = cognate_rows(source, target, least)
        assert len(rows) > 3
        assert alike == pytest.approx(cosines[rows, columns], abs=1e-5) and (alike > least).all()
        assert np.allclose(cosines[rows].max(axis=1), alike, atol=1e-5)
        assert np.allclose(cosines[:, columns].max(axis=0), alike, atol=1e-5)
        assert len(set(rows.tolist())) == len(set(columns.tolist())) == len(rows)


def test_words_spelt_alike_keep_a_bonus_by_their_letters():
    words = ["национальный", "информация", "президент", "собака", "и"]
    other = ["nationale", "information", "president", "presidente", "chien"]
    source, target = (Embeddings(some, np.zeros((5, 2), np.float32)) for some in (words, other))
    rows, columns, cosines = alike_rows(words, other, MIN_RAISED, 5)
    raised = Cognates(letters=0.5).raised(source, target)
    assert set(zip(rows.tolist(), columns.tolist(), strict=True)) >= {(1, 1), (2, 2)}
    assert (raised.source == rows).all() and (raised.target == columns).all()
    assert raised.bonus == pytest.approx(0.5 * (cosines - cosines**2 / 2))
    assert Cognates(letters=0).raised(source, target) is None
