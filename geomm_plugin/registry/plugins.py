"""Plugins: built-in ones and those of other packages, loaded on first use.

All come through the same hooks. Nothing is loaded before the first look-up: so a plugin whose
import is not finished is never registered with half of its hooks.

An installed plugin may be broken: an unknown hook, a name that is taken, an item of another kind,
an exception or sys.exit. Then only its broken part is left out, one warning names it, and every
command still works. In a plugin that the caller registers by hand, the same is an error.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pluggy

from geomm_plugin.errors import GeommError, PluginError, did_you_mean
from geomm_plugin.registry import hookspecs

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from geomm_plugin.registry.catalog import Catalog

BUILT_IN = (
    "geomm_plugin.mappers",
    "geomm_plugin.fitting.seeds",
    "geomm_plugin.retrieval",
    "geomm_plugin.evaluation",
    "geomm_adapters",
)
PART = "a part of the plugin"  # in warnings
T = TypeVar("T")


@dataclass(frozen=True)
class Origin:
    """A plugin, and the distribution that it came with."""

    plugin: str
    package: str
    version: str = ""
    is_built_in: bool = False
    is_installed: bool = False  # by somebody else: it was loaded from an entry point

    def __str__(self) -> str:
        return f"{self.package} {self.version}".strip()


@dataclass(frozen=True)
class Entry(Generic[T]):
    """One registered thing, and where it comes from."""

    kind: str
    name: str
    load: Callable[[], T]
    origin: Origin

    @cached_property
    def item(self) -> T:
        """The thing itself; a module of this package may be imported only now."""
        return self.load()


class Plugins:
    """A pluggy manager that loads built-ins and entry points on first use."""

    def __init__(self) -> None:
        self.generation = 0  # counts registrations, so that catalogs know when to collect again
        self.catalogs: list[Catalog[Any]] = []  # each adds itself
        self.origins: dict[str, Origin] = {}  # by the name of the plugin, in order of registration
        self.problems: dict[str, str] = {}  # the warnings that were given, each with its package
        self._manager: pluggy.PluginManager | None = None

    @property
    def manager(self) -> pluggy.PluginManager:
        """The manager, with everything loaded."""
        if self._manager is None:
            from importlib.metadata import entry_points  # slow to import: not before it is needed

            manager = pluggy.PluginManager(hookspecs.PROJECT)
            manager.add_hookspecs(hookspecs)
            found = entry_points(group=hookspecs.PROJECT)
            self._manager = manager  # set first: a plugin may look up a name while it loads
            try:
                own = _own_version()
                for module in BUILT_IN:
                    origin = Origin(module, "geomm-plugin", own, is_built_in=True)
                    self._add(import_module(module), origin)
                    self._check_hooks(origin)
                for entry_point in sorted(found, key=lambda each: each.name):
                    self._load(entry_point)
            except BaseException:
                self._manager = None
                raise
        return self._manager

    def register(self, plugin: object, name: str | None = None) -> None:
        """Add a plugin (a module or any object with hook implementations) by hand."""
        origin = Origin(name or self.manager.get_canonical_name(plugin), "registered by hand")
        self._add(plugin, origin)
        try:
            self._check_hooks(origin)
            for catalog in self.catalogs:
                len(catalog)  # collects it, which refuses names that are taken
        except BaseException:
            self.unregister(plugin)
            raise

    def unregister(self, plugin: object) -> None:
        """Take back what register() added."""
        self.manager.unregister(plugin)
        self.generation += 1

    def registered(self) -> list[Entry[Any]]:
        """List all that is registered, kind by kind."""
        entries = [catalog.entry(name) for catalog in self.catalogs for name in catalog]
        return entries + [
            Entry("conversion", "to_embeddings", lambda: None, origin)
            for origin, _ in self.implementations("to_embeddings")
        ]

    def convert(self, source: object, kind: type[T]) -> T | None:
        """Ask the plugins for embeddings of another library's object, the newest plugin first."""
        for origin, implementation in reversed(self.implementations("to_embeddings")):
            with self.guarded(origin, but=GeommError):
                converted = implementation.function(*(source for _ in implementation.argnames))
                if isinstance(converted, kind):
                    return converted
                if converted is not None:
                    kinds = f"{type(converted).__name__}, not {kind.__name__}"
                    raise TypeError(f"to_embeddings returned {kinds}")
        return None

    def implementations(self, hook: str) -> list[tuple[Origin, pluggy.HookImpl]]:
        """Return the implementations of a hook in the order of registration, built-in ones first.

        pluggy's own order would let plugins come first or last (tryfirst, trylast).
        """
        unsorted = getattr(self.manager.hook, hook).get_hookimpls()
        return [
            (origin, implementation)
            for name, origin in self.origins.items()
            for implementation in unsorted
            if implementation.plugin_name == name
        ]

    @contextmanager
    def guarded(
        self, origin: Origin, what: str = "the plugin", but: type[Exception] | tuple[()] = ()
    ) -> Iterator[None]:
        """Turn what a plugin raises into a warning, but for some errors."""
        try:
            yield
        except but:
            raise
        except (Exception, SystemExit) as error:
            self.warn(origin.plugin, origin.package, error, what)

    def warn(self, name: str, package: str, problem: object, what: str = "the plugin") -> None:
        """Warn once that a plugin, or a part of it, was left out; name its package and a fix."""
        if isinstance(problem, SystemExit):
            problem = f"it ended with status {problem}"
        reason = str(problem).removesuffix(".")
        message = f"Skipped {what} {name!r} ({package}): {reason}. Update or uninstall its package."
        if message not in self.problems:
            self.problems[message] = package
            warnings.warn(message, stacklevel=2)

    def _load(self, entry_point: EntryPoint) -> None:
        """Register one entry point; if it is broken, warn and skip it."""
        package = entry_point.dist.name if entry_point.dist else entry_point.value
        version = entry_point.dist.version if entry_point.dist else ""
        name = entry_point.name
        if self.manager.has_plugin(name):  # another package uses the same name
            name = f"{name} ({package})"
        origin = Origin(name, package, version, is_installed=True)
        with self.guarded(origin):
            self._add(entry_point.load(), origin)
            with self.guarded(origin, PART):  # a misspelt or newer hook; the others are used
                self._check_hooks(origin)

    def _add(self, plugin: object, origin: Origin) -> None:
        name = origin.plugin
        self.origins[name] = origin
        try:
            self.manager.register(plugin, name=name)
        except BaseException:
            if self.manager.get_plugin(name) is plugin:  # its hooks before the bad one are in
                self.manager.unregister(plugin)
            raise
        self.generation += 1

    def _check_hooks(self, origin: Origin) -> None:
        """Refuse an implementation of an unknown hook, which would silently do nothing."""
        known = [hook for hook in vars(hookspecs) if hook.startswith(("register_", "to_"))]
        for caller in self.manager.get_hookcallers(self.manager.get_plugin(origin.plugin)) or ():
            if not caller.has_spec():
                raise PluginError(
                    f"The plugin {origin.plugin!r} ({origin}) implements {caller.name!r}, which is "
                    f"no hook.{did_you_mean(caller.name, known)} Hooks: {', '.join(known)}."
                )


def plain_name(package: str) -> str:
    """Return the name of a package as installers compare it: Your_Package is your-package."""
    return re.sub("[-_.]+", "-", package).lower()


def _own_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("geomm-plugin")
    except PackageNotFoundError:  # a source checkout on sys.path
        return "(not installed)"
