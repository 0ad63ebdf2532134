"""Plugins: lazy, in order, refused by name, and never able to take the others down."""

import subprocess
import sys
import types
import warnings
from importlib import metadata

import pytest

from geomm_plugin import (
    as_embeddings,
    get_mapper,
    hookimpl,
    registry,
)
from geomm_plugin.errors import ParameterError, PluginError, UnknownNameError
from geomm_plugin.mappers import Procrustes
from geomm_plugin.registry import Catalog, Plugins


class Renamed(Procrustes):
    """A mapper of someone else."""

    name = "renamed"


def plugin_of(*mappers, hook="register_mappers"):
    module = types.ModuleType("geomm_someone")

    @hookimpl(specname=hook)
    def contribute():
        return list(mappers)

    setattr(module, hook, contribute)
    return module


class EntryPoints:
    """Stands in for installed packages: name -> what loading gives, or an exception."""

    def __init__(self, **found):
        self.found = found

    def __call__(self, group):
        return [self.entry_point(name, group) for name in self.found]

    def entry_point(self, name, group):
        found = self.found[name]

        class Point(metadata.EntryPoint):
            dist = types.SimpleNamespace(name=f"geomm_{name}", version="3.2.1")

            def load(self):
                if isinstance(found, BaseException):
                    raise found
                return found

        return Point(name, f"geomm_{name}", group)


@pytest.fixture
def installed(monkeypatch):
    def install(**found):
        monkeypatch.setattr(metadata, "entry_points", EntryPoints(**found))
        plugins = Plugins()
        return Catalog("mapper", "register_mappers", "geomm_plugin.mapper:Mapper", plugins)

    return install


def test_built_in_mappers_come_first_and_in_order(installed):
    names = list(installed(other=plugin_of(Renamed)))
    assert names[:2] == ["procrustes", "geomm"]
    assert names[-1] == "renamed"


def test_an_installed_plugin_tells_its_package_and_version(installed):
    mappers = installed(other=plugin_of(Renamed))
    assert mappers["renamed"] is Renamed
    assert str(mappers.origin("renamed")) == "geomm_other 3.2.1"
    assert mappers.origin("geomm").package == "geomm-plugin"


def test_a_broken_plugin_is_skipped_and_named_and_the_others_work(installed):
    mappers = installed(broken=ImportError("No module named 'not_there'"), z=plugin_of(Renamed))
    with pytest.warns(
        UserWarning, match=r"Skipped the plugin 'broken' \(geomm_broken\): No module "
    ):
        names = list(mappers)
    assert "renamed" in names and "geomm" in names


def test_a_hook_that_raises_is_skipped_and_named(installed):
    module = types.ModuleType("geomm_raising")

    @hookimpl
    def register_mappers():
        raise RuntimeError("no GPU")

    module.register_mappers = register_mappers
    mappers = installed(raising=module, z=plugin_of(Renamed))
    with pytest.warns(UserWarning, match=r"'raising' \(geomm_raising\): no GPU"):
        assert "renamed" in mappers


def test_a_misspelt_hook_is_an_error_with_a_suggestion(installed):
    module = plugin_of(Renamed, hook="register_mapers")
    with pytest.raises(PluginError, match=r"'register_mapers'.*Did you mean 'register_mappers'"):
        list(installed(misspelt=module))


def test_two_things_of_one_name_are_refused_naming_both(installed):
    class Impostor(Procrustes):
        """Another one."""

        name = "geomm"

    with pytest.raises(PluginError, match=r"GeoMM \(geomm-plugin.*Impostor \(geomm_b 3\.2\.1\)"):
        list(installed(b=plugin_of(Impostor)))


def test_a_thing_without_a_name_is_refused(installed):
    with pytest.raises(PluginError, match="has no name"):
        list(installed(b=plugin_of(object)))


def test_an_instance_in_place_of_a_class_is_refused(installed):
    with pytest.raises(PluginError, match=r"geomm_b 3\.2\.1 registers an instance of .*Renamed "):
        list(installed(b=plugin_of(Renamed())))


def test_a_class_in_place_of_a_metric_is_refused():
    metric = type("Half", (), {"name": "half"})
    with pytest.raises(PluginError, match=r"the class .*Half as the metric 'half'; register an"):
        registry.plugins.register(plugin_of(metric, hook="register_metrics"))
    assert "p@1" in registry.metrics and "half" not in registry.metrics


def test_unknown_names_come_with_a_suggestion_and_the_list():
    with pytest.raises(UnknownNameError) as caught:
        get_mapper("procustes")
    message = str(caught.value)
    assert message.startswith(
        "There is no mapper 'procustes'. Did you mean 'procrustes'? Registered:"
    )
    assert isinstance(caught.value, LookupError)
    assert "procustes" not in registry.mappers and registry.mappers.get("procustes") is None


def test_a_misspelt_parameter_comes_with_a_suggestion():
    with pytest.raises(ParameterError, match="'regularisation'. Did you mean 'regularization'?"):
        get_mapper("geomm", regularisation=1)


def test_plugins_can_be_registered_and_taken_back_by_hand():
    plugin = plugin_of(Renamed)
    registry.plugins.register(plugin)
    try:
        assert get_mapper("renamed").name == "renamed"
    finally:
        registry.plugins.unregister(plugin)
    assert "renamed" not in registry.mappers


@pytest.mark.parametrize("first", ["geomm_adapters", "geomm_plugin", "geomm_plugin.mappers"])
def test_the_order_of_imports_does_not_matter(first):
    code = (
        f"import {first}\nfrom geomm_plugin import registry\n"
        "print(*registry.mappers)\nprint(*registry.formats)\n"
        "import geomm_plugin, types\n"
        "assert isinstance(geomm_plugin.mappers, types.ModuleType)\n"
        "assert registry is geomm_plugin.registry and 'geomm' in registry.mappers"
    )
    path = ":".join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": path}
    )
    assert done.returncode == 0, done.stderr
    assert "geomm" in done.stdout.split() and "vec" in done.stdout.split()


def test_nothing_heavy_is_imported_before_it_is_needed():
    code = (
        "import sys, geomm_plugin\n"
        "heavy = {'gensim', 'scipy', 'pymanopt', 'autograd', 'rich', 'fasttext', 'polars'}\n"
        "print(heavy & set(sys.modules))"
    )
    path = ":".join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": path}
    )
    assert done.stdout.strip() == "set()", done.stdout + done.stderr


def test_no_warning_without_broken_plugins(installed):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(installed())


def test_entry_points_of_one_name_are_both_registered(installed, monkeypatch):
    class Another(Procrustes):
        """Another one."""

        name = "another"

    mappers = installed(same=plugin_of(Renamed))
    one = metadata.entry_points
    two = EntryPoints(same=plugin_of(Another))
    monkeypatch.setattr(metadata, "entry_points", lambda group: [*one(group), *two(group)])
    assert {"renamed", "another"} <= set(mappers)


def test_a_plugin_that_exits_is_skipped_and_named(installed):
    mappers = installed(exiting=SystemExit(3), z=plugin_of(Renamed))
    with pytest.warns(UserWarning, match=r"'exiting' .*ended with status 3"):
        assert "renamed" in mappers


def test_what_inherits_from_nothing_of_ours_is_refused(installed):
    class Stranger:
        """Not a mapper."""

        name = "stranger"

    with pytest.raises(PluginError, match=r"'stranger'; it must inherit from geomm_plugin\.mapper"):
        list(installed(b=plugin_of(Stranger)))


def test_a_name_that_is_taken_is_refused_when_it_is_registered(installed):
    class Impostor(Procrustes):
        """Another one."""

        name = "geomm"

    mappers = installed()
    with pytest.raises(PluginError, match="Two mappers are called 'geomm'"):
        mappers.plugins.register(plugin_of(Impostor))
    assert mappers["geomm"] is not Impostor


def test_a_conversion_that_raises_is_skipped_and_named():
    class Raising:
        @hookimpl
        def to_embeddings(self, source):
            raise RuntimeError("no such thing")

    raising = Raising()
    registry.plugins.register(raising, "raising")
    try:
        with pytest.warns(UserWarning, match=r"'raising' .*no such thing"):
            assert as_embeddings({"a": [1.0, 2.0]}).words == ["a"]
    finally:
        registry.plugins.unregister(raising)
