"""The forms of what is typed, LANG=FILE or the name of a mapper, and how shells complete them.

Values stay texts; the commands read them. The form tells `--config` which of them hold a path, and
a shell what may come next.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

_LANGUAGE = re.compile(r"[a-z]{2,3}")
_NO_LANGUAGES = {"cc", "vec", "bin", "txt", "npy", "npz", "glove"}  # parts of names of files


class Text(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions only
    """A text in some form, which completes to what candidates() lists."""

    def __init__(self, name: str):
        self.name = name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text itself."""
        return str(value)

    def candidates(self, ctx: click.Context, incomplete: str) -> Iterable[str]:
        """List texts that may be meant; those that begin otherwise are left out later."""
        return ()

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Offer the candidates that begin with what is typed."""
        texts = sorted(set(self.candidates(ctx, incomplete)))
        return [CompletionItem(text) for text in texts if text.startswith(incomplete)]


class Named(Text):
    """NAME=VALUE; where the value is a file, `has_path` is true."""

    @property
    def has_path(self) -> bool:
        """Whether the value is the path of a file."""
        return self.name.endswith("=FILE")

    def candidates(self, ctx: click.Context, incomplete: str) -> Iterable[str]:
        """Complete the path behind `=`; before it, offer the vectors in this folder."""
        if not self.has_path:
            return []
        name, equals, start = incomplete.rpartition("=")
        prefix = f"{name}=" if equals else ""
        files = [f"{prefix}{path}" for path in _paths(start)]
        if equals:
            return files
        if self.name == "LANG-LANG=FILE":  # bash breaks words at `=`: this may be a path
            return [*(f"{pair}=" for pair in _pairs(ctx)), *files]
        return [*_languages_here(), *files]


class LanguagePair(Text):
    """LANG-LANG, of the languages that are typed already."""

    def candidates(self, ctx: click.Context, incomplete: str) -> Iterable[str]:
        """Offer every pair of them."""
        return _pairs(ctx)


class Registered(Text):
    """The name of something registered, with or without :PARAMETER=VALUE,... behind it."""

    def __init__(self, name: str, catalog: str, *others: str):
        super().__init__(name)
        self.catalog = catalog  # the name of a catalog in the registry
        self.others = others

    def candidates(self, ctx: click.Context, incomplete: str) -> Iterable[str]:
        """Offer the names of the catalog."""
        from geomm_plugin import registry

        return [*self.others, *getattr(registry, self.catalog)]


class Suffix(Text):
    """What a file of embeddings ends in."""

    def candidates(self, ctx: click.Context, incomplete: str) -> Iterable[str]:
        """Offer the suffixes of all formats."""
        from geomm_plugin import registry

        return [suffix for kind in registry.formats.values() for suffix in kind.suffixes]


class Output(click.Path):
    """The path of a file that a command writes: every other path of the command is an input."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, dir_okay=False)


OUTPUT = Output()
LANG_FILE = Named("LANG=FILE")
PAIR_FILE = Named("LANG-LANG=FILE")
SETTING = Named("NAME=VALUE")
PAIR = LanguagePair("LANG-LANG")
MAPPER = Registered("NAME[:PARAMETER=VALUE,...]", "mappers")
MAPPERS = Registered("NAME[:PARAMETER=VALUE,...]", "mappers", "all")
RETRIEVAL = Registered("NAME[:PARAMETER=VALUE,...]", "retrievals")
METRIC = Registered("NAME", "metrics")
TASK = Registered("NAME", "tasks", "bli", "similarity", "analogy")
SUFFIX = Suffix("SUFFIX")


def _pairs(ctx: click.Context) -> list[str]:
    """Return the pairs of languages among the LANG=FILE that are typed already."""
    given = [text for value in ctx.params.values() if isinstance(value, tuple) for text in value]
    line = " ".join(map(str, [*given, *ctx.args]))  # bash breaks en=FILE into en, = and FILE
    names = sorted(set(re.findall(r"(?:^| )([^ =-]+) ?=", line)))
    return [f"{source}-{target}" for source, target in itertools.permutations(names, 2)]


def _languages_here() -> list[str]:
    """Return LANG=FILE for files in this folder that are named after a language: wiki.en.vec."""
    from geomm_plugin import registry

    suffixes = tuple(suffix for kind in registry.formats.values() for suffix in kind.suffixes)
    named = []
    for path in Path().iterdir():
        parts = [part for part in path.name.split(".") if _LANGUAGE.fullmatch(part)]
        language = next((part for part in parts if part not in _NO_LANGUAGES), None)
        if language and path.name.endswith(suffixes):
            named.append(f"{language}={path}")
    return named


def _paths(start: str) -> list[str]:
    """Return the files and folders whose path begins with a text; folders end in a slash."""
    folder, slash, _ = start.rpartition("/")
    try:
        entries = list(Path(folder or slash or ".").iterdir())
    except OSError:
        return []
    prefix = folder + slash
    return [f"{prefix}{entry.name}{'/' if entry.is_dir() else ''}" for entry in entries]
