"""Plugins: lazy, in order, refused by name, and never able to take the others down."""

import subprocess
import sys
import types
import warnings
from importlib import metadata

import pytest

from geomm_plugin import (
    Embeddings,
    Format,
    LinearMapper,
    get_mapper,
    hookimpl,
    read_embeddings,
    registry,
    write_embeddings,
)
from geomm_plugin.embeddings import as_embeddings
from geomm_plugin.errors import FormatError, ParameterError, PluginError, UnknownNameError
from geomm_plugin.mappers import Procrustes
from geomm_plugin.registry.catalog import Catalog
from geomm_plugin.registry.plugins import Plugins


class Renamed(Procrustes):
    """A mapper of someone else."""

    name = "renamed"


def plugin_of(*items, hook="register_mappers", error=None, **options):
    """Return a plugin whose hook gives items, or raises an error."""
    module = types.ModuleType("geomm_someone")

    @hookimpl(specname=hook, **options)
    def contribute():
        if error is not None:
            raise error
        return list(items)

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
    assert "geomm" in registry.mappers  # the real ones are loaded before others stand in

    def install(**found):
        monkeypatch.setattr(metadata, "entry_points", EntryPoints(**found))
        return Catalog("mapper", "geomm_plugin.mapper:Mapper", Plugins())

    return install


def test_built_in_mappers_come_first_and_in_order(installed):
    names = list(installed(other=plugin_of(Renamed)))
    assert names[:2] == ["procrustes", "geomm"]
    assert names[-1] == "renamed"


def test_mappers_that_are_loaded_when_asked_for_have_the_names_they_are_listed_under():
    assert {name: kind.name for name, kind in registry.mappers.items()} == {
        name: name for name in registry.mappers
    }


def test_an_installed_plugin_tells_its_package_and_version(installed):
    mappers = installed(other=plugin_of(Renamed))
    assert mappers["renamed"] is Renamed
    assert str(mappers.origin("renamed")) == "geomm_other 3.2.1"
    assert mappers.origin("geomm").package == "geomm-plugin"


def odd_conversion():
    @hookimpl
    def to_embeddings(source, extra):
        return None

    module = plugin_of(Renamed)
    module.to_embeddings = to_embeddings
    return module


BROKEN = {
    "cannot be imported": (ImportError("No module named 'not_there'"), "No module named"),
    "exits": (SystemExit(3), "it ended with status 3"),
    "has a hook that raises": (plugin_of(error=RuntimeError("no GPU")), "no GPU"),
    "has a hook that exits": (
        plugin_of(error=SystemExit("no licence")),
        "it ended with status no licence",
    ),
    "has a hook with other arguments": (odd_conversion(), r"[\s\S]*extra"),
}


@pytest.mark.parametrize("found, problem", BROKEN.values(), ids=BROKEN)
def test_a_broken_plugin_is_skipped_and_named_and_the_others_work(installed, found, problem):
    mappers = installed(broken=found, z=plugin_of(type("Z", (Renamed,), {"name": "z"})))
    skipped = rf"Skipped the plugin 'broken' \(geomm_broken\): {problem}"
    with pytest.warns(UserWarning, match=skipped) as caught:
        names = list(mappers)
    assert names[-1] == "z" and "geomm" in names and "renamed" not in names
    assert len(caught) == 1


def test_a_hook_that_is_unknown_is_named_with_a_suggestion_and_the_other_hooks_are_used(installed):
    module = plugin_of(Renamed)
    module.register_mapers = plugin_of(hook="register_mapers").register_mapers
    mappers = installed(misspelt=module)
    hint = r"'misspelt' \(geomm_misspelt\).*'register_mapers'.*Did you mean 'register_mappers'"
    with pytest.warns(UserWarning, match=hint) as caught:
        assert "renamed" in mappers and "geomm" in mappers
    assert len(caught) == 1


def test_a_misspelt_hook_registered_by_hand_is_an_error_with_a_suggestion(installed):
    module = plugin_of(Renamed, hook="register_mapers")
    plugins = installed().plugins
    with pytest.raises(PluginError, match=r"'register_mapers'.*Did you mean 'register_mappers'"):
        plugins.register(module)
    assert module not in plugins.manager.get_plugins()


class Impostor(Procrustes):
    """Another one of that name."""

    name = "geomm"


class Stranger:
    """Not a mapper."""

    name = "stranger"


class Secretive:
    """Looking at it raises."""

    @property
    def name(self):
        raise RuntimeError("no name for you")


class Abstract(LinearMapper):
    """Has no learn."""

    name = "abstract"


BAD_ITEMS = {
    "an abstract class": (Abstract, "'abstract'; it does not define learn"),
    "a name that is taken": (Impostor, r"GeoMM \(geomm-plugin.*Impostor"),
    "no name": (object, "has no name"),
    "an instance": (Renamed(), "registers an instance of .*Renamed "),
    "another kind": (Stranger, r"'stranger'; it must inherit from geomm_plugin\.mapper"),
    "not even looked at": (Secretive(), "no name for you"),
}
bad_items = pytest.mark.parametrize("item, problem", BAD_ITEMS.values(), ids=BAD_ITEMS)


@bad_items
def test_a_bad_item_of_an_installed_plugin_is_left_out_and_named_once(installed, item, problem):
    class Good(Procrustes):
        """The other item of that plugin."""

        name = "good"

    mappers = installed(b=plugin_of(item, Good), z=plugin_of(Renamed))
    with pytest.warns(UserWarning, match=rf"'b' \(geomm_b\): .*{problem}") as caught:
        names = list(mappers)
    assert names[-2:] == ["good", "renamed"] and mappers["geomm"] is registry.mappers["geomm"]
    mappers.plugins.generation += 1  # what is registered later makes catalogs look again
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(mappers) == names
    assert len(caught) == 1


@bad_items
def test_a_bad_item_registered_by_hand_is_an_error(installed, item, problem):
    mappers = installed()
    names = list(mappers)
    with pytest.raises((PluginError, RuntimeError), match=problem):
        mappers.plugins.register(plugin_of(item))
    assert list(mappers) == names


def test_no_wish_of_a_plugin_puts_it_before_the_built_in_ones(installed):
    mappers = installed(pushing=plugin_of(Impostor, Renamed, trylast=True))
    with pytest.warns(UserWarning, match="'pushing' .*Two mappers are called 'geomm'"):
        assert list(mappers)[-1] == "renamed"
    assert mappers["geomm"] is not Impostor


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


def test_entry_points_of_one_name_are_both_registered(installed, monkeypatch):
    class Another(Procrustes):
        """Another one."""

        name = "another"

    mappers = installed(same=plugin_of(Renamed))
    one = metadata.entry_points
    two = EntryPoints(same=plugin_of(Another))
    monkeypatch.setattr(metadata, "entry_points", lambda group: [*one(group), *two(group)])
    assert {"renamed", "another"} <= set(mappers)


@pytest.fixture
def by_hand():
    """Give a function that registers a plugin for the time of a test."""
    added = []

    def register(plugin, name=None):
        registry.plugins.register(plugin, name)
        added.append(plugin)

    yield register
    for plugin in added:
        registry.plugins.unregister(plugin)


@pytest.mark.parametrize(
    "answer, problem",
    [
        (RuntimeError("no such thing"), "no such thing"),
        (SystemExit(3), "status 3"),
        ("words", "returned str, not Embeddings"),
    ],
)
def test_a_conversion_that_fails_is_skipped_and_named(by_hand, answer, problem):
    class Odd:
        @hookimpl
        def to_embeddings(self, source):
            if isinstance(answer, BaseException):
                raise answer
            return answer

    by_hand(Odd(), f"odd {problem}")
    with pytest.warns(UserWarning, match=f"'odd .*{problem}"):
        assert as_embeddings({"a": [1.0, 2.0]}).words == ["a"]


class Greedy(Format):
    """A format that would take every file over."""

    name = "greedy"
    suffixes = (".vec", ".en.vec", "c", "")

    @classmethod
    def recognizes(cls, path):
        return True

    def read(self, path, *, max_words=None):
        return Embeddings(["stolen"], [[1.0]])


def test_a_format_plugin_takes_no_suffix_over_and_is_asked_for_by_name(by_hand, tmp_path):
    by_hand(plugin_of(Greedy, hook="register_formats"))
    path = tmp_path / "wiki.en.vec"
    write_embeddings(Embeddings(["dog"], [[1.0, 2.0]]), path)
    assert read_embeddings(path).words == ["dog"]
    assert read_embeddings(path, format="greedy").words == ["stolen"]
    assert read_embeddings(path, format=Greedy()).words == ["stolen"]
    (tmp_path / "x.other").write_text("")
    assert read_embeddings(tmp_path / "x.other").words == ["stolen"]  # nobody else's suffix


@pytest.mark.parametrize("suffixes", [(None, 3), ".vec", [".vec"], None])
def test_a_format_whose_suffixes_are_no_texts_is_left_out(monkeypatch, suffixes):
    class Odd(Greedy):
        """Has suffixes that no path can end in."""

        name = "odd"

    Odd.suffixes = suffixes
    monkeypatch.setattr(
        metadata, "entry_points", EntryPoints(odd=plugin_of(Odd, hook="register_formats"))
    )
    formats = Catalog("format", "geomm_plugin.formats:Format", Plugins())
    with pytest.warns(UserWarning, match=r"'odd' \(geomm_odd\): .*not a tuple of texts"):
        assert "odd" not in formats and "safetensors" in formats


@pytest.mark.parametrize("failing", ["read", "files", "write", "answer"])
def test_a_format_that_raises_costs_its_own_files_only(by_hand, tmp_path, failing):
    class Failing(Greedy):
        """Raises where it should read or write."""

        name = "failing"
        suffixes = (".failing",)

        def files(self, path):
            return 1 / 0 if failing == "files" else [path]

        def read(self, path, *, max_words=None):
            return {"answer": "words"}.get(failing) or 1 / 0

        def write(self, path, embeddings):
            path.write_text(str(1 / 0))

    by_hand(plugin_of(Failing, hook="register_formats"))
    path = tmp_path / "x.failing"
    path.write_text("x")
    with pytest.raises(FormatError, match=r"'failing' .* failed on .*x.failing: .*Error: "):
        if failing == "write":
            write_embeddings({"a": [1.0]}, path)
        else:
            read_embeddings(path)
    assert path.read_text() == "x"


def test_a_format_that_raises_when_it_looks_costs_no_other_file(by_hand, tmp_path):
    class Nosy(Greedy):
        """Raises where it should tell."""

        name = "nosy"
        suffixes = ()

        @classmethod
        def recognizes(cls, path):
            raise RuntimeError("cannot look")

    by_hand(plugin_of(Nosy, hook="register_formats"))
    (tmp_path / "model.bin2").write_text("x")
    with (
        pytest.warns(UserWarning, match="'nosy' .*cannot look"),
        pytest.raises(FormatError, match="suffix"),
    ):
        read_embeddings(tmp_path / "model.bin2")
