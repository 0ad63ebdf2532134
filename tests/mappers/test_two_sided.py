import numpy as np

from geomm_plugin.two_sided import mean_metric


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


def test_two_equal_languages_beside_the_hub_are_mapped_alike(make):
    toy = make(dimensions={"en": 10, "es": 8}, links=[("en", "es")], pairs=200)
    pair = toy.fit("msf", hub="en")
    toy.embeddings["xx"] = toy.embeddings["es"]
    toy.dictionaries["en", "xx"] = toy.dictionaries["en", "es"]
    many = toy.fit("msf", hub="en")
    np.testing.assert_allclose(many.matrices_["es"], many.matrices_["xx"], atol=1e-10)
    # The pair's own cosines are kept: W agrees up to the scale of the hub's metric.
    ratio = many.W("es", "en") / pair.W("es", "en")
    np.testing.assert_allclose(ratio, np.full_like(ratio, ratio[0, 0]), rtol=1e-6)


def test_a_chain_of_languages_is_followed_to_the_hub(make):
    toy = make(
        dimensions={"en": 10, "es": 10, "it": 10},
        links=[("en", "es"), ("es", "it")],
        pairs=200,
        noise=0.0,
    )
    mapper = toy.fit("msf", hub="en")
    x = toy.normalized(mapper, "it") @ mapper.matrices_["it"]
    z = toy.normalized(mapper, "en") @ mapper.matrices_["en"]
    x, z = x / np.linalg.norm(x, axis=1)[:, None], z / np.linalg.norm(z, axis=1)[:, None]
    assert np.mean((x @ z.T).argmax(axis=1) == np.arange(len(x))) > 0.9
