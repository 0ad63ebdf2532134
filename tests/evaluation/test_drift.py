"""Words that moved: planted ones are found, and the measures are what they say."""

import numpy as np
import pytest

from geomm_plugin import Embeddings, drift
from geomm_plugin.errors import DictionaryError, ParameterError, UnknownNameError
from geomm_plugin.evaluation.drift import LOCAL_NEIGHBORS, nearest_others
from geomm_plugin.factorization import orthonormal_columns
from geomm_plugin.normalize import Normalizer
from geomm_plugin.retrieval import Cosine, as_unit_rows

PLANTED = 30


@pytest.fixture(scope="module")
def times(demo):
    """English twice: turned, noisier the rarer a word is, and some words in each other's place."""
    old = demo.embeddings["en"].head(3000)
    random = np.random.default_rng(0)
    vectors = Normalizer(["unit"]).fit({"en": old.vectors}).transform("en", old.vectors)
    noise = random.normal(size=vectors.shape) / np.sqrt(old.dimension)
    share = 0.3 + 0.4 * np.linspace(0, 1, len(old))[:, None]  # of noise, for frequent to rare
    moved = random.choice(len(old), PLANTED, replace=False)
    placed = vectors.copy()
    placed[moved] = vectors[np.roll(moved, 1)]
    turned = (placed + share * noise) @ orthonormal_columns(random.normal(size=(100, 100)))
    order = np.argsort(np.arange(len(old)) + random.normal(size=len(old)) * 20)  # other ranks
    new = Embeddings([old.words[row] for row in order], turned[order].astype(np.float32))
    return old, new, {old.words[row] for row in moved}


@pytest.mark.parametrize("by", ["score", "local"])
def test_planted_changes_are_found(times, by):
    old, new, planted = times
    first = {each.word for each in drift(old, new, top=PLANTED, by=by).words}
    assert len(first & planted) >= 0.9 * PLANTED


def test_rare_words_do_not_pass_for_moved_ones(times):
    old, new, _ = times
    every = drift(old, new, top=None, neighbors=0).words
    rank = np.log([each.rank_old for each in every])
    by_distance = np.corrcoef(rank, [each.distance for each in every])[0, 1]
    by_score = np.corrcoef(rank, [each.score for each in every])[0, 1]
    assert by_distance > 0.3
    assert abs(by_score) < 0.1


def test_what_moved_does_not_drag_the_map(times):
    """A third of all words is thrown about: without them the map is that of the others."""
    old, new, _ = times
    random = np.random.default_rng(1)
    steady = np.arange(len(new)) % 3 > 0
    vectors = new.vectors.copy()
    thrown = np.flatnonzero(~steady)
    vectors[thrown] = vectors[random.permutation(thrown)]
    mixed = Embeddings(new.words, vectors)

    def mean_distance(trim):
        return np.mean([
            each.distance
            for each in drift(old, mixed, top=None, neighbors=0, trim=trim).words
            if steady[each.rank_new - 1]
        ])  # fmt: skip

    assert mean_distance(0.35) < mean_distance(0.0)


def test_the_measures_are_those_of_the_formulas(times):
    old, new, _ = times
    asked = [old.words[row] for row in (5, 700, 2500)]
    found = drift(old, new, words=asked, trim=0, neighbors=3)
    assert {each.word for each in found.words} == set(asked)
    assert [each.score for each in found.words] == sorted(
        (each.score for each in found.words), reverse=True
    )
    common = [word for word in old.words if word in new]
    x, z = (
        np.asarray(Normalizer().fit({"": e.vectors}).view("", e.vectors)[
            [e.row_of[word] for word in common]
        ], np.float64) for e in (old, new)
    )  # fmt: skip
    p, _, v = np.linalg.svd(x.T @ z)
    x = x @ p @ v
    x, z = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (x, z))
    for each in found.words:
        row = common.index(each.word)
        assert each.distance == pytest.approx(1 - x[row] @ z[row], abs=1e-4)
        near = set()
        similar = []
        for side in (x, z):
            cosines = side @ side[row]
            similar.append(cosines)
            near |= set(np.argsort(-np.where(np.arange(len(x)) == row, -9, cosines))[
                :LOCAL_NEIGHBORS].tolist())  # fmt: skip
        one, other = (cosines[sorted(near)] for cosines in similar)
        expected = 1 - one @ other / np.linalg.norm(one) / np.linalg.norm(other)
        assert each.local == pytest.approx(expected, abs=1e-3)
        assert each.rank_old == old.row_of[each.word] + 1
        best = np.argsort(-np.where(np.arange(len(x)) == row, -9, similar[0]))[:3]
        assert each.neighbors_old == tuple(common[at] for at in best)


def test_a_corpus_has_not_moved_from_itself(times):
    old, *_ = times
    for each in drift(old, old, top=3).words:
        assert each.distance == pytest.approx(0, abs=1e-5)
        assert each.local == pytest.approx(0, abs=1e-5)
        assert each.neighbors_old == each.neighbors_new


def test_scores_stay_within_reason_where_hardly_anything_differs(times):
    old, *_ = times
    vectors = old.vectors.copy()
    vectors[50] = -vectors[50]
    vectors[60] += 0.2 * vectors[80]
    found = drift(old, Embeddings(old.words, vectors), top=None, neighbors=0)
    assert [each.word for each in found.words[:2]] == [old.words[50], old.words[60]]
    assert all(abs(each.score) <= 400 for each in found.words)
    assert found.words[1].score < 20  # it is at a cosine of more than 0.9 from itself


def test_too_few_words_for_the_dimensions_are_noted(times):
    old, new, _ = times
    few = drift(old.head(60), new, top=3)
    assert few.fitted < 60 <= 2 * few.dimension == 200
    assert "A map in 100 dimensions fits" in str(few)
    assert max(each.score for each in few.words) <= 400
    assert "whether they moved" not in str(drift(old, new, top=3))


def test_other_dimensions_other_mappers_and_objects(times):
    old, new, planted = times
    narrow = (new.words, new.vectors[:, :80])
    found = drift(old, narrow, "geomm:regularization=100", top=PLANTED)
    assert found.mapper == "geomm"
    assert len({each.word for each in found.words} & planted) >= PLANTED / 2


def test_words_of_one_corpus_only_can_be_neighbours(times):
    old, new, _ = times
    word = old.words[300]
    twin = Embeddings([*new.words, "onlyhere"], np.vstack([new.vectors, new[word]]))
    (asked,) = drift(old, twin, words=word, names=("then", "now")).words
    assert "onlyhere" in asked.neighbors_new
    assert "onlyhere" not in asked.neighbors_old


def test_as_a_table(times):
    old, new, _ = times
    found = drift(old, new, top=2, names=("then", "now"))
    assert "nearest in then" in str(found)
    assert "3000 words are in both" in str(found)
    assert found.rows[0]["word"] == found.words[0].word
    assert found.rows[0]["neighbors_old"] == list(found.words[0].neighbors_old)
    assert found.to_csv().startswith("word,score,distance,local,rank_old,rank_new,")


def test_what_cannot_be_compared_is_told(times):
    old, new, _ = times
    other = Embeddings([f"{word}!" for word in new.words], new.vectors)
    with pytest.raises(DictionaryError, match="Only 0 of the words"):
        drift(old, other)
    with pytest.raises(UnknownNameError, match="words of new: 'qwx'"):
        drift(
            Embeddings(["qwx", *old.words], old.vectors[[0, *range(len(old))]]), new, words=["qwx"]
        )


@pytest.mark.parametrize(
    "wrong", [{"by": "size"}, {"trim": 1.0}, {"names": ("a", "a")}, {"neighbors": -1}, {"top": 0}]
)
def test_values_that_mean_nothing_are_refused(times, wrong):
    old, new, _ = times
    with pytest.raises(ParameterError):
        drift(old, new, **wrong)


def test_a_word_is_not_its_own_neighbour_even_among_twins():
    rows = as_unit_rows(np.repeat(np.eye(3, dtype=np.float32), 2, axis=0), "toy")
    chosen = np.arange(6)
    others = nearest_others(Cosine().index(rows, rows), rows, chosen, 1)
    assert others[:, 0].tolist() == [1, 0, 3, 2, 5, 4]
