"""The forms of what is typed, LANG=FILE or the name of a mapper, and how shells complete them.

Values stay texts; the commands read them. The form tells `--config` which of them hold a path, and
a shell what may come next.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

_LANGUAGE = re.compile(r"[a-z]{2,3}")
_NO_LANGUAGES = {"cc", "vec", "bin", "txt", "npy", "npz", "glove"}  # parts of names of files


class Text(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions only
    """A text in some form, which completes to what `candidates` lists of a line and its end."""

    def __init__(
        self, name: str, candidates: Callable[[click.Context, str], Iterable[str]] | None = None
    ):
        self.name = name
        self.candidates = candidates or (lambda ctx, incomplete: ())

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text itself."""
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Offer the candidates that begin with what is typed."""
        texts = sorted(set(self.candidates(ctx, incomplete)))
        return [CompletionItem(text) for text in texts if text.startswith(incomplete)]


class Named(Text):
    """NAME=VALUE; where the value is the path of a file, `has_path` is true."""

    @property
    def has_path(self) -> bool:
        """Whether the value is the path of a file."""
        return self.name.endswith("=FILE")


class Written(click.Path):
    """A path that a command writes to."""

    def __init__(self, is_folder: bool = False) -> None:
        super().__init__(path_type=Path, dir_okay=is_folder)


class Output(Written):
    """A file that a command writes: every other path of the command is an input."""


def _registered(catalog: str, *others: str) -> Callable[[click.Context, str], Iterable[str]]:
    def names(ctx: click.Context, incomplete: str) -> Iterable[str]:
        from geomm_plugin import registry

        return [*others, *getattr(registry, catalog)]

    return names


def _suffixes(ctx: click.Context, incomplete: str) -> list[str]:
    from geomm_plugin import registry

    return [suffix for kind in registry.formats.values() for suffix in kind.suffixes]


def _pairs(ctx: click.Context, incomplete: str = "") -> list[str]:
    """Return the pairs of languages among the LANG=FILE that are typed already."""
    given = [text for value in ctx.params.values() if isinstance(value, tuple) for text in value]
    line = " ".join(map(str, [*given, *ctx.args]))  # bash breaks en=FILE into en, = and FILE
    names = sorted(set(re.findall(r"(?:^| )([^ =-]+) ?=", line)))
    return [f"{source}-{target}" for source, target in itertools.permutations(names, 2)]


def _language_files(ctx: click.Context, incomplete: str) -> list[str]:
    """Complete the path behind `=`; before it, files here that are named after a language."""
    files = _paths(incomplete)
    if "=" in incomplete:
        return files
    suffixes = tuple(_suffixes(ctx, ""))  # `wiki.en.vec` is offered as en=wiki.en.vec
    for path in Path().iterdir():
        parts = [part for part in path.name.split(".") if _LANGUAGE.fullmatch(part)]
        language = next((part for part in parts if part not in _NO_LANGUAGES), None)
        if language and path.name.endswith(suffixes):
            files.append(f"{language}={path}")
    return files


def _pair_files(ctx: click.Context, incomplete: str) -> list[str]:
    """Complete the path behind `=`, or pairs; bash breaks words at `=`: they may be paths, too."""
    pairs = [] if "=" in incomplete else [f"{pair}=" for pair in _pairs(ctx)]
    return [*pairs, *_paths(incomplete)]


def _paths(incomplete: str) -> list[str]:
    """Complete the path behind the last `=` of a text; folders end in a slash."""
    name, equals, start = incomplete.rpartition("=")
    folder, slash, _ = start.rpartition("/")
    try:
        entries = list(Path(folder or slash or ".").iterdir())
    except OSError:
        return []
    prefix = name + equals + folder + slash
    return [f"{prefix}{entry.name}{'/' if entry.is_dir() else ''}" for entry in entries]


_CHOICE = "NAME[:PARAMETER=VALUE,...]"
OUTPUT = Output()
LANG_FILE = Named("LANG=FILE", _language_files)
PAIR_FILE = Named("LANG-LANG=FILE", _pair_files)
SETTING = Named("NAME=VALUE")
PAIR = Text("LANG-LANG", _pairs)
MAPPER = Text(_CHOICE, _registered("mappers"))
MAPPERS = Text(_CHOICE, _registered("mappers", "all"))
RETRIEVAL = Text(_CHOICE, _registered("retrievals"))
METRIC = Text("NAME", _registered("metrics"))
TASK = Text("NAME", _registered("tasks"))
SUFFIX = Text("SUFFIX", _suffixes)
