"""n-grams: the sparse tables are what counting letter by letter gives."""

import sys
import tracemalloc
from collections import Counter
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geomm_plugin.retrieval.rerank.ngrams import Ngrams, plain_spellings


def counted(words):
    spelt = [f"<{word}>" for word in plain_spellings(words)]
    return [Counter(w[i : i + n] for n in (2, 3, 4) for i in range(len(w) - n + 1)) for w in spelt]


def slow_cosines(source, target):
    tables = counted(source), counted(target)
    documents = Counter(gram for table in tables for row in table for gram in row)
    words = len(source) + len(target)
    idf = {gram: max(0, log(words / (1 + count))) for gram, count in documents.items()}

    def rows(table):
        weights = [{g: (1 + log(c)) * idf[g] for g, c in row.items()} for row in table]
        lengths = [sum(w * w for w in row.values()) ** 0.5 or 1 for row in weights]
        return [
            {g: w / length for g, w in row.items()}
            for row, length in zip(weights, lengths, strict=True)
        ]

    left, right = map(rows, tables)
    return np.array([[sum(w * z.get(g, 0) for g, w in x.items()) for z in right] for x in left])


texts = st.lists(st.text(max_size=7), min_size=1, max_size=12)


@settings(max_examples=80, deadline=None)
@given(source=texts, target=texts)
def test_cosines_are_those_of_counting(source, target):
    ngrams = Ngrams.of(source, target)
    every = np.tile(np.arange(len(target)), (len(source), 1))
    cosines, expected = ngrams.pairs(source, every), slow_cosines(source, target)
    assert np.allclose(cosines, expected, atol=1e-5)
    rows, columns, alike = ngrams.alike(source, 0.3, 2)
    assert np.allclose(alike, expected[rows, columns], atol=1e-5) and (alike >= 0.3).all()
    for row, word in enumerate(expected):
        assert np.count_nonzero(rows == row) <= min(2, np.count_nonzero(word >= 0.3 - 1e-5))
        if (word >= 0.3 + 1e-5).sum() >= 1:
            assert word.max() == pytest.approx(word[columns[rows == row]].max(), abs=1e-5)


@given(source=texts, target=texts, size=st.integers(1, 4))
@settings(max_examples=30, deadline=None)
def test_words_counted_a_few_at_a_time_are_counted_alike(source, target, size):
    at_once = Ngrams.of(source, target)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("geomm_plugin.retrieval.rerank.ngrams.WORDS_AT_A_TIME", size)
        few = Ngrams.of(source, target)
        assert (few.rows(source) != at_once.rows(source)).nnz == 0
    assert (few.codes == at_once.codes).all() and (few.idf == at_once.idf).all()
    assert (few.target != at_once.target).nnz == 0


def test_counting_holds_few_words_ngrams_at_a_time(monkeypatch):
    monkeypatch.setattr("geomm_plugin.retrieval.rerank.ngrams.WORDS_AT_A_TIME", 500)
    words = [f"{number:012b}"[::-1] + str(number) for number in range(20_000)]
    tracemalloc.start()
    ngrams = Ngrams.of(words, words)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    table = ngrams.target
    kept = table.data.nbytes + table.indices.nbytes + table.indptr.nbytes
    assert table.indices.dtype == np.int32 and peak < 3.5 * kept


def test_words_outside_both_vocabularies_are_compared_all_the_same():
    ngrams = Ngrams.of(["house", "garden"], ["haus", "garten", "see"])
    cosines = ngrams.pairs(["gardens", "zzz", ""], np.array([[0, 1, 2]] * 3))
    assert cosines[0].argmax() == 1 and cosines[0, 1] > 0.1 and not cosines[1:].any()
    assert [len(part) for part in ngrams.alike([], 0.2, 5)] == [0, 0, 0]


def test_spellings_are_plain():
    words = ["Élan", "ЁЛКА", "Щука", "Ψυχή", "cafe\u0301", "東京", ""]
    assert plain_spellings(words) == [
        "elan",
        "elka",
        "shuka",
        "psychi",
        "cafe",
        "東京",
        "",
    ]


def test_other_alphabets_are_transliterated_where_anyascii_is_there(monkeypatch):
    pytest.importorskip("anyascii")
    assert plain_spellings(["ロシア", "თბილისი"]) == ["roshia", "tbilisi"]
    monkeypatch.setitem(sys.modules, "anyascii", None)
    assert plain_spellings(["ロシア", "Élan", "ель"]) == ["ロシア", "elan", "el"]
