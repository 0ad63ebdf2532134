import numpy as np
import pytest

from geomm_plugin import Embeddings, SharedSpace, get_mapper
from geomm_plugin.errors import FormatError, ParameterError
from geomm_plugin.evaluation.texts import Classify, LabelledTexts, macro_f1

WORDS = [a + b for a in "bcdfg" for b in "aeiou"]  # the first letter is the topic


@pytest.fixture
def space():
    generator = np.random.default_rng(0)
    topics = np.repeat(generator.standard_normal((5, 8)), 5, axis=0)
    here = topics + 0.5 * generator.standard_normal((25, 8))
    there = here + 0.2 * generator.standard_normal((25, 8))
    return {
        "en": Embeddings(WORDS, here),
        "es": Embeddings([w.upper().lower() for w in WORDS], there),
    }


def speeches(count, seed):
    generator = np.random.default_rng(seed)
    labels = generator.permutation(np.arange(count) % 5)
    texts = [
        " ".join(WORDS[5 * label + word] for word in generator.integers(0, 5, 2))
        + f" {generator.choice(WORDS)}"
        for label in labels
    ]
    return LabelledTexts(tuple("bcdfg"[label] for label in labels), tuple(texts))


def test_topics_are_told_in_a_language_that_was_not_learnt(space):
    (row,) = Classify({"en": speeches(200, 1)}, {"es": speeches(100, 2)}).score(space)
    assert row.about == {"train": "en", "test": "es"}
    assert row.scores["accuracy"] > 0.8 and row.scores["macro-f1"] > 0.8
    other = {"en": space["en"], "es": Embeddings(WORDS, -space["es"].vectors)}
    (row,) = Classify({"en": speeches(200, 1)}, {"es": speeches(100, 2)}).score(other)
    assert row.scores["accuracy"] < 0.2


def test_the_strength_is_chosen_on_the_training_language_and_shown(space):
    train, test = {"en": speeches(200, 1)}, {"en": speeches(100, 2), "es": speeches(100, 2)}
    rows = Classify(train, test).score(space)
    assert rows[0].details["C"] == rows[1].details["C"]
    assert rows[0].details["cv_accuracy"] == pytest.approx(rows[0].scores["accuracy"], abs=0.1)
    fixed = Classify(train, test, C=rows[0].details["C"]).score(space)
    assert [row.scores for row in fixed] == [row.scores for row in rows]
    assert fixed[0].details["cv_accuracy"] is None


def test_a_row_has_the_names_that_others_read(space):
    task = Classify({"en": speeches(100, 1)}, {"es": speeches(50, 2)})
    assert repr(task) == "<Classify: train en 100; test es 50>"
    row = task.score(SharedSpace(space))[0].row()
    assert list(row)[:5] == ["task", "train", "test", "accuracy", "macro-f1"]
    assert row["accuracy_low"] <= row["accuracy"] <= row["accuracy_high"]
    assert row["n_texts"] == 50 and row["coverage"] == 1 and row["C"] > 0


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


def test_alignment_tells_the_demos_topics(demo):
    two = {language: demo.embeddings[language] for language in ("en", "es")}
    train = {("en", "es"): demo.train["en", "es"]}
    task = Classify({"en": demo.topics["en"]}, {"es": demo.topics["es"]})
    (aligned,) = task.score(get_mapper("procrustes").fit(two, train).map(two))
    (unaligned,) = task.score(SharedSpace(two))
    assert aligned.scores["accuracy"] > 0.5 > 0.25 > unaligned.scores["accuracy"]
