"""Self-learning around mappers that are chosen by name."""

import numpy as np
import pytest

from geomm_plugin import get_mapper
from geomm_plugin.errors import ParameterError
from geomm_plugin.mappers import SelfLearning
from geomm_plugin.testing import make_toy


def test_any_linear_mapper_can_be_wrapped(toy):
    wrapped = toy.fit(get_mapper("self_learning", mapper="procrustes"))
    semi = toy.fit(get_mapper("procrustes_semi"))
    assert np.array_equal(wrapped.W("en", "es"), semi.W("en", "es"))
    other = toy.fit(get_mapper("self_learning", mapper="regression"))
    assert not np.allclose(other.W("en", "es"), semi.W("en", "es"))
    strict, lax = (
        toy.fit(get_mapper("self_learning", mapper=f"regression:regularization={value}"))
        for value in (0, 1000)
    )
    assert np.linalg.norm(lax.W("en", "es")) < np.linalg.norm(strict.W("en", "es")) / 2
    with pytest.raises(ParameterError, match="'regression' has no parameter 'lambda'"):
        toy.fit(get_mapper("self_learning", mapper="regression:lambda=3"))
    with pytest.raises(ParameterError, match="self-learning already"):
        toy.fit(get_mapper("self_learning", mapper="geomm_semi"))


def test_the_mapper_inside_keeps_its_normalization():
    toy = make_toy(words=200, dimension=8, pairs=120, noise=0.3)
    for name in ("msf", "procrustes"):
        plain = toy.fit(get_mapper(name))
        wrapped = toy.fit(SelfLearning(mapper=name, max_rounds=0))
        assert np.array_equal(wrapped.W("en", "es"), plain.W("en", "es"))
    bare = toy.fit(SelfLearning(mapper="procrustes:normalize=unit", max_rounds=0))
    assert bare.normalizer_.steps == ("unit",)
    given = toy.fit(SelfLearning(mapper="msf", normalize=("unit",), max_rounds=0))
    assert given.normalizer_.steps == ("unit",)
    assert SelfLearning(mapper="geomm_multi").joint and not SelfLearning().joint
