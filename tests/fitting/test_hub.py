import numpy as np
import pytest

from geomm_plugin import evaluate, get_mapper
from geomm_plugin.fitting.hub import mean_metric, turn
from geomm_plugin.testing import make_toy


def test_the_hub_of_one_edge_is_its_own_map_up_to_a_rotation():
    matrix = np.random.default_rng(0).normal(size=(7, 4))
    joined = mean_metric([matrix])
    scale = np.vdot(matrix, matrix)
    np.testing.assert_allclose(joined @ joined.T, matrix @ matrix.T / scale, atol=1e-12)


def test_no_edge_weighs_more_because_its_map_is_long():
    random = np.random.default_rng(0)
    one, other = random.normal(size=(5, 5)), random.normal(size=(5, 5))
    metric = mean_metric([one, other])
    longer = mean_metric([one, 100 * other])
    np.testing.assert_allclose(metric @ metric.T, longer @ longer.T, atol=1e-12)


@pytest.mark.parametrize("name", ["msf", "geomm"])
def test_two_equal_languages_beside_the_hub_are_mapped_alike(name):
    toy = make_toy({"en": 10, "es": 8}, words=400, pairs=200, drawn=True, noise=0.3)
    pair = toy.fit(name, hub="en")
    toy.embeddings["xx"] = toy.embeddings["es"]
    toy.dictionaries["en", "xx"] = toy.dictionaries["en", "es"]
    many = toy.fit(name, hub="en")
    np.testing.assert_allclose(many.matrices_["es"], many.matrices_["xx"], atol=1e-10)
    # The pair's own cosines are kept: W agrees up to the scale of the hub's metric.
    ratio = many.W("es", "en") / pair.W("es", "en")
    np.testing.assert_allclose(ratio, np.full_like(ratio, ratio[0, 0]), rtol=1e-6)


def test_a_chain_of_languages_is_followed_to_the_hub():
    links = [("en", "es"), ("es", "it")]
    toy = make_toy(("en", "es", "it"), 400, 10, links=links, pairs=200, drawn=True, noise=0.0)
    mapper = toy.fit("msf", hub="en")
    x = toy.normalized(mapper, "it") @ mapper.matrices_["it"]
    z = toy.normalized(mapper, "en") @ mapper.matrices_["en"]
    x, z = x / np.linalg.norm(x, axis=1)[:, None], z / np.linalg.norm(z, axis=1)[:, None]
    assert np.mean((x @ z.T).argmax(axis=1) == np.arange(len(x))) > 0.9


def test_a_turn_undoes_a_rotation_and_a_scale():
    random = np.random.default_rng(0)
    z, start = random.normal(size=(40, 6)), random.normal(size=(6, 4))
    rotation = np.linalg.qr(random.normal(size=(4, 4)))[0]
    found = turn(start, start @ rotation * 2.5, z.T @ z)
    np.testing.assert_allclose(found, 2.5 * rotation, atol=1e-10)


@pytest.mark.parametrize("name", ["msf", "cca", "geomm_plus"])
def test_directions_without_correlation_do_not_drown_the_way_through_the_hub(name):
    """Whitened methods weigh them down; going through the hub must not divide by that weight."""
    toy = make_toy(("en", "es", "it"), words=300, dimension=12, noise=0.05)
    random = np.random.default_rng(0)
    for language, found in toy.embeddings.items():
        own = random.normal(size=(len(found), 12)).astype(np.float32) * 0.05
        vectors = np.hstack([found.vectors, own])
        toy.embeddings[language] = type(found)(found.words, vectors)
    mapper = get_mapper(name, hub="en").fit(toy.embeddings, toy.dictionaries)
    pairs = [(f"es{n}", f"it{n}") for n in range(200, 300)]
    result = evaluate(mapper.map(toy.embeddings), "es", "it", pairs)
    assert result.scores["p@1"] > 0.9


def test_the_dimension_asked_for_is_that_of_many_languages_too():
    toy = make_toy(("en", "es", "it"), words=200, dimension=10)
    mapper = get_mapper("msf", hub="en", dimension=5).fit(toy.embeddings, toy.dictionaries)
    assert {matrix.shape for matrix in mapper.matrices_.values()} == {(10, 5)}
