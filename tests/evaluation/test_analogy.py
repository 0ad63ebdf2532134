import numpy as np
import pytest

from geomm_plugin import Embeddings, get_mapper
from geomm_plugin.demo import load_demo
from geomm_plugin.errors import DictionaryError
from geomm_plugin.evaluation.analogy import Analogy, read_analogies
from geomm_plugin.normalize import unit


@pytest.fixture
def words():
    """Kings and queens: word pairs that differ by one direction, among others that do not."""
    generator = np.random.default_rng(0)
    king = generator.standard_normal((8, 10))
    queen = king + 1.5 * generator.standard_normal(10)
    other = generator.standard_normal((30, 10))
    names = [f"k{i}" for i in range(8)] + [f"q{i}" for i in range(8)] + [f"o{i}" for i in range(30)]
    return Embeddings(names, np.concatenate([king, queen, other]))


def questions():
    return [(f"k{i}", f"q{i}", f"k{j}", f"q{j}") for i in range(8) for j in range(8) if i != j]


def brute_force(embeddings, asked):
    vectors = unit(embeddings.vectors.astype(np.float64))
    right = 0
    for question in asked:
        a, b, c, d = (embeddings.row_of[word] for word in question)
        scores = vectors @ (vectors[b] - vectors[a] + vectors[c])
        scores[[a, b, c]] = -np.inf
        score, scores[d] = scores[d], -np.inf
        right += int(score > scores.max())
    return right / len(asked)


def answer(embeddings, asked):
    return Analogy({"en": asked}).score({"en": embeddings})


def rows_of(scores):
    return {score.about["section"]: score.row() for score in scores}


def accuracies(scores):
    return {name: row["accuracy"] for name, row in rows_of(scores).items()}


def test_accuracy_is_that_of_brute_force(words):
    wrong = [(f"o{i}", f"o{i + 1}", f"k{i % 8}", f"o{i + 2}") for i in range(20)]
    asked = {"royal": questions(), "odd": wrong, "none": [("x", "y", "z", "w")]}
    found = answer(words, asked)
    assert accuracies(found)["royal"] == pytest.approx(brute_force(words, questions()))
    assert accuracies(found)["royal"] > 0.5
    assert accuracies(found)["odd"] == pytest.approx(brute_force(words, wrong))
    assert accuracies(found)["total"] == pytest.approx(brute_force(words, questions() + wrong))
    assert rows_of(found)["none"]["n_questions"] == 0
    assert rows_of(found)["total"]["coverage"] == 76 / 77


@pytest.mark.parametrize("count", [4, 5, 46])
def test_a_word_as_near_as_the_right_one_is_no_answer(words, count):
    point = Embeddings(words.words[-count:], np.tile(words.vectors[:1], (count, 1)))
    asked = [tuple(point.words[:4]), (*point.words[:3], point.words[-1])]
    right = 0 if count > 4 else 1  # of four words d is the only one left
    assert accuracies(answer(point, {"x": asked}))["total"] == right


def test_a_copy_of_the_right_word_is_a_wrong_one(words):
    royal = {d: [(a, b, c, d)] for a, b, c, d in questions()[:7]}
    before = accuracies(answer(words, royal))
    right = next(d for d in royal if before[d] == 1)
    row = words.row_of[right]
    vectors = np.concatenate([words.vectors, words.vectors[row : row + 1]])
    twice = Embeddings([*words.words, "copy"], vectors)
    after = accuracies(answer(twice, royal))
    assert [d for d in royal if after[d] != before[d]] == [right]


def test_a_word_of_the_question_is_never_its_answer(words):
    asked = [("o0", "o1", "o2", "o2"), ("o0", "o1", "o2", "o1")]
    few = Embeddings(["o0", "o1", "o2"], words.vectors[:3])
    for embeddings in (words, few):
        assert accuracies(answer(embeddings, {"x": asked}))["total"] == 0


def test_a_rotation_leaves_analogies_as_they_are(words):
    rotation, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((10, 10)))
    rotated = Embeddings(words.words, words.vectors @ rotation)
    asked = {"royal": questions()}
    before, after = (answer(e, asked) for e in (words, rotated))
    assert rows_of(before) == rows_of(after)


def test_before_and_after_a_mapping():
    demo = load_demo()
    right = [("France", "french", "spain", "spanish"), ("four", "fourth", "five", "fifth")]
    asked = {"right": right, "wrong": [("two", "second", "three", "third")]}
    pair = {("en", "es"): demo.train["en", "es"]}
    two = {language: demo.embeddings[language] for language in ("en", "es")}
    mapped = get_mapper("procrustes", normalize=()).fit(two, pair).map(two)
    before = answer(two["en"], asked)
    assert rows_of(before)["total"]["n_questions"] == 3, "'France' is looked up as 'france'"
    assert accuracies(before)["right"] == 1 and accuracies(before)["wrong"] == 0
    after = answer(mapped["en"], asked)
    assert rows_of(after) == rows_of(before), "a rotation keeps all cosines"


def test_files_are_read_by_section(tmp_path):
    path = tmp_path / "questions.txt"
    path.write_text(": capitals\nAthens Greece Oslo Norway\n\n: plural\na b c d\n", "utf-8")
    assert read_analogies(path) == {
        "capitals": [("Athens", "Greece", "Oslo", "Norway")],
        "plural": [("a", "b", "c", "d")],
    }
    path.write_text(": capitals\nAthens Greece Oslo\n", "utf-8")
    with pytest.raises(DictionaryError, match="line 2: expected four words"):
        read_analogies(path)


def test_a_section_of_a_file_is_not_taken_for_all_of_them(tmp_path):
    (tmp_path / "a.txt").write_text(": total\na b c d\n: other\na b c d\n")
    assert list(read_analogies(tmp_path / "a.txt")) == [": total", "other"]


def test_no_known_question_is_an_error(words):
    with pytest.raises(DictionaryError, match="None of the 1 analogies"):
        answer(words, {"x": [("a", "b", "c", "d")]})
