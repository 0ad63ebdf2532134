"""The fixtures for authors of plugins, used as they would."""

from geomm_plugin import get_mapper, hookimpl, registry
from geomm_plugin.mappers import Procrustes

pytest_plugins = ["geomm_plugin.testing.fixtures"]


class Mine(Procrustes):
    """A mapper of one's own."""

    name = "mine"


class Plugin:
    @hookimpl
    def register_mappers(self):
        return [Mine]


def test_a_plugin_is_registered_for_the_time_of_a_test(registered, toy_languages):
    plugin = Plugin()
    registered(plugin)
    registered(plugin)  # once more does no harm
    mapper = get_mapper("mine").fit(toy_languages.embeddings, toy_languages.dictionaries)
    assert isinstance(mapper, Mine)


def test_and_not_longer():
    assert "mine" not in registry.mappers


def test_the_demo_data_are_there(demo_languages):
    assert sorted(demo_languages.embeddings) == ["en", "es", "it"]
