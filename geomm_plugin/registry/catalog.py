"""What one hook contributes, by name: collected from the plugins, and made with parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from importlib import import_module
from typing import Any, TypeVar, cast

from geomm_plugin.errors import ParameterError, PluginError, UnknownNameError, did_you_mean
from geomm_plugin.registry.parameters import parse_settings, split_choice, split_specs
from geomm_plugin.registry.plugins import PART, Entry, Origin, Plugins

T = TypeVar("T")
SHOWN = 5  # mappers that an error lists


class Catalog(Mapping[str, T]):
    """The things of one kind, which one hook contributes, by name, in the order of registration.

    Hooks of this package may return functions by name, which load each thing when it is asked for.

    Parameters
    ----------
    base
        What they all inherit from, as "module:class"; imported when the first one is looked up.
    classes
        True if items are classes, to be made with parameters; False if they are used directly.
    """

    def __init__(self, kind: str, base: str, plugins: Plugins, classes: bool = True):
        self.kind = kind
        self.base = base
        self.plugins = plugins
        self.classes = classes
        plugins.catalogs.append(self)
        self._generation = -1
        self._entries: dict[str, Entry[T]] = {}

    def __getitem__(self, name: str) -> T:
        return self.entry(name).item

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
        return self.entry(name).origin

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

    def entry(self, name: str) -> Entry[T]:
        """Return what is registered under a name, with its origin."""
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
        implementations = plugins.implementations(f"register_{self.kind}s")  # loads plugins first
        if self._generation != plugins.generation:
            entries: dict[str, Entry[T]] = {}
            for origin, implementation in implementations:
                items: list[Any] = []
                with plugins.guarded(origin):
                    found = implementation.function()
                    if origin.is_built_in and isinstance(found, Mapping):
                        for name, load in found.items():
                            entries[name] = Entry(self.kind, name, load, origin)
                        continue
                    items = list(cast(Iterable[Any], found))
                for item in items:
                    with plugins.guarded(origin, PART) if origin.is_installed else nullcontext():
                        self._add(entries, item, origin)
            self._entries = entries
            self._generation = plugins.generation
        return self._entries

    def _add(self, entries: dict[str, Entry[T]], item: Any, origin: Origin) -> None:
        name, who = getattr(item, "name", None), f"{origin} registers"
        if not isinstance(name, str) or not name:
            raise PluginError(
                f"{who} the {self.kind} {item!r}, which has no name; give it a text "
                "attribute `name`."
            )
        if problem := self._problem(item):
            kind = "the class" if isinstance(item, type) else "an instance of"
            raise PluginError(
                f"{who} {kind} {_label(item)} as the {self.kind} {name!r}; {problem}."
            )
        if name in entries:
            first = entries[name]
            raise PluginError(
                f"Two {self.kind}s are called {name!r}: {_label(first.item)} ({first.origin}) and "
                f"{_label(item)} ({origin}). Rename one, or uninstall its package."
            )
        entries[name] = Entry(self.kind, name, lambda: item, origin)

    def _problem(self, item: object) -> str:
        """Say why an item is not of this kind; nothing if it is."""
        kind = item if isinstance(item, type) else type(item)
        if isinstance(item, type) != self.classes:
            return f"register {'the class itself' if self.classes else 'an instance of it'}"
        if not issubclass(kind, self._base()):
            return f"it must inherit from {self.base.replace(':', '.')}"
        if missing := sorted(getattr(kind, "__abstractmethods__", ())):
            return f"it does not define {', '.join(missing)}"
        suffixes = getattr(kind, "suffixes", ())
        if not isinstance(suffixes, tuple) or not all(type(s) is str for s in suffixes):
            return f"its suffixes are {suffixes!r}, not a tuple of texts such as ('.vec',)"
        return ""


def _label(item: object) -> str:
    kind = item if isinstance(item, type) else type(item)
    return f"{kind.__module__}.{kind.__qualname__}"
