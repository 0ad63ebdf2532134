import numpy as np
import pytest

from geomm_plugin import get_mapper
from geomm_plugin.errors import UnknownNameError
from geomm_plugin.testing import make_toy


@pytest.mark.parametrize("first", ["msf", "geomm", "procrustes", "cca"])
def test_each_side_is_the_least_squares_to_the_mean(two, first):
    mu = two.fit("msf_mu", mapper=first)
    before = two.fit(first)
    x, z = two.rows(mu, "en", "es")
    # A dictionary counts each pair of rows once, as fit does.
    x, z = x @ before.matrices_["en"], z @ before.matrices_["es"]
    mean = (x + z) / 2
    for rows, language in ((x, "en"), (z, "es")):
        expected = np.linalg.lstsq(rows, mean, rcond=None)[0]
        np.testing.assert_allclose(
            mu.matrices_[language], before.matrices_[language] @ expected, atol=1e-6
        )


def test_languages_that_meet_already_stay_where_they_are():
    toy = make_toy(words=400, dimension=10, pairs=150, noise=0.0)
    mu, before = (
        toy.fit("msf_mu", mapper="procrustes", normalize=()),
        toy.fit("procrustes", normalize=()),
    )
    np.testing.assert_allclose(mu.W("en", "es"), before.W("en", "es"), atol=1e-5)


def test_brings_translations_nearer(three):
    mu, before = three.fit("msf_mu"), three.fit("msf")
    for pair in three.dictionaries:
        distances = []
        for mapper in (before, mu):
            x, z = three.rows(mapper, *pair)
            x, z = x @ mapper.matrices_[pair[0]], z @ mapper.matrices_[pair[1]]
            distances.append(((x - z) ** 2).sum())
        assert distances[1] < distances[0]


def test_the_first_mapper_must_be_registered_and_linear(two):
    with pytest.raises(UnknownNameError, match="Did you mean 'msf'"):
        two.fit("msf_mu", mapper="mfs")


def test_says_how_the_first_mapper_went(two):
    chosen = two.fit("msf_mu", mapper="geomm").report_.regularization["en-es"]
    assert chosen.value in (1, 3, 10, 30, 100, 300, 1e3, 3e3, 1e4)


def test_the_mapper_before_keeps_its_normalization(two):
    assert two.fit("meet_in_the_middle", mapper="geomm:normalize=unit").normalizer_.steps == (
        "unit",
    )
    assert two.fit("msf_mu").normalizer_.steps == two.fit("msf").normalizer_.steps
    assert two.fit("msf_mu", normalize=("center",)).normalizer_.steps == ("center",)
    assert get_mapper("meet_in_the_middle", mapper="gpa").joint
