"""The forms of what is typed, LANG=FILE or the name of a mapper, and how shells complete them.

Values stay texts; the commands read them. The form tells which of them hold a path, and a shell
what may come next.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from geomm_plugin import registry
from geomm_plugin.errors import FileError, LanguagesError, ParameterError
from geomm_plugin.formats import find_format
from geomm_plugin.registry.parameters import split_specs

FILES = "LANG=FILE, e.g. en=wiki.en.vec"
DICTIONARIES = "LANG-LANG=FILE, e.g. en-es=en-es.0-5000.txt"
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_NO_LANGUAGES = {"cc", "vec", "bin", "txt", "npy", "npz", "glove"}  # parts of names of files


class Text(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions only
    """A text in some form, which completes to what `candidates` lists of a line and its end."""

    def __init__(self, name: str, candidates: Callable[[click.Context, str], Iterable[str]]):
        self.name = name
        self.candidates = candidates
        self.has_path = name.endswith("=FILE")

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Offer the candidates that begin with what is typed."""
        texts = sorted(set(self.candidates(ctx, incomplete)))
        return [CompletionItem(text) for text in texts if text.startswith(incomplete)]


class Named(Text):
    """NAME=VALUE; where the value is the path of a file, `has_path` is true."""


class Output(click.Path):
    """What a command writes; every other path of the command is an input."""


def language_files(specs: Sequence[str]) -> dict[str, Path]:
    """Return where each language is read: LANG=FILE, or one path that stands for all of them."""
    if is_space(specs):
        from geomm_plugin.alignment.space import space_files

        return space_files(Path(specs[0]))
    for spec in specs:
        refuse_no_files(spec)
    return {name: Path(path) for name, path in split_specs(specs, FILES).items()}


def is_space(arguments: Sequence[str]) -> bool:
    """True if one path stands for all languages: an aligned folder, a file of several."""
    from geomm_plugin.alignment.record import NAME

    if len(arguments) != 1 or "=" in arguments[0]:
        return False
    path = Path(arguments[0])
    return (path / NAME).is_file() or (path.is_file() and bool(find_format(path).languages(path)))


def refuse_no_files(argument: str) -> None:
    """Refuse a saved mapper among the files, and a folder that is not there."""
    if "=" in argument:
        return
    if (Path(argument) / "mapper.json").is_file():
        raise ParameterError(f"{argument} is a saved mapper; give it as --model {argument}.")
    if not Path(argument).exists():
        raise FileError(
            f"There is no folder {argument}. Give one that `geomm align` wrote, or each file with "
            "its language, e.g. en=wiki.en.vec."
        )


def language_pair(name: str, languages: Iterable[str]) -> tuple[str, str]:
    """Read "en-es"; a language's own name may hold a hyphen."""
    languages = list(languages)
    if len(languages) < 2:
        raise LanguagesError(
            f"The pair {name!r} needs the embeddings of both languages, each as LANG=FILE; there "
            f"is only {', '.join(languages)}."
        )
    for position, character in enumerate(name):
        pair = name[:position], name[position + 1 :]
        if character == "-" and all(language in languages for language in pair):
            return pair
    raise LanguagesError(
        f"{name!r} is no pair of the languages given ({', '.join(languages)}); write e.g. "
        f"{'-'.join(languages[:2])}."
    )


def _registered(catalog: str, *others: str) -> Callable[[click.Context, str], Iterable[str]]:
    return lambda ctx, incomplete: [*others, *getattr(registry, catalog)]


def _suffixes(ctx: click.Context, incomplete: str) -> list[str]:
    return [suffix for kind in registry.formats.values() for suffix in kind.suffixes]


def _pairs(ctx: click.Context, incomplete: str) -> list[str]:
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
    pairs = [] if "=" in incomplete else [f"{pair}=" for pair in _pairs(ctx, "")]
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
COUNT = click.IntRange(min=1)
SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)
FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)
PATH = click.Path(path_type=Path)
OUTPUT = Output(path_type=Path, dir_okay=False)
OUTPUT_FOLDER = Output(path_type=Path)
LANG_FILE = Named("LANG=FILE", _language_files)
PAIR_FILE = Named("LANG-LANG=FILE", _pair_files)
SETTING = Named("NAME=VALUE", lambda ctx, incomplete: ())
PAIR = Text("LANG-LANG", _pairs)
MAPPER = Text(_CHOICE, _registered("mappers"))
MAPPERS = Text(_CHOICE, _registered("mappers", "all"))
RETRIEVAL = Text(_CHOICE, _registered("retrievals"))
METRIC = Text("NAME", _registered("metrics"))
TASK = Text("NAME", _registered("tasks"))
SUFFIX = Text("SUFFIX", _suffixes)
