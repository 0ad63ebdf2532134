"""Words that moved: planted ones are found, and the measures are what they say."""

import numpy as np
import pytest

from geomm_plugin import Embeddings, drift
from geomm_plugin.errors import DictionaryError, ParameterError, UnknownNameError
from geomm_plugin.evaluation.drift import (
    LOCAL_NEIGHBORS,
    NULL_WORDS,
    _Aligned,
    _CommonWords,
    nearest_others,
)
from geomm_plugin.factorization import orthonormal_columns
from geomm_plugin.mappers import Procrustes
from geomm_plugin.normalize import Normalizer, unit
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


def noisy(embeddings, seed, moved=()):
    """Return a turned copy with noise, more of it the rarer a word is; some words change places."""
    random = np.random.default_rng(seed)
    vectors = unit(embeddings.vectors)
    moved = np.array(moved, int)
    vectors[moved] = vectors[np.roll(moved, 1)]
    noise = unit(random.normal(size=vectors.shape)) * np.linspace(0.3, 0.9, len(vectors))[:, None]
    turn = orthonormal_columns(random.normal(size=(embeddings.dimension,) * 2))
    return Embeddings(embeddings.words, ((vectors + noise) @ turn).astype(np.float32))


@pytest.fixture(scope="module")
def path(demo):
    """Four times: thirty words change places at the second, and change back at the last."""
    now = demo.embeddings["en"].head(3000)
    rows = np.random.default_rng(5).choice(3000, PLANTED, replace=False)
    corpora = {str(n): noisy(now, n, rows if n in (1, 2) else ()) for n in range(4)}
    return corpora, {now.words[row] for row in rows}


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
    hardly_any = Embeddings([f"{w}!" if row > 11 else w for row, w in enumerate(new.words)],
                            new.vectors)  # fmt: skip
    found = drift(Embeddings(new.words, new.vectors), hardly_any, top=None)
    assert found.common == 12
    assert all(abs(each.score) <= 400 for each in found.words)
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


def test_two_times_may_come_as_a_mapping(times):
    old, new, _ = times
    named = drift({"old": old, "new": new}, top=5, resamples=2)
    assert named.rows == drift(old, new, top=5, resamples=2).rows


def test_several_times_are_each_pair_of_times_in_one_space(path):
    """Each is aligned with the last one, as if the two were alone; the steps join to a path."""
    corpora, planted = path
    asked = sorted(planted)[:5]
    found = drift(corpora, words=asked, trim=0)
    for old, at in (("0", -1), ("2", 2)):
        pair = {
            each.word: each for each in drift(corpora[old], corpora["3"], words=asked, trim=0).words
        }
        for word in found.words:
            each = word if at < 0 else word.steps[at]
            assert each.distance == pytest.approx(pair[word.word].distance, abs=1e-5)
            assert each.score == pytest.approx(pair[word.word].score, abs=1e-3)
            assert each.local == pytest.approx(pair[word.word].local, abs=1e-5)
            assert each.neighbors_old == pair[word.word].neighbors_old
    for word in found.words:
        assert [(each.time_old, each.time_new) for each in word.steps] == [
            ("0", "1"), ("1", "2"), ("2", "3")]  # fmt: skip
        for before, after in zip(word.steps, word.steps[1:], strict=False):
            assert before.neighbors_new == after.neighbors_old
        assert word.neighbors_new == word.steps[-1].neighbors_new


@pytest.mark.parametrize("mapper", ["procrustes", "gpa"])
def test_the_path_says_when_words_moved(path, mapper):
    corpora, planted = path
    until = dict(list(corpora.items())[:3])
    found = drift(until, mapper=mapper, top=PLANTED, neighbors=0)
    moved = [each for each in found.words if each.word in planted]
    assert len(moved) >= 0.9 * PLANTED
    assert all(max(each.steps, key=lambda step: step.score).time_new == "1" for each in moved)
    back = drift(corpora, mapper=mapper, words=planted, neighbors=0).words
    assert np.median([each.score for each in back]) < 2
    assert min(np.median([each.steps[at].score for each in back]) for at in (0, 2)) > 4
    assert np.median([each.steps[1].score for each in back]) < 2


def test_a_path_as_a_table(path):
    corpora, _ = path
    found = drift(corpora, top=3, neighbors=1)
    header, *lines = found.to_markdown().splitlines()
    assert "| 0-1 | 1-2 | 2-3 | rank | nearest in 0 | nearest in 3 |" in header
    assert all(line.count("*") == 1 for line in lines[1:])
    assert "3000 words are in all, of 3000 in 0, 3000 in 1, 3000 in 2 and 3000 in 3;" in str(found)
    assert [(row["time_old"], row["time_new"]) for row in found.rows] == [
        ("0", "3"), ("0", "1"), ("1", "2"), ("2", "3")] * 3  # fmt: skip
    assert len(found.to_csv().splitlines()) == 1 + 3 * 4


def test_intervals_narrow_with_more_anchors(times):
    old, new, _ = times

    def width(count):
        found = drift(old.head(count), new.head(count), top=200, neighbors=0, resamples=20).words
        assert all(each.distance_low < each.distance_high for each in found)
        return np.mean([each.distance_high - each.distance_low for each in found])

    assert width(3000) < width(700)
    (same,) = drift(old, old, words=old.words[7], resamples=3).words
    assert same.distance_low == pytest.approx(0, abs=1e-5)
    assert same.distance_high == pytest.approx(0, abs=1e-5)


def test_intervals_hold_what_more_words_find(demo):
    """Those from a third of the words hold the distances after a fit on all of them."""
    now = demo.embeddings["en"]
    corpora = {name: noisy(now, seed) for seed, name in enumerate("ab")}
    asked = now.words[100:2000:10]
    every = {each.word: each.distance for each in drift(corpora, words=asked, trim=0).words}
    few = {name: value.head(2000) for name, value in corpora.items()}
    found = drift(few, words=asked, trim=0, resamples=40, neighbors=0).words
    held = [each.distance_low <= every[each.word] <= each.distance_high for each in found]
    assert np.mean(held) > 0.8


def test_intervals_of_words_that_moved_hold_it_too(demo):
    """They are no anchors, and a map from few of them is biased there: that is taken back."""
    now, random = demo.embeddings["en"], np.random.default_rng(3)
    rows = random.choice(len(now), 120, replace=False)
    vectors = unit(now.vectors)
    vectors[rows] = unit(vectors[rows] + vectors[np.roll(rows, 1)])
    corpora = {"a": noisy(now, 1), "b": noisy(Embeddings(now.words, vectors), 2)}
    third = np.union1d(rows, random.choice(len(now), 1900, replace=False))
    few = {
        name: Embeddings([value.words[row] for row in third], value.vectors[third])
        for name, value in corpora.items()
    }
    asked = [now.words[row] for row in rows]
    every = {each.word: each.distance for each in drift(corpora, words=asked, neighbors=0).words}
    found = drift(few, words=asked, resamples=40, neighbors=0).words
    above = [every[each.word] > each.distance_high for each in found]
    below = [every[each.word] < each.distance_low for each in found]
    assert abs(np.mean(above) - np.mean(below)) < 0.15
    assert np.mean(above) + np.mean(below) < 0.25


def test_intervals_follow_the_seed(times):
    old, new, _ = times
    rows = [drift(old, new, top=5, resamples=3, seed=seed).rows for seed in (0, 0, 1)]
    assert rows[0] == rows[1] != rows[2]
    assert "[" in str(drift(old, new, top=1, resamples=2))


def test_few_false_discoveries_and_most_true_ones(demo):
    now = demo.embeddings["en"]
    null = {"a": noisy(now, 100), "b": noisy(now, 101)}
    shares = []
    for seed in range(3):
        rows = np.random.default_rng(seed).choice(len(now), PLANTED, replace=False)
        old, new = noisy(now, 10 + seed), noisy(now, 20 + seed, rows)
        found = {each.word for each in drift(old, new, top=99, neighbors=0, null=null).words
                 if each.q < 0.1}  # fmt: skip
        planted = {now.words[row] for row in rows}
        assert len(found & planted) > 0.6 * PLANTED
        shares.append(len(found - planted) / len(found))
        same = drift(old, noisy(now, 30 + seed), top=99, neighbors=0, null=null).words
        assert sum(each.q < 0.1 for each in same) <= 1
    assert np.mean(shares) < 0.1


def test_p_values_are_those_of_the_formula(demo):
    now = demo.embeddings["en"].head(2500)
    null, other = (
        _Aligned(_CommonWords({"a": noisy(now, s), "b": noisy(now, s + 1, range(9))}),
                 Procrustes(), np.arange(2500))
        for s in (0, 7)
    )  # fmt: skip
    found = null.p_values(other, np.arange(2500))
    assert 0.03 < np.mean(found <= 0.05) < 0.07
    modelled = 0
    for row in (3, 4, 40, 1200, 2490):
        first = min(max(row - NULL_WORDS // 2, 0), 2500 - NULL_WORDS)  # rows are ranks here
        similar = np.sort(null.score[0, first : first + NULL_WORDS])[::-1]
        score, t, m = other.score[0, row], similar[25], 25
        expected = (1 + np.sum(similar >= score)) / (NULL_WORDS + 1)
        if score > t:
            modelled += 1
            b = np.mean(similar[:m] - t)
            expected = m / NULL_WORDS * (1 + (score - t) / (m * b)) ** -m
        assert found[row] == pytest.approx(expected)
    assert modelled >= 2


def test_fewer_words_asked_make_smaller_q(path):
    corpora, planted = path
    three = dict(list(corpora.items())[:3])
    null = {"a": corpora["0"], "b": corpora["3"]}
    every = {each.word: each for each in drift(three, top=None, neighbors=0, null=null).words}
    asked = drift(three, words=sorted(planted), neighbors=0, null=null)
    assert all(each.q <= every[each.word].q for each in asked.words)
    sure = [every[word].steps for word in planted if every[word].q < 0.01]
    assert len(sure) > PLANTED / 2
    assert all(first.q < 0.1 < second.q for first, second in sure)
    assert "by the 3000 words of the null" in str(asked)
    assert "q" not in drift(corpora, top=1).rows[0]
    assert drift(three, words=[], null=null).rows == []


def test_a_null_is_two_corpora_that_differ(times):
    old, new, _ = times
    with pytest.raises(ParameterError, match=r"null \(a, b\) hardly differ: they are copies"):
        drift(old, new, null={"a": old, "b": old})
    for wrong in ({"a": old}, [old, new]):
        with pytest.raises(ParameterError, match="so does a null, each by its own name"):
            drift(old, new, null=wrong)
    with pytest.raises(ParameterError, match="compares two corpora or more"):
        drift(old)


def test_what_cannot_be_compared_is_told(times):
    old, new, _ = times
    other = Embeddings([f"{word}!" for word in new.words], new.vectors)
    with pytest.raises(DictionaryError, match="Only 0 of the words"):
        drift(old, other)
    with pytest.raises(UnknownNameError, match="words of new: 'qwx'"):
        drift(
            Embeddings(["qwx", *old.words], old.vectors[[0, *range(len(old))]]), new, words=["qwx"]
        )
    with pytest.raises(UnknownNameError, match=f"words of third: {old.words[9]!r}"):
        third = Embeddings(old.words[10:], old.vectors[10:])
        drift({"first": old, "second": new, "third": third}, words=old.words[9])


@pytest.mark.parametrize(
    "wrong",
    [
        {"by": "size"},
        {"trim": 1.0},
        {"names": ("a", "a")},
        {"neighbors": -1},
        {"top": 0},
        {"resamples": -1},
    ],
)
def test_values_that_mean_nothing_are_refused(times, wrong):
    old, new, _ = times
    with pytest.raises(ParameterError):
        drift(old, new, **wrong)


def test_a_word_that_stands_twice_is_no_neighbour_of_itself(times):
    old, new, _ = times
    twice = Embeddings([*old.words, *old.words[:50]], old.vectors[[*range(len(old)), *range(50)]])
    found = drift(twice, new, words=list(old.words[:50]))
    assert found.rows == drift(old, new, words=list(old.words[:50])).rows


def test_a_word_is_not_its_own_neighbour_even_among_twins():
    rows = as_unit_rows(np.repeat(np.eye(3, dtype=np.float32), 2, axis=0), "toy")
    chosen = np.arange(6)
    others = nearest_others(Cosine().index(rows, rows), rows, chosen, 1)
    assert others[:, 0].tolist() == [1, 0, 3, 2, 5, 4]
