import gzip

import numpy as np
import pytest

from geomm_plugin import Embeddings, SharedSpace
from geomm_plugin.errors import FormatError
from geomm_plugin.evaluation.texts import (
    LabelledTexts,
    idf,
    read_labelled_texts,
    read_texts,
    split_words,
    text_vectors,
    word_counts,
)

WORDS = ["the", "cat", "sat", "él", "straße"]


@pytest.fixture
def embeddings():
    return Embeddings(WORDS, np.random.default_rng(0).standard_normal((5, 4)))


def test_words_are_runs_of_letters_in_lower_case():
    assert split_words("The cat's 2nd_nap: ÉL!") == ["the", "cat", "s", "nd", "nap", "él"]
    assert split_words("") == []
    assert split_words("हिन्दी में") == ["हिन्दी", "में"]  # vowel signs belong to their letters
    decomposed = "e\N{COMBINING ACUTE ACCENT}l"
    assert split_words(decomposed) == [decomposed]


def test_counts_are_those_of_a_plain_loop(embeddings):
    texts = ["The cat sat, the cat!", "dog", "", "él él"]
    expected = np.zeros((4, 5))
    for row, text in enumerate(texts):
        for word in split_words(text):
            if word in WORDS:
                expected[row, WORDS.index(word)] += 1
    assert np.array_equal(word_counts(texts, embeddings).toarray(), expected)


def test_a_rare_word_weighs_more_and_an_unused_one_nothing(embeddings):
    weights = idf(word_counts(["the cat", "the", "the sat sat"], embeddings))
    assert weights == pytest.approx([np.log(4 / 3), np.log(4), np.log(4), 0, 0])


def test_vectors_are_weighted_means_of_unit_vectors_at_length_one(embeddings):
    texts = ["the cat the", "the sat", "dog"]
    vectors = text_vectors(SharedSpace({"en": embeddings}), "en", texts)
    rows = embeddings.vectors / np.linalg.norm(embeddings.vectors, axis=1, keepdims=True)
    the, cat = np.log(4 / 2), np.log(4 / 1)
    expected = 2 * the * rows[0] + cat * rows[1]
    assert vectors[0] == pytest.approx(expected / np.linalg.norm(expected), abs=1e-6)
    assert vectors.any(axis=1).tolist() == [True, True, False]


def test_one_text_alone_has_a_vector(embeddings):
    assert text_vectors(SharedSpace({"en": embeddings}), "en", ["the cat"]).any(axis=1).all()


def test_files_are_read_with_their_empty_lines(tmp_path):
    path = tmp_path / "s.txt.gz"
    path.write_bytes(gzip.compress(b"one\n\nthree\n"))
    assert read_texts(path) == ["one", "", "three"]


def test_labelled_files_are_read_and_broken_lines_named(tmp_path):
    path = tmp_path / "topics.tsv"
    path.write_text("human rights\tA text\twith a tab\n\nfish\t\n", encoding="utf-8")
    read = read_labelled_texts(path)
    assert read == LabelledTexts(("human rights", "fish"), ("A text\twith a tab", ""))
    path.write_text("fish\tA text\nno tab\n", encoding="utf-8")
    with pytest.raises(FormatError, match="line 2: expected a label, a tab and a text"):
        read_labelled_texts(path)
    with pytest.raises(FormatError, match="2 texts and 1 labels"):
        LabelledTexts(("a",), ("x", "y"))
