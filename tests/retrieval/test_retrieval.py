"""Retrieval finds exactly what comparing everything finds, ties included."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geomm_plugin import registry
from geomm_plugin.arrays import Tiles
from geomm_plugin.errors import ParameterError
from geomm_plugin.evaluation.runs import measure
from geomm_plugin.normalize import unit
from geomm_plugin.registry import as_retrieval
from geomm_plugin.retrieval import (
    CSLS,
    BiasedIndex,
    Cosine,
    InvertedSoftmax,
    Neighbors,
    best_neighbors,
    mutual_neighbors,
)
from geomm_plugin.retrieval.exact.bias import SearchPolicy
from geomm_plugin.retrieval.exact.bounds import Sketch, make_sketch, shorten
from geomm_plugin.retrieval.exact.dots import exact_dots
from geomm_plugin.retrieval.exact.neighborhood import nearest_of
from geomm_plugin.retrieval.inverted_softmax import learn_temperature
from geomm_plugin.testing import check_retrieval

KINDS = ("scattered", "clustered", "tied", "repeated", "collapsed", "nearly collapsed", "some zero")
TEMPERATURE = 0.05


def rows(generator, count, dimension, kind):
    vectors = generator.standard_normal((count, dimension))
    if kind == "clustered":
        centers = generator.standard_normal((8, dimension))
        vectors = centers[generator.integers(0, 8, count)] + 0.3 * vectors
    elif kind == "tied":
        vectors = np.sign(vectors) * (generator.random(vectors.shape) < 0.4)
    elif kind == "repeated":
        vectors = vectors[generator.integers(0, max(1, count // 5), count)]
    elif kind == "collapsed":
        vectors = np.ones_like(vectors)
    elif kind == "nearly collapsed":
        vectors = 1 + 1e-7 * vectors
    elif kind == "some zero":
        vectors[generator.random(count) < 0.3] = 0
    return unit(vectors).astype(np.float32)


def all_dots(left, right):
    right = right.astype(np.float64)
    return np.stack(
        [
            np.einsum("ij,ij->i", np.tile(row, (len(right), 1)), right)
            for row in left.astype(np.float64)
        ]
    )


def top_mean(table, k):
    return np.ascontiguousarray(np.sort(table, axis=1)[:, -min(k, table.shape[1]) :]).mean(axis=1)


def brute_force(method, source, target, queries):
    """Return what the method ranks by, and its scores, for all pairs."""
    cosines = all_dots(queries, target)
    if isinstance(method, Cosine):
        return cosines, cosines
    back = all_dots(target, source)
    if isinstance(method, CSLS):
        order = cosines - top_mean(back, method.k) / 2
        return order, 2 * order - top_mean(cosines, method.k)[:, None]
    order = cosines - TEMPERATURE * np.log(np.exp(back / TEMPERATURE).sum(axis=1))
    return order, np.exp(order / TEMPERATURE)


SMALL = Tiles(rows=7, columns=50)  # so that even toys need many tiles


@pytest.fixture(params=[f"{a}{b}" for a in ("near", "bounds", "all") for b in ("", " sketched")])
def policy(request):
    """Near bounds, those of cells, or the bias of all targets; with a sketch or none."""
    return SearchPolicy(
        near="near" in request.param,
        bounds="bounds" in request.param,
        sketch="sketched" in request.param,
        near_targets=3,
        directions=(5,),
        tiles=SMALL,
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", [Cosine(), CSLS(k=1), CSLS(), CSLS(k=120)], ids=repr)
def test_search_and_ranks_are_those_of_brute_force(method, kind, policy):
    generator = np.random.default_rng(KINDS.index(kind))
    source = rows(generator, 110, 12, kind)
    target = rows(generator, 150, 12, kind)
    queries = source[generator.integers(0, len(source), 20)]
    order, scores = brute_force(method, source, target, queries)
    best = np.lexsort((np.broadcast_to(np.arange(150), order.shape), -order), axis=1)
    for k in (1, 10, 200):
        found = method.index(source, target, policy=policy).search(queries, k)
        assert np.array_equal(found.indices, best[:, :k])
        assert np.array_equal(found.scores, np.take_along_axis(scores, best[:, :k], axis=1))
    gold = [generator.choice(150, generator.integers(1, 4), replace=False) for _ in queries]
    expected = np.array(
        [
            1 + np.count_nonzero(np.delete(row, correct) >= row[correct].max())
            for row, correct in zip(order, gold, strict=True)
        ]
    )
    assert np.array_equal(
        method.index(source, target, policy=policy).ranks(queries, gold), expected
    )
    for depth in (1, 5, 50, 200):
        ranks = method.index(source, target, policy=policy).ranks(queries, gold, depth)
        assert np.array_equal(ranks, np.minimum(expected, depth + 1))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.tuples(*[st.integers(1, 200)] * 2, st.integers(1, 9), st.integers(1, 30)),
    kind=st.sampled_from(KINDS),
    k=st.integers(1, 20),
    neighbors=st.integers(1, 15),
    bounds=st.sampled_from([None, True, False]),
    near=st.booleans(),
)
def test_csls_is_that_of_brute_force_for_any_sizes(seed, sizes, kind, k, neighbors, bounds, near):
    generator = np.random.default_rng(seed)
    source_words, target_words, count, dimension = sizes
    source = rows(generator, source_words, dimension, kind)
    target = rows(generator, target_words, dimension, kind)
    queries = rows(generator, count, dimension, kind)
    method = CSLS(k=neighbors)
    order, scores = brute_force(method, source, target, queries)
    best = np.lexsort((np.broadcast_to(np.arange(target_words), order.shape), -order), axis=1)
    policy = SearchPolicy(bounds=bounds, near=near)
    found = method.index(source, target, policy=policy).search(queries, k)
    assert np.array_equal(found.indices, best[:, :k])
    assert np.array_equal(found.scores, np.take_along_axis(scores, best[:, :k], axis=1))


def test_inverted_softmax_is_that_of_brute_force(policy):
    generator = np.random.default_rng(5)
    for kind in ("scattered", "clustered"):
        source, target = rows(generator, 260, 12, kind), rows(generator, 330, 12, kind)
        queries = source[:20]
        method = InvertedSoftmax(temperature=TEMPERATURE)
        order, scores = brute_force(method, source, target, queries)
        best = np.argsort(-order, axis=1)[:, :10]
        found = method.index(source, target, policy=policy).search(queries, 10)
        assert np.array_equal(found.indices, best)
        assert np.allclose(found.scores, np.take_along_axis(scores, best, axis=1), rtol=1e-4)


def test_inverted_softmax_does_not_overflow_at_any_temperature(policy):
    generator = np.random.default_rng(6)
    source, target = rows(generator, 200, 12, "clustered"), rows(generator, 200, 12, "clustered")
    for temperature in (1e-3, 1.0, 1e3):
        index = InvertedSoftmax(temperature=temperature).index(source, target, policy=policy)
        scores = index.search(source, 5).scores
        assert np.isfinite(scores).all() and (scores >= 0).all() and (scores <= 1).all()


@pytest.mark.parametrize("temperature", [0.004, 0.05, 1.0, 100.0, 1000.0])
def test_inverted_softmax_ranks_as_float64_does(temperature):
    generator = np.random.default_rng(19)
    source, target = (rows(generator, 2000, 50, "scattered") for _ in range(2))
    back = target.astype(np.float64) @ source.T.astype(np.float64)
    largest = back.max(axis=1)
    sums = np.exp((back - largest[:, None]) / temperature).mean(axis=1)
    order = source.astype(np.float64) @ target.T.astype(np.float64)
    order -= largest + temperature * np.log(sums)
    index = InvertedSoftmax(temperature=temperature).index(source, target)
    ranks = index.ranks(source, np.arange(2000)[:, None])
    others = ranks != (order >= order.diagonal()[:, None]).sum(axis=1)
    assert np.count_nonzero(others) <= 2
    found = index.search(source, 1).indices[:, 0]
    assert np.count_nonzero(found != order.argmax(axis=1)) <= 1


def test_temperature_is_lower_where_translations_stand_out():
    generator = np.random.default_rng(7)
    source = rows(generator, 300, 20, "scattered")
    clear = unit(source + 0.05 * generator.standard_normal(source.shape).astype(np.float32))
    vague = unit(source + 0.30 * generator.standard_normal(source.shape).astype(np.float32))
    assert learn_temperature(source, clear) < learn_temperature(source, vague)


@pytest.mark.parametrize("near", [False, True])
def test_an_index_is_lazy_and_keeps_what_it_learnt(near):
    generator = np.random.default_rng(8)
    source, target = rows(generator, 600, 20, "clustered"), rows(generator, 600, 20, "clustered")
    index = CSLS().index(source, target, policy=SearchPolicy(near=near, bounds=True))
    first = index.search(source[:3], 1)
    known = ~np.isnan(index.bias._values)
    assert 0 < known.sum() < 300, "most targets cannot win, and their r_S is never computed"
    again = index.search(source[:3], 1)
    assert np.array_equal(~np.isnan(index.bias._values), known)
    assert np.array_equal(first.indices, again.indices)


def test_a_sketch_never_loses_a_neighbour_and_rules_most_pairs_out():
    generator = np.random.default_rng(15)
    falling = 0.7 ** np.arange(30)
    vectors, queries = (
        unit((generator.standard_normal((count, 30)) * falling).astype(np.float32))
        for count in (2000, 64)
    )
    cosines = all_dots(queries, vectors)
    floor = np.sort(cosines, axis=1)[:, -10] - 1e-5
    made = make_sketch(vectors, queries, floor, SearchPolicy().directions, most_work=0.7)
    assert made is None, "30 dimensions are fewer than any sketch has"
    for size in (1, 3, 8):
        directions = np.linalg.eigh(vectors.T.astype(np.float64) @ vectors)[1][:, ::-1][:, :size]
        sketch = Sketch.of(vectors, directions)
        bounds = shorten(queries, directions, np.zeros(64)) @ sketch.short.T
        assert (bounds >= cosines - 1e-6).all()
        many = np.resize(np.arange(64), 700)  # more than are compared at a time
        for part, found in sketch.candidates(queries[many], floor[many]):
            nearest = np.argsort(-cosines[many[part]], axis=1)[:, :10]
            assert set(nearest.ravel()) <= set(found)
        _, found = next(sketch.candidates(queries[:1], floor[:1]))
    assert len(found) < 200


def test_mutual_neighbors_are_those_of_brute_force():
    for kind in KINDS:
        generator = np.random.default_rng(9)
        source, target = rows(generator, 150, 12, kind), rows(generator, 130, 12, kind)
        forth, scores = brute_force(CSLS(), source, target, source)
        back, _ = brute_force(CSLS(), target, source, target)
        both = best_neighbors(source, target, tiles=SMALL)
        assert np.array_equal(both.forth, forth.argmax(axis=1))
        assert np.array_equal(both.back, back.argmax(axis=1))
        assert np.array_equal(both.forth_scores, scores.max(axis=1))
        rows_, columns, csls = mutual_neighbors(source, target)
        expected = [i for i in range(150) if back.argmax(axis=1)[forth.argmax(axis=1)[i]] == i]
        assert rows_.tolist() == expected
        assert np.array_equal(csls, scores[rows_, columns])


@pytest.mark.parametrize("extra", range(4, 14))
def test_best_neighbors_of_few_equal_targets_are_the_first_ones(extra):
    targets = np.tile(rows(np.random.default_rng(1), 1, 5, "scattered"), (10 + extra, 1))
    both = best_neighbors(targets[:3], targets, k=10)
    assert both.forth.tolist() == [0, 0, 0] and not both.back.any()


def test_bounds_never_exceed_the_exact_bias():
    policy = SearchPolicy(bounds=True, near=True)
    for kind in KINDS:
        generator = np.random.default_rng(10)
        source, target = rows(generator, 300, 12, kind), rows(generator, 280, 12, kind)
        for method in (CSLS(), *(InvertedSoftmax(temperature=t) for t in (1e-3, 0.02, 1e3))):
            for queries in (None, source[:2]):
                index = method.index(source, target, policy=policy)
                index.bias.prepare(1, queries)
                bounds = index.bias.lower.copy()
                assert np.isfinite(bounds).all()
                assert (bounds <= index.bias.exact(np.arange(280))).all()


@pytest.mark.parametrize("name", list(registry.retrievals))
def test_every_registered_retrieval_keeps_the_contract_memory_included(name):
    check_retrieval(registry.retrievals[name])


class Forgetful(Cosine):
    """Cosine, but for what a test changes."""

    name = "forgetful"


@pytest.mark.parametrize(
    ("method", "changed", "said"),
    [
        ("search", lambda f, q, k: Neighbors(f.indices[:, ::-1], f.scores[:, ::-1]), "best come"),
        ("search", lambda f, q, k: Neighbors(f.indices, f.scores - k / 100), "k best are"),
        ("search", lambda f, q, k: Neighbors(0 * f.indices, f.scores), "listed once"),
        ("ranks", lambda f, q, *_: np.maximum(1, f - 1), "are not those of search"),
        ("pair_scores", lambda f, *_: f + 1, "pair_scores gives other"),
    ],
)
def test_the_contract_finds_what_is_broken(monkeypatch, method, changed, said):
    kept = getattr(BiasedIndex, method)
    monkeypatch.setattr(
        BiasedIndex, method, lambda self, *given: changed(kept(self, *given), *given)
    )
    with pytest.raises(AssertionError, match=said):
        check_retrieval(Forgetful)


def test_the_contract_compares_with_a_formula():
    check_retrieval(Cosine, brute_force=lambda x, z, queries: queries @ z.T)
    check_retrieval(
        CSLS, k=3, brute_force=lambda x, z, queries: brute_force(CSLS(k=3), x, z, queries)[1]
    )
    with pytest.raises(AssertionError, match="higher scores"):
        check_retrieval(CSLS, brute_force=lambda x, z, queries: queries @ z.T)


def test_refusals_say_what_is_wrong():
    """That they are refused, by every retrieval, is part of the contract."""
    good = rows(np.random.default_rng(11), 30, 4, "scattered")
    index = Cosine().index(good, good)
    with pytest.raises(ParameterError, match="queries have 1 dimensions, targets 4"):
        index.search(good[:, :1] / np.abs(good[:, :1]), 1)
    with pytest.raises(ParameterError, match="at least 1 target"):
        index.search(good, 0)
    with pytest.raises(ParameterError, match="at least one"):
        index.ranks(good[:2], [np.array([1]), np.array([], int)])
    with pytest.raises(ParameterError, match="from 0 to 29"):
        index.ranks(good[:1], [np.array([30])])


def test_parameters_are_checked():
    good = rows(np.random.default_rng(13), 30, 4, "scattered")
    with pytest.raises(ParameterError, match="k=0"):
        CSLS(k=0).index(good, good)
    with pytest.raises(ParameterError, match="temperature"):
        InvertedSoftmax(temperature=-1).index(good, good)


def test_memory_of_mutual_neighbours_does_not_grow_with_the_product_of_vocabularies():
    generator = np.random.default_rng(16)
    source, target = (rows(generator, 9000, 16, "scattered") for _ in range(2))  # 324 MB together
    _, peak = measure(lambda: mutual_neighbors(source, target))
    assert peak < 250e6


@pytest.mark.parametrize("method", [CSLS(), InvertedSoftmax(temperature=0.05)], ids=repr)
def test_memory_does_not_grow_with_the_largest_cell(method):
    """Words without a vector of their own share one, and fall into one cell."""
    generator = np.random.default_rng(17)
    source, target = (rows(generator, 16_000, 16, "scattered") for _ in range(2))
    source[1000:] = source[0]
    target[1000:] = unit(source[0] + 0.01 * target[1000:])  # 900 MB together
    _, peak = measure(lambda: method.index(source, target).search(source[:40], 10))
    assert peak < 250e6


def test_few_of_many_nearly_equal_vectors_are_compared_exactly(monkeypatch):
    from geomm_plugin.retrieval.exact import top_k

    counts = []

    def counted(queries, query_rows, vectors, vector_rows):
        counts.append(len(query_rows))
        return exact_dots(queries, query_rows, vectors, vector_rows)

    monkeypatch.setattr(top_k, "exact_dots", counted)
    for kind in ("collapsed", "nearly collapsed"):
        vectors = rows(np.random.default_rng(18), 900, 20, kind)
        best = nearest_of(vectors, vectors, 10)
        found = top_k.best_means(best, vectors, vectors, 10)
        assert np.array_equal(found, top_mean(all_dots(vectors, vectors), 10))
        assert sum(counts) < 100 * len(vectors), "of 900 a query"
        counts.clear()


def test_a_retrieval_is_chosen_by_name_or_given():
    assert as_retrieval("csls") == CSLS(k=10)
    assert as_retrieval(CSLS(k=5)) == CSLS(k=5)
