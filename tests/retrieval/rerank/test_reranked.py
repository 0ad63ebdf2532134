"""Re-ranking: one score for the candidates of vectors and letters, and ranks that agree with it."""

from dataclasses import replace

import numpy as np
import pytest

from geomm_plugin import registry
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import ParameterError
from geomm_plugin.normalize import unit
from geomm_plugin.registry import as_retrieval
from geomm_plugin.registry.hookspecs import hookimpl
from geomm_plugin.retrieval import CSLS, Cosine, Feature, Reranked, UnitRows
from geomm_plugin.retrieval.rerank import reranked
from geomm_plugin.retrieval.rerank.ngrams import Ngrams
from geomm_plugin.shared_space import SharedSpace


def language(count, seed, dimension=12, alphabet="abcdef"):
    generator = np.random.default_rng(seed)
    words = [
        "".join(generator.choice(list(alphabet), generator.integers(2, 7))) for _ in range(count)
    ]
    vectors = generator.standard_normal((count, dimension)).astype(np.float32)
    return UnitRows(unit(vectors), words)


def spelling_cosines(source, target):
    everything = np.tile(np.arange(len(target)), (len(source), 1))
    return Ngrams.of(source.words, target.words).pairs(source.words, everything).astype(float)


def order_of(scores):
    columns = np.broadcast_to(np.arange(scores.shape[1]), scores.shape)
    return np.lexsort((columns, -scores), axis=1)


@pytest.mark.parametrize("base", ["csls", "cosine", "csls:k=3"])
def test_few_targets_are_all_candidates_and_ranked_by_the_formula(base):
    source, target = language(60, 0), language(35, 1)
    everything = as_retrieval(base).index(source, target).search(source, 35)
    scores = np.empty((60, 35))
    np.put_along_axis(scores, everything.indices, everything.scores, axis=1)
    g = spelling_cosines(source, target)
    assert g.max() > 0.6
    scores = scores + 0.2 * g + 0.3 * np.sqrt(g)
    best = Reranked(base=base).index(source, target).search(source, 100)
    assert np.allclose(best.scores, np.take_along_axis(scores, best.indices, axis=1), atol=1e-12)
    assert np.array_equal(best.indices, order_of(scores))


@pytest.mark.parametrize("features", [("letters",), ("letters", "edit", "frequency")])
@pytest.mark.parametrize("block", [7, 1024])
def test_ranks_agree_with_search_at_every_depth(features, block, monkeypatch):
    pytest.importorskip("rapidfuzz")
    monkeypatch.setattr(reranked, "QUERIES_AT_A_TIME", block)
    source, target = language(90, 2), language(150, 3)
    weights = {"frequency": -0.2, "edit": 0.3} if len(features) > 1 else "fixed"
    index = Reranked(features=features, weights=weights).index(source, target)
    queries = source.select(np.arange(0, 90, 4))
    best = index.search(queries, 150)
    assert np.array_equal(np.sort(best.indices, axis=1), np.tile(np.arange(150), (23, 1)))
    assert (np.diff(best.scores, axis=1) <= 0).all()
    for k in (1, 10, 40, 41, 70):
        first = index.search(queries, k)
        assert np.array_equal(first.indices, best.indices[:, :k])
        assert np.array_equal(first.scores, best.scores[:, :k])
    place = np.argsort(best.indices, axis=1)
    generator = np.random.default_rng(4)
    gold = [generator.choice(150, generator.integers(1, 4), replace=False) for _ in range(23)]
    # No two scores are equal here, so that a rank is a place, less the other gold words before.
    expected = np.array([1 + place[i, rows].min() for i, rows in enumerate(gold)])
    assert np.array_equal(index.ranks(queries, gold), expected)
    for depth in (1, 5, 39, 60, 149):
        ranks = index.ranks(queries, gold, depth)
        assert np.array_equal(ranks, np.minimum(expected, depth + 1))


def test_without_weights_the_base_decides():
    source, target = language(80, 5), language(120, 6)
    none = {"letters": 0.0, "letters^0.5": 0.0}
    base = CSLS().index(source, target).search(source, 40)
    best = Reranked(weights=none).index(source, target).search(source, 40)
    same = best.indices == base.indices
    assert same[:, :10].all(), "what letters propose competes, but by the base's score"
    assert np.array_equal(best.scores[same], base.scores[same])


def test_a_word_far_by_vectors_but_spelt_alike_is_found():
    source, target = language(30, 7, alphabet="abc"), language(400, 8, alphabet="xyz")
    query = source.select(slice(1))
    order = CSLS().index(source, target).search(query, 400).indices[0]
    far, too_far = order[60], order[-1]
    target.words[far] = target.words[too_far] = source.words[0]
    index = Reranked().index(source, target)
    columns = index.candidates(query).columns[0]
    assert far in columns and columns[:40].tolist() == order[:40].tolist()
    assert too_far not in columns, "the tenth by CSLS is better than it by more than g / 2"
    assert far in index.search(query, 15).indices


def test_words_without_common_letters_stay_in_the_order_of_the_base():
    source, target = language(50, 9, alphabet="abcd"), language(90, 10, alphabet="東京大学")
    base = CSLS().index(source, target).search(source, 40)
    best = Reranked().index(source, target).search(source, 40)
    assert np.array_equal(best.indices, base.indices)
    assert np.array_equal(best.scores, base.scores)


def test_equal_words_are_equally_good_and_the_lower_row_comes_first():
    source = language(5, 11)
    vectors = np.tile(source.all()[:1], (6, 1))
    target = UnitRows(vectors, ["élan", "elan", "Élan", "elan", "xxxx", "xxxx"])
    query = UnitRows(source.all()[:1], ["elan"])
    index = Reranked().index(source, target)
    best = index.search(query, 6)
    assert best.indices.tolist() == [[0, 1, 2, 3, 4, 5]]
    assert len(set(best.scores[0].tolist())) == 2
    assert index.ranks(query, [np.array([0])]).tolist() == [4], "wrong words with an equal score"


def test_pair_scores_are_those_of_search():
    source, target = language(40, 12), language(60, 13)
    rows, columns = np.repeat(np.arange(3), 60), np.tile(np.arange(60), 3)
    queries = source.select(slice(3))
    for retrieval in (CSLS(), Cosine(), Reranked()):
        index = retrieval.index(source, target)
        best = index.search(queries, 38)
        scores = index.pair_scores(queries, rows, columns).reshape(3, 60)
        expected = np.take_along_axis(scores, best.indices, axis=1)
        assert np.allclose(best.scores, expected, atol=1e-12)
        slow = super(type(index), index).pair_scores(queries, rows, columns)
        if not isinstance(retrieval, Reranked):
            assert np.array_equal(slow.reshape(3, 60), scores)


def test_shares_add_up_to_the_score():
    source, target = language(40, 14), language(60, 15)
    index = Reranked().index(source, target)
    query = source.select(slice(1))
    best = index.search(query, 5)
    shares = index.shares(query, best.indices[0])
    assert list(shares) == ["base", "letters"]
    assert np.allclose(sum(shares.values()), best.scores[0])


def test_shares_of_a_word_of_a_space_follow_its_weights(demo):
    words = {language: demo.embeddings[language].head(300) for language in ("en", "es")}
    learnt = {"letters": 0.7, "letters^0.5": -0.1, "frequency": -0.02}
    space = SharedSpace(words, {("en", "es"): learnt})
    index, query = space.index("en", "es", "reranked"), space.queries(["president"], "en")
    best = index.search(query, 4)
    shares = index.shares(query, best.indices[0])
    assert list(shares) == ["base", "letters", "frequency"]
    assert np.allclose(sum(shares.values()), best.scores[0])
    assert np.array_equal(
        shares["base"], index.base.pair_scores(query, np.zeros(4, int), best.indices[0])
    )
    ranks = np.log(best.indices[0] + 1) - np.log(words["en"].row_of["president"] + 1)
    assert np.allclose(shares["frequency"], -0.02 * np.abs(ranks))


def test_what_cannot_be_is_refused():
    rows = language(20, 16)
    with pytest.raises(ParameterError, match="came without their words"):
        Reranked().index(rows.all(), rows.all()).search(rows.all()[:2], 1)
    with pytest.raises(ParameterError, match="No feature .* 'leters'. Did you mean 'letters'"):
        Reranked(weights={"leters": 1.0}).index(rows, rows)
    with pytest.raises(ParameterError, match="not reranked"):
        Reranked(base="reranked").index(rows, rows)
    with pytest.raises(ParameterError, match="at least 1 target"):
        Reranked().index(rows, rows).search(rows, 0)
    with pytest.raises(ParameterError, match="weights=nothing is not possible"):
        as_retrieval("reranked:weights=nothing")
    assert as_retrieval("reranked:weights=fixed,base=cosine") == Reranked(
        weights="fixed", base="cosine"
    )
    assert Reranked().index(rows, rows).search(rows.select(slice(0)), 3).indices.shape == (0, 3)


def test_a_space_carries_learnt_weights_for_its_pairs():
    source, target = language(40, 17), language(60, 18)
    embeddings = {
        "en": Embeddings(source.words, source.all()),
        "es": Embeddings(target.words, target.all()),
    }
    learnt = {"letters": 0.2, "letters^0.5": 0.1, "frequency": -0.3}
    plain, space = SharedSpace(embeddings), SharedSpace(embeddings, {("en", "es"): learnt})
    word = source.words[3]
    given = Reranked(features=("letters", "frequency"), weights=learnt)
    expected = plain.translate(word, "en", "es", retrieval=given)
    for weights in ("auto", "learnt"):
        retrieval = Reranked(weights=weights)
        assert space.translate(word, "en", "es", retrieval=retrieval) == expected
        assert retrieval.with_learnt(None) is retrieval
    fixed = plain.translate(word, "en", "es", retrieval="reranked")
    assert fixed != expected
    assert space.translate(word, "en", "es", retrieval="reranked:weights=fixed") == fixed
    back = target.words[3]
    by_space = space.translate(back, "es", "en", retrieval="reranked")
    assert by_space == plain.translate(back, "es", "en", retrieval=given), "the same both ways"


class SameLength(Feature):
    """1 for words of equally many letters."""

    name = "same_length"
    fixed_weights = {"same_length": 5.0}  # noqa: RUF012

    def values(self, queries, targets):
        lengths = np.array([len(word) for word in self.target.words])
        own = np.array([len(word) for word in queries.words])
        return (lengths[targets] == own[:, None]).astype(float)[:, :, None]


def test_features_come_from_plugins(monkeypatch):
    class Plugin:
        @hookimpl
        def register_features(self):
            return [SameLength]

    plugin = Plugin()
    registry.plugins.register(plugin)
    try:
        assert "same_length" in registry.features
        source, target = language(30, 19), language(30, 20)
        retrieval = Reranked(features=("same_length",))
        best = retrieval.index(source, target).search(source, 1).indices[:, 0]
        lengths = {len(word) for word in target.words}
        for word, row in zip(source.words, best, strict=True):
            assert len(target.words[row]) == len(word) or len(word) not in lengths
    finally:
        registry.plugins.unregister(plugin)
    assert "same_length" not in registry.features


def test_results_do_not_depend_on_the_other_queries():
    source, target = language(40, 21), language(80, 22)
    retrieval = replace(Reranked(), base="csls")
    together = retrieval.index(source, target).search(source, 5)
    for row in (0, 17, 39):
        alone = retrieval.index(source, target).search(source.select(np.array([row])), 5)
        assert np.array_equal(alone.indices[0], together.indices[row])
        assert np.array_equal(alone.scores[0], together.scores[row])
