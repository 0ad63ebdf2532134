import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from geomm_plugin import Embeddings
from geomm_plugin.errors import DictionaryError
from geomm_plugin.evaluation.similarity import Similarity, correlation, read_similarity
from geomm_plugin.normalize import unit


@pytest.fixture
def space():
    generator = np.random.default_rng(0)
    return {
        "en": Embeddings([f"en{i}" for i in range(40)], generator.standard_normal((40, 6))),
        "es": Embeddings([f"es{i}" for i in range(40)], generator.standard_normal((40, 6))),
    }


def score(space, pairs, key=("en", "es")):
    (found,) = Similarity({key: pairs}).score(space)
    return found


def scored(generator, count=30):
    return [
        (f"en{i}", f"es{j}", float(score))
        for i, j, score in zip(
            generator.integers(0, 40, count),
            generator.integers(0, 40, count),
            generator.integers(0, 5, count),
            strict=True,
        )
    ]


def test_correlations_are_scipys(space):
    pairs = scored(np.random.default_rng(1))
    x, z = unit(space["en"].vectors), unit(space["es"].vectors)
    cosines = [x[int(a[2:])] @ z[int(b[2:])] for a, b, _ in pairs]
    scores = [score for _, _, score in pairs]
    found = score(space, pairs)
    assert found.scores["pearson"] == pytest.approx(pearsonr(cosines, scores).statistic, abs=1e-6)
    assert found.scores["spearman"] == pytest.approx(spearmanr(cosines, scores).statistic, abs=1e-6)
    assert found.details == {"coverage": 1.0, "n_pairs": 30}


def test_cosines_themselves_correlate_perfectly(space):
    x, z = unit(space["en"].vectors), unit(space["es"].vectors)
    pairs = [(f"en{i}", f"es{i}", float(x[i] @ z[i])) for i in range(40)]
    found = score(space, pairs)
    assert found.scores["pearson"] == pytest.approx(1) and found.scores[
        "spearman"
    ] == pytest.approx(1)
    shuffled = [(a, b, score**3 - 7) for a, b, score in pairs]
    assert score(space, shuffled).scores["spearman"] == pytest.approx(1)


def test_what_does_not_vary_correlates_with_nothing():
    assert correlation(np.ones(5), np.arange(5.0)) == 0
    rounding = np.full(5, 0.3) + np.array([0, 1, 0, 1, 0]) * 1e-17
    assert correlation(rounding, np.arange(5.0)) == 0


def test_unknown_words_lower_the_coverage_and_lower_case_helps(space):
    pairs = scored(np.random.default_rng(2))
    capital = [(a.upper(), b, score) for a, b, score in pairs]
    found = score(space, [*capital, ("nowhere", "es1", 1.0)])
    assert found.details["coverage"] == 30 / 31
    assert found.scores["pearson"] == score(space, pairs).scores["pearson"]
    with pytest.raises(DictionaryError, match="Only 0 of the 30"):
        score(space, pairs, ("es", "en"))


def test_files_are_read_and_broken_lines_named(tmp_path):
    path = tmp_path / "pairs.txt"
    path.write_text("sun\tsol\t3.5\n\nNew York\tla luna\t0\n", encoding="utf-8")
    assert read_similarity(path) == [("sun", "sol", 3.5), ("New York", "la luna", 0.0)]
    path.write_text("sun\tsol\t3.5\nmoon\tluna\n", encoding="utf-8")
    with pytest.raises(DictionaryError, match="line 2: expected a word, a word and a number"):
        read_similarity(path)


@pytest.mark.parametrize("line", ["a\tb\t1_0", "a\tb\t\u0665", "a\t\tb\t1", "\tb\t1", "a\tb\tnan"])
def test_nothing_is_guessed_into_a_scored_pair(tmp_path, line):
    path = tmp_path / "scores.txt"
    path.write_text(f"x\ty\t1\n{line}\n", encoding="utf-8")
    with pytest.raises(DictionaryError, match="line 2"):
        read_similarity(path)
