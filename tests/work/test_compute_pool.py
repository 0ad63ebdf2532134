"""A pool splits products over vocabularies; results do not depend on its size."""

import threading

import numpy as np
import pytest

from geomm_plugin import Embeddings, evaluate, get_mapper
from geomm_plugin.arrays import Tiles
from geomm_plugin.errors import ParameterError
from geomm_plugin.normalize import unit
from geomm_plugin.retrieval import CSLS, best_neighbors
from geomm_plugin.retrieval.both_ways import Shortlist, neighborhoods
from geomm_plugin.retrieval.exact.bias import SearchPolicy
from geomm_plugin.shared_space import SharedSpace
from geomm_plugin.testing import make_toy
from geomm_plugin.work import compute_pool, each_part, pool_size

TILES = Tiles(rows=16, columns=32)


def add_and_name(array, part):
    return array[part].sum(), threading.get_ident()


@pytest.fixture
def clouds():
    """Unit rows, some of which repeat, and more often than a list of neighbours is long."""
    random = np.random.default_rng(0)
    x, z = (unit(random.normal(size=(rows, 8))).astype(np.float32) for rows in (150, 190))
    z[::6] = x[3]
    x[100:] = x[:50]
    return x, z


def same(left, right):
    return all(np.array_equal(a, b) for a, b in zip(left, right, strict=True))


def test_parts_come_in_order_from_several_threads():
    array = np.arange(100.0)
    parts = [slice(n, n + 10) for n in range(0, 100, 10)]
    assert pool_size() == 1
    alone = list(each_part("Adding", add_and_name, (array,), parts))
    with compute_pool(jobs=3):
        assert pool_size() == pool_size(in_memory=True) == 3
        divided = list(each_part("Adding", add_and_name, (array,), parts))
        inside = list(each_part("Asking", lambda _: pool_size(), (), parts))
    assert pool_size() == 1
    assert [total for total, _ in divided] == [total for total, _ in alone]
    assert {thread for _, thread in alone} == {threading.get_ident()}
    assert threading.get_ident() not in {thread for _, thread in divided}
    assert set(inside) == {1}  # a pool's threads have none of their own


def test_neighbours_are_the_same_to_the_bit_for_any_pool(clouds):
    means = neighborhoods(*clouds, 10, TILES)
    best = best_neighbors(*clouds, tiles=TILES)
    for jobs in (1, 2, 3, 50):
        with compute_pool(jobs=jobs):
            assert same(neighborhoods(*clouds, 10, TILES), means)
            found = best_neighbors(*clouds, tiles=TILES)
            assert same(vars(found).values(), vars(best).values())


def test_ranks_and_answers_are_the_same_for_any_pool(clouds):
    x, z = clouds
    gold = [np.array([n % len(z)]) for n in range(len(x))]

    def found():
        index = CSLS().index(x, z, policy=SearchPolicy(tiles=TILES))
        neighbors = index.search(x, 5)
        return index.ranks(x, gold), index.ranks(x, gold, 10), neighbors.indices, neighbors.scores

    alone = found()
    for jobs in (2, 5):
        with compute_pool(jobs=jobs):
            assert same(found(), alone)


@pytest.fixture
def space(clouds):
    return SharedSpace(
        {
            language: ([f"{language}{n}" for n in range(len(rows))], rows)
            for language, rows in zip(("en", "es"), clouds, strict=True)
        }
    )


def test_threads_and_a_cluster_find_the_same(space, dask_cluster):
    pairs = [(f"en{n}", f"es{n}") for n in range(50)]
    expected = space.dictionary("en", "es")
    scores = evaluate(space, "en", "es", pairs).scores
    fresh = SharedSpace(space)
    assert fresh.dictionary("en", "es", cluster=dask_cluster) == expected
    assert evaluate(fresh, "en", "es", pairs, cluster=dask_cluster).scores == scores
    assert space.dictionary("en", "es", jobs=2) == expected
    assert evaluate(SharedSpace(space), "en", "es", pairs, jobs=2).scores == scores


def test_no_jobs_are_an_error(space):
    with pytest.raises(ParameterError, match="jobs is a number"):
        space.dictionary("en", "es", jobs=0)


def test_a_fit_chooses_the_same_with_a_pool():
    toy = make_toy(words=150)
    for name in ("geomm", "geomm_multi"):
        alone = toy.fit(get_mapper(name))
        with compute_pool(jobs=3):
            divided = toy.fit(get_mapper(name))
        assert divided.report_.regularization == alone.report_.regularization
        for language, matrix in alone.matrices_.items():
            assert np.array_equal(divided.matrices_[language], matrix)


def test_shortlists_are_the_same_to_the_bit_for_any_pool():
    random = np.random.default_rng(5)
    x, z = (unit(random.standard_normal((900, 40)).astype(np.float32)) for _ in range(2))
    x[100:300] = x[0]  # many that are equal
    z[50:90] = z[1]
    tiles = Tiles(64, 128)
    whole = Shortlist.search(x, z, least_rows=10, tiles=tiles)
    best = whole.best(x, z)
    for jobs in (2, 3, 50):
        with compute_pool(jobs):
            found = Shortlist.search(x, z, least_rows=10, tiles=tiles)
            again = found.best(x, z)
        assert np.array_equal(found.of_source, whole.of_source)
        assert np.array_equal(found.of_target, whole.of_target)
        for one, other in zip(vars(best).values(), vars(again).values(), strict=True):
            assert np.array_equal(one, other)


def test_joint_fits_are_the_same_to_the_bit_for_any_pool():
    random = np.random.default_rng(6)
    words = [f"w{n}" for n in range(200)]
    cloud = random.standard_normal((200, 12))
    languages = ("en", "es", "it", "fr")
    turns = {name: np.linalg.qr(random.standard_normal((12, 12)))[0] for name in languages}
    embeddings = {
        name: Embeddings(words, (cloud @ turn).astype("f4")) for name, turn in turns.items()
    }
    pairs = {
        ("en", name): list(zip(words[:150], words[:150], strict=True)) for name in languages[1:]
    }

    def maps():
        return get_mapper("geomm_multi", regularization=1.0).fit(embeddings, pairs).state()

    alone = maps()
    for jobs in (2, 5):
        with compute_pool(jobs):
            together = maps()
        assert all(np.array_equal(alone[name], together[name]) for name in alone)
