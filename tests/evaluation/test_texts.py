"""Texts as vectors, sentences that find their translation, topics learnt in one language."""

import gzip

import numpy as np
import pytest

from geomm_plugin import Embeddings, SharedSpace, get_mapper
from geomm_plugin.errors import FormatError, ParameterError, UnknownNameError
from geomm_plugin.evaluation.texts import (
    STRENGTHS,
    Classify,
    LabelledTexts,
    Sentences,
    cross_validate,
    divide_evenly,
    fit_logistic,
    idf,
    macro_f1,
    predict,
    read_labelled_texts,
    read_texts,
    same_lines,
    split_words,
    text_vectors,
    word_counts,
)

WORDS = ["the", "cat", "sat", "él", "straße"]
SYLLABLES = [a + b for a in "bcdfg" for b in "aeiou"]  # the first letter is the topic


@pytest.fixture
def embeddings():
    return Embeddings(WORDS, np.random.default_rng(0).standard_normal((5, 4)))


@pytest.fixture
def space():
    generator = np.random.default_rng(0)
    topics = np.repeat(generator.standard_normal((5, 8)), 5, axis=0)
    here = topics + 0.5 * generator.standard_normal((25, 8))
    there = here + 0.5 * generator.standard_normal((25, 8))
    return {"en": Embeddings(SYLLABLES, here), "es": Embeddings(SYLLABLES, there)}


@pytest.fixture
def lines():
    generator = np.random.default_rng(1)
    return [" ".join(generator.choice(SYLLABLES, 3)) for _ in range(30)]


def speeches(count, seed):
    generator = np.random.default_rng(seed)
    labels = generator.permutation(np.arange(count) % 5)
    texts = [
        " ".join(SYLLABLES[5 * label + word] for word in generator.integers(0, 5, 2))
        + f" {generator.choice(SYLLABLES)}"
        for label in labels
    ]
    return LabelledTexts(tuple("bcdfg"[label] for label in labels), tuple(texts))


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
    space = SharedSpace({"en": embeddings})
    vectors = text_vectors(space, "en", texts)
    rows = embeddings.vectors / np.linalg.norm(embeddings.vectors, axis=1, keepdims=True)
    the, cat = np.log(4 / 2), np.log(4 / 1)
    expected = 2 * the * rows[0] + cat * rows[1]
    assert vectors[0] == pytest.approx(expected / np.linalg.norm(expected), abs=1e-6)
    assert vectors.any(axis=1).tolist() == [True, True, False]
    assert text_vectors(space, "en", ["the cat"]).any(), "one text alone has a vector"


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


def plain_ranks(space, lines, source, target):
    """Rank by cosine with nothing but numpy."""

    def vectors(language):
        rows = space[language].vectors
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        holding = {word: sum(word in line.split() for line in lines) for word in SYLLABLES}
        texts = [
            sum(np.log((1 + len(lines)) / holding[w]) * rows[SYLLABLES.index(w)] for w in words)
            for words in map(str.split, lines)
        ]
        return np.array([text / np.linalg.norm(text) for text in texts])

    cosines = vectors(source) @ vectors(target).T
    return (cosines >= np.diag(cosines)[:, None]).sum(axis=1)


def test_sentences_are_ranked_as_by_plain_numpy(space, lines):
    assert len(set(lines)) == len(lines)
    rows = Sentences({"en": lines, "es": lines}, "cosine").score(space)
    assert [row.about["pair"] for row in rows] == ["en-es", "es-en"]
    for row in rows:
        ranks = plain_ranks(space, lines, *row.about["pair"].split("-"))
        assert 0 < (ranks == 1).mean() < 1
        for k in (1, 5, 10):
            assert row.scores[f"p@{k}"] == pytest.approx((ranks <= k).mean())


def test_a_language_finds_itself_and_chance_finds_little(space, lines):
    other = Embeddings(SYLLABLES, np.random.default_rng(5).standard_normal((25, 8)))
    task = Sentences({"en": lines, "xx": lines})
    assert all(row.scores["p@1"] == 1 for row in task.score({"en": space["en"], "xx": space["en"]}))
    assert all(row.scores["p@1"] < 0.3 for row in task.score({"en": space["en"], "xx": other}))


def test_the_same_text_twice_is_correct_twice(space, lines):
    assert [rows.tolist() for rows in same_lines(["a", "b", "a"])] == [[0, 2], [1], [0, 2]]
    doubled = lines[:10] * 2
    same = {"en": space["en"], "xx": space["en"]}
    assert Sentences({"en": doubled, "xx": doubled}, "cosine").score(same)[0].scores["p@1"] == 1


def test_lines_without_known_words_lower_the_coverage(space, lines):
    texts = {"en": [*lines, "zzz", lines[0]], "es": [*lines, lines[1], ""]}
    row = Sentences(texts, "cosine").score(space)[0]
    assert row.details == {"coverage": 30 / 32, "n_sentences": 30}
    with pytest.raises(FormatError, match="No line has words of all vocabularies"):
        Sentences({"en": ["zzz"], "es": ["ba"]}).score(space)


def test_sentences_that_do_not_fit_together_are_refused(space, lines):
    with pytest.raises(FormatError, match="these differ: en 30, es 29"):
        Sentences({"en": lines, "es": lines[1:]})
    with pytest.raises(ParameterError, match="give the texts of two or more"):
        Sentences({"en": lines})
    with pytest.raises(UnknownNameError, match="no language 'fr'"):
        Sentences({"en": lines, "fr": lines}).score(space)


def test_alignment_finds_the_demos_sentences_and_topics(demo):
    two = {language: demo.embeddings[language] for language in ("en", "es")}
    train = {("en", "es"): demo.train["en", "es"]}
    sentences = Sentences({language: demo.sentences[language] for language in two}, ["csls"])
    topics = Classify({"en": demo.topics["en"]}, {"es": demo.topics["es"]})
    assert repr(sentences) == "<Sentences: 1000 lines of en, es>"
    assert repr(topics) == "<Classify: train en 600; test es 300>"
    aligned, unaligned = get_mapper("procrustes").fit(two, train).map(two), SharedSpace(two)
    assert min(row.scores["p@1"] for row in sentences.score(aligned)) > 0.5
    assert max(row.scores["p@1"] for row in sentences.score(unaligned)) < 0.05
    (found,), (before,) = topics.score(aligned), topics.score(unaligned)
    assert found.scores["accuracy"] > 0.5 > 0.25 > before.scores["accuracy"]


def test_topics_are_recognized_in_a_language_that_was_not_learnt(space):
    task = Classify({"en": speeches(200, 1)}, {"es": speeches(100, 2)})
    (row,) = task.score(space)
    assert row.about == {"train": "en", "test": "es"}
    assert row.scores["accuracy"] > 0.8 and row.scores["macro-f1"] > 0.8
    (row,) = task.score(space | {"es": Embeddings(SYLLABLES, -space["es"].vectors)})
    assert row.scores["accuracy"] < 0.2


def test_the_strength_is_chosen_on_the_training_language_and_shown(space):
    train, test = {"en": speeches(200, 1)}, {"en": speeches(100, 2), "es": speeches(100, 2)}
    rows = Classify(train, test).score(space)
    assert rows[0].details["C"] == rows[1].details["C"]
    assert rows[0].details["cv_accuracy"] == pytest.approx(rows[0].scores["accuracy"], abs=0.1)
    fixed = Classify(train, test, C=rows[0].details["C"]).score(space)
    assert [row.scores for row in fixed] == [row.scores for row in rows]
    assert fixed[0].details["cv_accuracy"] is None


def test_texts_without_known_words_are_tested_too(space):
    test = speeches(50, 2)
    longer = LabelledTexts((*test.labels, "b"), (*test.texts, "zzz"))
    (row,) = Classify({"en": speeches(100, 1)}, {"es": longer}).score(space)
    assert row.details["n_texts"] == 51 and row.details["coverage"] == 50 / 51


def test_macro_f1_is_scikit_learns():
    metrics = pytest.importorskip("sklearn.metrics")
    generator = np.random.default_rng(3)
    truth = generator.choice(list("abc"), 40)
    answers = np.where(generator.random(40) < 0.5, truth, generator.choice(list("abd"), 40))
    expected = metrics.f1_score(truth, answers, average="macro")
    assert macro_f1(truth, answers) == pytest.approx(expected)


def test_what_cannot_be_learnt_is_refused(space):
    train, test = speeches(100, 1), speeches(50, 2)
    with pytest.raises(ParameterError, match="to train on and others to test on"):
        Classify({"en": train}, {})
    with pytest.raises(ParameterError, match="C is a number above 0"):
        Classify({"en": train}, {"es": test}, C=0)
    with pytest.raises(FormatError, match="have the label 'x'"):
        Classify({"en": train}, {"es": LabelledTexts(("x",), ("ba",))})
    with pytest.raises(FormatError, match="have no text"):
        Classify({"en": train}, {"es": LabelledTexts((), ())})
    with pytest.raises(FormatError, match="have 1 labels"):
        Classify({"en": LabelledTexts(("b",), ("ba",))}, {"es": test})
    rare = LabelledTexts((*train.labels, "z"), (*train.texts, "zzz"))
    with pytest.raises(FormatError, match="the rarest label has 0"):
        Classify({"en": rare}, {"es": test}).score(space)


@pytest.fixture
def clouds():
    generator = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 40)
    centers = generator.standard_normal((4, 6))
    return centers[labels] + 1.2 * generator.standard_normal((160, 6)), labels


@pytest.mark.parametrize("C", [0.1, 3.0, 100.0])
def test_weights_are_scikit_learns(clouds, C):
    linear_model = pytest.importorskip("sklearn.linear_model")
    vectors, labels = clouds
    theirs = linear_model.LogisticRegression(C=C, tol=1e-8, max_iter=5000).fit(vectors, labels)
    ours = fit_logistic(vectors, labels, C)
    assert ours[:-1].T == pytest.approx(theirs.coef_, abs=2e-3)
    assert (predict(ours, vectors) == theirs.predict(vectors)).all()


def test_a_start_changes_the_way_and_not_the_end(clouds):
    vectors, labels = clouds
    alone = fit_logistic(vectors, labels, 3.0)
    warm = fit_logistic(vectors, labels, 3.0, fit_logistic(vectors, labels, 0.1))
    assert warm[:-1] == pytest.approx(alone[:-1], abs=2e-3)


def test_every_fold_has_its_share_of_every_label():
    labels = np.repeat(np.arange(3), [25, 10, 7])
    fold = divide_evenly(labels, 5, seed=1)
    for label in range(3):
        counts = np.bincount(fold[labels == label], minlength=5)
        assert counts.max() - counts.min() <= 1 and counts.min() > 0


def test_the_accuracy_is_that_of_held_out_items(clouds):
    vectors, labels = clouds
    assert 0.5 < cross_validate(vectors, labels)[1] < 1
    noise = np.random.default_rng(1).permutation(labels)
    assert cross_validate(vectors, noise)[1] < 0.45


def test_the_smallest_of_equally_accurate_values_is_taken(clouds):
    vectors, labels = clouds
    accuracy = {C: cross_validate(vectors, labels, strengths=[C])[1] for C in STRENGTHS}
    best, highest = cross_validate(vectors, labels)
    assert highest == pytest.approx(accuracy[best], abs=0.02)
    assert cross_validate(vectors, labels, strengths=[best, best * (1 + 1e-9)])[0] == best


def test_no_larger_value_is_tried_after_two_worse_ones(clouds):
    vectors, labels = clouds
    strengths = [1.0, 1e-6, 2e-6, np.nan]  # almost no loss: a guess; the last cannot be fitted
    assert cross_validate(vectors[:130], labels[:130], strengths=strengths)[0] == 1.0
