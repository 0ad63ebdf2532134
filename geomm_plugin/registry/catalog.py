"""What one hook contributes, by name: collected from the plugins, and made with parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, TypeVar, cast

from geomm_plugin.errors import ParameterError, PluginError, UnknownNameError, did_you_mean
from geomm_plugin.registry.parameters import parse_settings, split_choice, split_specs
from geomm_plugin.registry.plugins import PLUGIN_PART, Origin, Plugins

T = TypeVar("T")
SHOWN = 5  # mappers that an error lists


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
            shown = ", ".join(entries)
            if self.kind == "mapper" and len(entries) > SHOWN:
                shown = ", ".join(list(entries)[:SHOWN])
                shown += f", and {len(entries) - SHOWN} more that `geomm mappers` lists"
            raise UnknownNameError(
                f"There is no {self.kind} {name!r}.{did_you_mean(str(name), entries)} "
                f"Registered: {shown}."
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
        if missing := sorted(getattr(kind, "__abstractmethods__", ())):
            raise PluginError(
                f"{entry.origin} registers {_label(entry.item)} as the {self.kind} {name!r}; it "
                f"does not define {', '.join(missing)}."
            )
        suffixes = getattr(kind, "suffixes", ())
        if not isinstance(suffixes, tuple) or not all(type(s) is str for s in suffixes):
            raise PluginError(
                f"{entry.origin} registers {_label(entry.item)} as the {self.kind} {name!r}; its "
                f"suffixes are {suffixes!r}, not a tuple of texts such as ('.vec',)."
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
