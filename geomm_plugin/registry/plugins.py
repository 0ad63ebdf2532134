"""Plugins: built-in ones and those of other packages, loaded on first use.

All come through the same hooks. Nothing is loaded before the first look-up: so a plugin whose
import is not finished is never registered with half of its hooks.

An installed plugin may be broken: an unknown hook, a name that is taken, an item of another kind,
an exception or sys.exit. Then only its broken part is left out, one warning names it, and every
command still works. In a plugin that the caller registers by hand, the same is an error.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

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
