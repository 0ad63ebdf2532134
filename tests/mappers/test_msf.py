import numpy as np
import pytest

from geomm_plugin import get_mapper
from geomm_plugin.testing import make_toy


def cosines(toy, mapper, source, target):
    x, z = toy.normalized(mapper, source), toy.normalized(mapper, target)
    x, z = x @ mapper.matrices_[source], z @ mapper.matrices_[target]
    return (x / np.linalg.norm(x, axis=1)[:, None]) @ (z / np.linalg.norm(z, axis=1)[:, None]).T


def test_only_the_orthogonal_step_is_procrustes(two):
    msf = two.fit("msf", whiten=False, source_power=0.0, target_power=0.0)
    procrustes = two.fit("procrustes", normalize=msf.normalize)
    np.testing.assert_allclose(msf.W("en", "es"), procrustes.W("en", "es"), atol=1e-10)


def test_whitening_without_weights_is_cca(two):
    msf = two.fit("msf", source_power=0.0, target_power=0.0, dewhiten=False)
    cca = two.fit("cca", keep=1.0, normalize=msf.normalize)
    for language in ("en", "es"):
        np.testing.assert_allclose(msf.matrices_[language], cca.matrices_[language], atol=1e-10)


def test_dewhitening_undoes_whitening_where_nothing_is_weighed(two):
    msf = two.fit("msf", source_power=0.0, target_power=0.0)
    for language in ("en", "es"):  # what is left is the rotation of the whitened spaces
        matrix = msf.matrices_[language]
        np.testing.assert_allclose(matrix @ matrix.T, np.eye(len(matrix)), atol=1e-8)


def test_reweighting_multiplies_by_powers_of_the_correlations(two):
    plain = two.fit("msf", source_power=0.0, target_power=0.0, dewhiten=False)
    x, z = two.rows(plain, "en", "es")
    correlations = np.diag(plain.matrices_["en"].T @ x.T @ z @ plain.matrices_["es"])
    weighed = two.fit("msf", source_power=1.0, target_power=0.0, dewhiten=False)
    np.testing.assert_allclose(
        weighed.matrices_["en"], plain.matrices_["en"] * correlations, atol=1e-8
    )
    np.testing.assert_allclose(weighed.matrices_["es"], plain.matrices_["es"], atol=1e-10)


def test_the_order_of_the_languages_does_not_matter(two):
    there = two.fit("msf")
    dictionary = [pair[::-1] for pair in two.dictionaries["en", "es"]]
    back = get_mapper("msf").fit(two.embeddings, {("es", "en"): dictionary})
    np.testing.assert_allclose(
        cosines(two, there, "en", "es"), cosines(two, back, "en", "es"), atol=1e-5
    )


def test_reduction_keeps_the_first_directions(two):
    whole, reduced = two.fit("msf"), two.fit("msf", dimension=5)
    np.testing.assert_array_equal(reduced.matrices_["en"], whole.matrices_["en"][:, :5])


@pytest.mark.parametrize("whiten", [True, False])
def test_languages_may_differ_in_dimension(uneven, whiten):
    msf = uneven.fit("msf", whiten=whiten)
    assert msf.matrices_["en"].shape == (12, 9)
    assert msf.matrices_["es"].shape == (9, 9)


def test_fewer_pairs_than_dimensions_still_give_a_map():
    few = make_toy(words=400, pairs=6, drawn=True, noise=0.0)
    msf = few.fit("msf")
    x, z = few.rows(msf, "en", "es")
    x, z = x[:6] @ msf.matrices_["en"], z[:6] @ msf.matrices_["es"]
    assert ((x @ z.T).argmax(axis=1) == np.arange(6)).all()


def test_languages_without_a_dictionary_meet_through_the_hub(three):
    msf = three.fit("msf")
    x = three.normalized(msf, "es") @ msf.matrices_["es"]
    z = three.normalized(msf, "it") @ msf.matrices_["it"]
    x, z = x / np.linalg.norm(x, axis=1)[:, None], z / np.linalg.norm(z, axis=1)[:, None]
    assert np.mean((x @ z.T).argmax(axis=1) == np.arange(len(x))) > 0.8
