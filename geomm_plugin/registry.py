"""Everything that is registered, by name: mappers, formats, retrievals, metrics and tasks.

Built-in and third-party plugins come through the same hooks. Nothing is loaded before the first
look-up: so a plugin whose import is not finished is never registered with half of its hooks.

An installed plugin may be broken: an unknown hook, a name that is taken, an item of another kind,
an exception or sys.exit. Then only its broken part is left out, one warning names it, and every
command still works. In a plugin that the caller registers by hand, the same is an error.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import pluggy

from geomm_plugin import hookspecs
from geomm_plugin.errors import (
    GeommError,
    ParameterError,
    PluginError,
    UnknownNameError,
    did_you_mean,
)
from geomm_plugin.parameters import (
    check_known,
    parameters_of,
    parse_settings,
    split_choice,
    split_specs,
)

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from geomm_plugin.evaluation.metrics import Metric
    from geomm_plugin.evaluation.task import Task
    from geomm_plugin.formats import Format
    from geomm_plugin.mapper import Mapper
    from geomm_plugin.retrieval import Feature, Retrieval

__all__ = [
    "as_mapper",
    "as_retrieval",
    "features",
    "formats",
    "get_mapper",
    "mappers",
    "metrics",
    "plugins",
    "retrievals",
    "tasks",
]

BUILT_IN = (
    "geomm_plugin.mappers",
    "geomm_plugin.retrieval",
    "geomm_plugin.evaluation.metrics",
    "geomm_plugin.evaluation.task",
    "geomm_adapters",
)
PLUGIN_PART = "a part of the plugin"  # in warnings
T = TypeVar("T")


@dataclass(frozen=True)
class Origin:
    """The distribution that a plugin was installed with."""

    package: str
    version: str

    def __str__(self) -> str:
        return f"{self.package} {self.version}".strip()


class Plugins:
    """A pluggy manager that loads built-ins and entry points on first use."""

    def __init__(self, built_in: tuple[str, ...] = BUILT_IN, group: str = hookspecs.PROJECT):
        self.built_in = built_in
        self.group = group
        self.generation = 0  # counts registrations, so that catalogs know when to collect again
        self._manager: pluggy.PluginManager | None = None
        self._origins: dict[str, Origin] = {}  # in the order of registration
        self._installed: set[str] = set()  # plugins that were loaded from entry points
        self._warnings: set[str] = set()  # each is given once
        self.catalogs: list[Catalog[Any]] = []  # each adds itself

    @property
    def manager(self) -> pluggy.PluginManager:
        """The manager, with everything loaded."""
        if self._manager is None:
            from importlib.metadata import entry_points  # slow to import: not before it is needed

            manager = pluggy.PluginManager(hookspecs.PROJECT)
            manager.add_hookspecs(hookspecs)
            self._manager = manager  # set first: a plugin may look up a name while it loads
            try:
                for module in self.built_in:
                    self._add(import_module(module), module, _own_origin())
                    self._check_hooks(module)
                for entry_point in sorted(entry_points(group=self.group), key=lambda e: e.name):
                    self._load(entry_point)
            except BaseException:
                self._manager = None
                raise
        return self._manager

    def register(self, plugin: object, name: str | None = None) -> None:
        """Add a plugin (a module or any object with hook implementations) by hand."""
        name = name or self.manager.get_canonical_name(plugin)
        self._add(plugin, name, Origin("registered by hand", ""))
        try:
            self._check_hooks(name)
            for catalog in self.catalogs:
                len(catalog)  # collects it, which refuses names that are taken
        except BaseException:
            self.unregister(plugin)
            raise

    def unregister(self, plugin: object) -> None:
        """Take back what register() added."""
        self.manager.unregister(plugin)
        self.generation += 1

    def convert(self, source: object, kind: type[T]) -> T | None:
        """Ask the plugins for embeddings of another library's object, the newest plugin first."""
        for implementation in reversed(self.implementations("to_embeddings")):
            name = implementation.plugin_name
            try:
                converted = implementation.function(*(source for _ in implementation.argnames))
            except GeommError:
                raise
            except (Exception, SystemExit) as error:
                self.warn(name, self.origin(name).package, error)
                continue
            if isinstance(converted, kind):
                return converted
            if converted is not None:
                problem = f"to_embeddings returned {type(converted).__name__}, not {kind.__name__}"
                self.warn(name, self.origin(name).package, problem)
        return None

    def implementations(self, hook: str) -> list[pluggy.HookImpl]:
        """Return the implementations of a hook in the order of registration, built-in ones first.

        pluggy's own order would let plugins come first or last (tryfirst, trylast).
        """
        unsorted: list[pluggy.HookImpl] = getattr(self.manager.hook, hook).get_hookimpls()
        place_of = {name: place for place, name in enumerate(self._origins)}
        return sorted(unsorted, key=lambda implementation: place_of[implementation.plugin_name])

    def is_built_in(self, plugin_name: str) -> bool:
        """Tell whether a plugin belongs to this package."""
        return plugin_name in self.built_in

    def is_installed(self, plugin_name: str) -> bool:
        """Tell whether a plugin was loaded from an entry point, not registered by the caller."""
        return plugin_name in self._installed

    def warn(self, name: str, package: str, problem: object, what: str = "the plugin") -> None:
        """Warn once that a plugin, or a part of it, was left out; name its package and a fix."""
        if isinstance(problem, SystemExit):
            problem = f"it ended with status {problem}"
        reason = str(problem).removesuffix(".")
        message = f"Skipped {what} {name!r} ({package}): {reason}. Update or uninstall its package."
        if message not in self._warnings:
            self._warnings.add(message)
            warnings.warn(message, stacklevel=2)

    def origin(self, plugin_name: str) -> Origin:
        """Say which package a plugin came with."""
        return self._origins.get(plugin_name, Origin("unknown", ""))

    def _load(self, entry_point: EntryPoint) -> None:
        """Register one entry point; if it is broken, warn and skip it."""
        package = entry_point.dist.name if entry_point.dist else entry_point.value
        version = entry_point.dist.version if entry_point.dist else ""
        assert self._manager is not None
        name = entry_point.name
        if self._manager.has_plugin(name):  # another package uses the same name
            name = f"{name} ({package})"
        try:
            self._add(entry_point.load(), name, Origin(package, version))
        except (Exception, SystemExit) as error:
            self.warn(name, package, error)
            return
        self._installed.add(name)
        try:
            self._check_hooks(name)
        except PluginError as error:  # a misspelt or newer hook; the others are used
            self.warn(name, package, error, what=PLUGIN_PART)

    def _add(self, plugin: object, name: str, origin: Origin) -> None:
        assert self._manager is not None
        self._origins[name] = origin
        try:
            self._manager.register(plugin, name=name)
        except BaseException:
            if self._manager.get_plugin(name) is plugin:  # its hooks before the bad one are in
                self._manager.unregister(plugin)
            raise
        self.generation += 1

    def _check_hooks(self, name: str) -> None:
        """Refuse an implementation of an unknown hook, which would silently do nothing."""
        assert self._manager is not None
        known = [hook for hook in vars(hookspecs) if hook.startswith(("register_", "to_"))]
        plugin = self._manager.get_plugin(name)
        for attribute in dir(plugin):
            options = self._manager.parse_hookimpl_opts(plugin, attribute)
            hook = options and (options.get("specname") or attribute)
            if hook and hook not in known:
                raise PluginError(
                    f"The plugin {name!r} ({self.origin(name)}) implements {hook!r}, which is "
                    f"no hook.{did_you_mean(hook, known)} Hooks: {', '.join(known)}."
                )


def _own_origin() -> Origin:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return Origin("geomm-plugin", version("geomm-plugin"))
    except PackageNotFoundError:  # a source checkout on sys.path
        return Origin("geomm-plugin", "(not installed)")


@dataclass(frozen=True)
class Entry(Generic[T]):
    """One registered thing and where it comes from."""

    item: T
    origin: Origin
    built_in: bool = False


class Catalog(Mapping[str, T]):
    """The things that one hook contributes, by name, in the order of registration.

    Parameters
    ----------
    base
        What they all inherit from, as "module:class"; imported when the first one is looked up.
    classes
        True if items are classes, to be made with parameters; False if they are used directly.
    """

    def __init__(self, kind: str, hook: str, base: str, plugins: Plugins, classes: bool = True):
        self.kind = kind
        self.hook = hook
        self.base = base
        self.plugins = plugins
        self.classes = classes
        plugins.catalogs.append(self)
        self._generation = -1
        self._entries: dict[str, Entry[T]] = {}

    def __getitem__(self, name: str) -> T:
        return self._entry(name).item

    def __iter__(self) -> Iterator[str]:
        return iter(self._collect())

    def __len__(self) -> int:
        return len(self._collect())

    def __contains__(self, name: object) -> bool:
        return name in self._collect()

    def get(self, name: str, default: Any = None) -> Any:
        """Return what is registered under the name, or the default."""
        return self[name] if name in self else default

    def origin(self, name: str) -> Origin:
        """Say which package and version something comes from."""
        return self._entry(name).origin

    def is_built_in(self, name: str) -> bool:
        """Tell whether something comes with this package."""
        return self._entry(name).built_in

    def make(self, choice: object, settings: Iterable[str] = ()) -> Any:
        """Return an object of this kind itself, or make one from NAME:PARAMETER=VALUE,...

        Parameters
        ----------
        settings
            Further texts PARAMETER=VALUE; those of the choice itself win.
        """
        if not isinstance(choice, str):
            if not isinstance(choice, self._base()):
                raise ParameterError(
                    f"A {self.kind} is chosen by its name, such as {next(iter(self))!r}, or given "
                    f"as an object; this is {choice!r}."
                )
            return choice
        name, own = split_choice(choice)
        texts = split_specs(settings, "PARAMETER=VALUE, e.g. regularization=100")
        item: Any = self[name]
        return item(**parse_settings(item, texts | own))

    def __repr__(self) -> str:
        return f"<{self.kind}s: {', '.join(self)}>"

    def _base(self) -> type:
        module, _, base = self.base.partition(":")
        kind: type = getattr(import_module(module), base)
        return kind

    def _entry(self, name: str) -> Entry[T]:
        entries = self._collect()
        if name not in entries:
            raise UnknownNameError(
                f"There is no {self.kind} {name!r}.{did_you_mean(str(name), entries)} "
                f"Registered: {', '.join(entries)}."
            )
        return entries[name]

    def _collect(self) -> dict[str, Entry[T]]:
        plugins = self.plugins
        implementations = plugins.implementations(self.hook)  # loads what is not loaded yet
        if self._generation != plugins.generation:
            entries: dict[str, Entry[T]] = {}
            for implementation in implementations:
                name = implementation.plugin_name
                origin = plugins.origin(name)
                try:
                    items = list(cast(Iterable[Any], implementation.function()))
                except (Exception, SystemExit) as error:
                    plugins.warn(name, origin.package, error)
                    continue
                for item in items:
                    try:
                        self._add(entries, Entry(item, origin, plugins.is_built_in(name)))
                    except Exception as error:  # third-party item: anything may be raised
                        if not plugins.is_installed(name):
                            raise
                        plugins.warn(name, origin.package, error, what=PLUGIN_PART)
            self._entries = entries
            self._generation = plugins.generation
        return self._entries

    def _add(self, entries: dict[str, Entry[T]], entry: Entry[T]) -> None:
        name = getattr(entry.item, "name", None)
        if not isinstance(name, str) or not name:
            raise PluginError(
                f"{entry.origin} registers the {self.kind} {entry.item!r}, which has no name; "
                "give it a text attribute `name`."
            )
        if isinstance(entry.item, type) != self.classes:
            kinds = ("an instance of", "the class itself"), ("the class", "an instance of it")
            given, wanted = kinds[0 if self.classes else 1]
            raise PluginError(
                f"{entry.origin} registers {given} {_label(entry.item)} as the {self.kind} "
                f"{name!r}; register {wanted}."
            )
        kind = entry.item if isinstance(entry.item, type) else type(entry.item)
        if not issubclass(kind, self._base()):
            raise PluginError(
                f"{entry.origin} registers {_label(entry.item)} as the {self.kind} {name!r}; it "
                f"must inherit from {self.base.replace(':', '.')}."
            )
        if name in entries:
            first = entries[name]
            raise PluginError(
                f"Two {self.kind}s are called {name!r}: {_label(first.item)} ({first.origin}) and "
                f"{_label(entry.item)} ({entry.origin}). Rename one, or uninstall its package."
            )
        entries[name] = entry


def _label(item: object) -> str:
    kind = item if isinstance(item, type) else type(item)
    return f"{kind.__module__}.{kind.__qualname__}"


plugins = Plugins()
mappers: Catalog[type[Mapper]] = Catalog(
    "mapper", "register_mappers", "geomm_plugin.mapper:Mapper", plugins
)
formats: Catalog[type[Format]] = Catalog(
    "format", "register_formats", "geomm_plugin.formats:Format", plugins
)
retrievals: Catalog[type[Retrieval]] = Catalog(
    "retrieval", "register_retrievals", "geomm_plugin.retrieval:Retrieval", plugins
)
features: Catalog[type[Feature]] = Catalog(
    "feature", "register_features", "geomm_plugin.retrieval:Feature", plugins
)
metrics: Catalog[Metric] = Catalog(
    "metric", "register_metrics", "geomm_plugin.evaluation.metrics:Metric", plugins, classes=False
)
tasks: Catalog[type[Task]] = Catalog(
    "task", "register_tasks", "geomm_plugin.evaluation.task:Task", plugins
)


def get_mapper(name: str, **params: Any) -> Mapper:
    """Make the mapper registered under a name, e.g. get_mapper("geomm", regularization=100)."""
    mapper_class = mappers[name]
    known = parameters_of(mapper_class)
    for param in params:
        check_known(name, param, known)
    return mapper_class(**params)


def as_mapper(choice: str | Mapper, settings: Iterable[str] = ()) -> Mapper:
    """Return a mapper itself, or make one from a text: "geomm", "geomm:regularization=100".

    Parameters
    ----------
    settings
        Further texts PARAMETER=VALUE for a mapper that is made; those of the choice itself win.
    """
    mapper: Mapper = mappers.make(choice, settings)
    return mapper


def as_retrieval(choice: str | Retrieval, engine: str | None = None) -> Retrieval:
    """Return a retrieval itself, or make one from a text: "csls", "csls:k=5".

    Parameters
    ----------
    engine
        "exact" or "hnsw", for retrievals that have both; by default the retrieval's own.
    """
    retrieval: Retrieval = retrievals.make(choice)
    if engine is None:
        return retrieval
    params = {name: getattr(retrieval, name) for name in parameters_of(type(retrieval))}
    if "engine" not in params:
        raise ParameterError(f"{retrieval.name} has one engine only; leave {engine!r} out.")
    return type(retrieval)(**params | {"engine": engine})
