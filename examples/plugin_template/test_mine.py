"""The contracts of everything that this package adds, and room for tests of your own."""

from geomm_mine import Mine, SameEnd

from geomm_plugin import get_mapper
from geomm_plugin.testing import check_feature, check_mapper

pytest_plugins = ["geomm_plugin.testing.fixtures"]


def test_the_mapper_keeps_the_contract():
    check_mapper(Mine)


def test_the_feature_keeps_the_contract():
    check_feature(SameEnd)


def test_it_translates(toy_languages):
    mapper = get_mapper("mine", ridge=0.1)
    mapper.fit(toy_languages.embeddings, toy_languages.dictionaries)
    assert mapper.report_.pairs
