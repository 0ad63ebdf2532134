import numpy as np
import pytest

from geomm_plugin import Embeddings, get_mapper
from geomm_plugin.errors import FormatError, ParameterError, UnknownNameError
from geomm_plugin.evaluation.texts import Sentences, same_lines

WORDS = [a + b for a in "bcdfg" for b in "aeiou"]


@pytest.fixture
def space():
    generator = np.random.default_rng(0)
    vectors = generator.standard_normal((25, 6))
    turned = vectors + 0.6 * generator.standard_normal((25, 6))
    return {"en": Embeddings(WORDS, vectors), "es": Embeddings(WORDS, turned)}


@pytest.fixture
def lines():
    generator = np.random.default_rng(1)
    return [" ".join(generator.choice(WORDS, 3)) for _ in range(30)]


def plain_ranks(space, lines, source, target):
    """Rank by cosine with nothing but numpy."""

    def vectors(language):
        rows = space[language].vectors
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        holding = {word: sum(word in line.split() for line in lines) for word in WORDS}
        texts = [
            sum(np.log((1 + len(lines)) / holding[w]) * rows[WORDS.index(w)] for w in line.split())
            for line in lines
        ]
        return np.array([text / np.linalg.norm(text) for text in texts])

    cosines = vectors(source) @ vectors(target).T
    return (cosines >= np.diag(cosines)[:, None]).sum(axis=1)


def test_scores_are_those_of_plain_numpy(space, lines):
    assert len(set(lines)) == len(lines)
    rows = Sentences({"en": lines, "es": lines}, "cosine").score(space)
    assert [row.about["pair"] for row in rows] == ["en-es", "es-en"]
    for row in rows:
        ranks = plain_ranks(space, lines, *row.about["pair"].split("-"))
        assert 0 < (ranks == 1).mean() < 1
        for k in (1, 5, 10):
            assert row.scores[f"p@{k}"] == pytest.approx((ranks <= k).mean())


def test_a_language_finds_itself_and_chance_finds_little(space, lines):
    same = {"en": space["en"], "xx": Embeddings(WORDS, space["en"].vectors)}
    rows = Sentences({"en": lines, "xx": lines}).score(same)
    assert all(row.scores["p@1"] == 1 for row in rows)
    other = Embeddings(WORDS, np.random.default_rng(5).standard_normal((25, 6)))
    rows = Sentences({"en": lines, "xx": lines}).score({"en": space["en"], "xx": other})
    assert all(row.scores["p@1"] < 0.3 for row in rows)


def test_a_row_has_the_names_that_others_read(space, lines):
    row = Sentences({"en": lines, "es": lines}, ["csls"]).score(space)[0].row()
    assert list(row)[:6] == ["task", "pair", "retrieval", "p@1", "p@5", "p@10"]
    assert row["p@1_low"] <= row["p@1"] <= row["p@1_high"]
    assert row["coverage"] == 1 and row["n_sentences"] == 30


def test_the_same_text_twice_is_correct_twice(space, lines):
    assert [rows.tolist() for rows in same_lines(["a", "b", "a"])] == [[0, 2], [1], [0, 2]]
    doubled = lines[:10] * 2
    same = {"en": space["en"], "xx": space["en"]}
    rows = Sentences({"en": doubled, "xx": doubled}, "cosine").score(same)
    assert rows[0].scores["p@1"] == 1


def test_lines_without_known_words_lower_the_coverage(space, lines):
    texts = {"en": [*lines, "zzz", lines[0]], "es": [*lines, lines[1], ""]}
    row = Sentences(texts, "cosine").score(space)[0]
    assert row.details == {"coverage": 30 / 32, "n_sentences": 30}
    with pytest.raises(FormatError, match="No line has words of all vocabularies"):
        Sentences({"en": ["zzz"], "es": ["ba"]}).score(space)


def test_what_does_not_fit_together_is_refused(space, lines):
    with pytest.raises(FormatError, match="these differ: en 30, es 29"):
        Sentences({"en": lines, "es": lines[1:]})
    with pytest.raises(ParameterError, match="give the texts of two or more"):
        Sentences({"en": lines})
    with pytest.raises(UnknownNameError, match="no language 'fr'"):
        Sentences({"en": lines, "fr": lines}).score(space)


def test_alignment_finds_the_demos_sentences(demo):
    two = {language: demo.embeddings[language] for language in ("en", "es")}
    train = {("en", "es"): demo.train["en", "es"]}
    task = Sentences({language: demo.sentences[language] for language in two}, ["csls"])
    assert repr(task) == "<Sentences: 1000 lines of en, es>"
    aligned = task.score(get_mapper("procrustes").fit(two, train).map(two))
    from geomm_plugin import SharedSpace

    unaligned = task.score(SharedSpace(two))
    assert min(row.scores["p@1"] for row in aligned) > 0.5
    assert max(row.scores["p@1"] for row in unaligned) < 0.05
