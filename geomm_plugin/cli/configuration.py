"""Options from a file: `--config align.toml`; `--print-config` writes such a file.

A key is the long name of an option. What may be repeated is a list, what is NAME=VALUE is a table:

    output = "aligned"
    mapper = "geomm"
    max-words = 200000
    [vectors]
    en = "wiki.en.vec"
    es = "wiki.es.vec"
    [dictionary]
    en-es = "en-es.0-5000.txt"

`languages = ["en", "es"]` with `vectors = "wiki.{lang}.vec"` names one file for each language, and
`pairs = ["en-es"]` with `dictionary = "{pair}.0-5000.txt"` one for each pair of languages. Relative
paths are relative to the folder of the file. align.json, the record of an alignment, is read in the
same way. The command line wins, then the environment, then the file: its values become the defaults
of click's context (default_map).
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from geomm_plugin.cli.forms import PAIR_FILE, Named
from geomm_plugin.cli.terminal import show_data
from geomm_plugin.cli.toml import toml_line, toml_table
from geomm_plugin.errors import FileError, ParameterError, did_you_mean
from geomm_plugin.files.strict_json import parse_json

KEYS = {"embeddings": "vectors"}  # of arguments; others have their own name
_PRINT = "geomm_plugin.print_config"  # in click's Context.meta
CONFIGURATION = "geomm_plugin.configuration"  # there, too: the file
_LARGEST = 2**24  # bytes
_NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d+)?")
_HEADER = (
    "# Options of `{command}`: {command} --config FILE. Lines with # are defaults.\n"
    "# Paths are relative to the folder of this file: keep it where the command was typed.\n"
)


class Configurable(click.Command):
    """A command with --config and --print-config."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.params += [
            click.Option(
                ["--config"],
                type=click.Path(path_type=Path, dir_okay=False),
                is_eager=True,
                expose_value=False,
                callback=_use,
                help="Take options from this TOML file; those on the command line win.",
            ),
            click.Option(
                ["--print-config"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_remember,
                help="Do nothing but print the options as a file for --config.",
            ),
        ]

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, or print its configuration."""
        if ctx.meta.get(_PRINT):
            return show_data(configuration_text(ctx))
        return super().invoke(ctx)


def _use(ctx: click.Context, param: click.Parameter, value: Path | None) -> None:
    if value is not None and not ctx.resilient_parsing:
        ctx.default_map = read_configuration(value, ctx)
        ctx.meta[CONFIGURATION] = value


def _remember(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    ctx.meta[_PRINT] = value


def keys_of(parameter: click.Parameter) -> list[str]:
    """Return the names of a parameter in a file, the usual one first."""
    name = parameter.name or ""
    if isinstance(parameter, click.Argument):
        return [KEYS.get(name, name)]
    long = [option[2:] for option in parameter.opts if option.startswith("--")]
    return long or [option.lstrip("-") for option in parameter.opts]


def read_configuration(path: Path, ctx: click.Context) -> dict[str, Any]:
    """Read the values of a command's parameters, by the parameters' names."""
    known = {key: param for param in _parameters(ctx) for key in keys_of(param)}
    content = _read(path)
    groups = {name: _names(path, content, name, known) for name in ("languages", "pairs")}
    groups["languages"] = groups["languages"] or list(_table(content.get("vectors")))
    values: dict[str, Any] = {}
    for key, value in content.items():
        parameter = known.get(key.replace("_", "-"))
        if parameter is None or parameter.name is None:
            raise ParameterError(
                f"{path}: `{ctx.command_path}` has no option '{key}'.{did_you_mean(key, known)} It "
                f"has: {', '.join(known)}."
            )
        if parameter.name in values:
            raise ParameterError(f"{path}: '{key}' is given twice, by two names. Keep one.")
        reading = _Reading(path, key, parameter, groups)
        values[parameter.name] = reading.value(value, ctx)
    return values


def _parameters(ctx: click.Context) -> list[click.Parameter]:
    return [param for param in ctx.command.params if param.expose_value]


def _read(path: Path) -> dict[str, Any]:
    """Read TOML, or the options in the record of an alignment, align.json."""
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise FileError(f"Cannot read the configuration {path}: {error.strerror}.") from error
    if len(content) > _LARGEST:
        raise FileError(f"{path} is too large for a configuration.")
    if path.suffix == ".json":
        return _recorded(path, content)
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except RecursionError:
        problem = "its arrays are nested too deeply"
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problem = str(error)
    raise ParameterError(f"{path} is no TOML: {problem}.")


def _recorded(path: Path, content: bytes) -> dict[str, Any]:
    try:
        record = parse_json(content)
    except ValueError as error:
        raise ParameterError(f"{path} is no JSON: {error}.") from error
    options = record.get("options") if isinstance(record, dict) else None
    if not isinstance(options, dict):
        raise ParameterError(
            f"{path} does not tell the options of its run, which was given words and vectors from "
            "Python, or by another version. Write them into a TOML file."
        )
    return options


def _names(path: Path, content: dict[str, Any], key: str, known: Iterable[str]) -> list[str]:
    """Take the list that patterns stand for out of a file, unless it is an option itself."""
    if key in known or key not in content:
        return []
    names = content.pop(key)
    if not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise ParameterError(f'{path}: \'{key}\' takes a list of texts, such as ["en", "es"].')
    return names


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


class _Reading:
    """One key of a file: its value, checked, as click would get it from the command line."""

    def __init__(
        self,
        path: Path,
        key: str,
        parameter: click.Parameter,
        groups: Mapping[str, list[str]],
    ):
        self.path = path
        self.key = key
        self.parameter = parameter
        self.groups = groups
        self.is_list = parameter.nargs != 1 or getattr(parameter, "multiple", False)

    def value(self, value: Any, ctx: click.Context) -> Any:
        """Return the value for click's default_map, after click itself has accepted it."""
        if isinstance(self.parameter.type, Named):
            given: Any = self._named(value)
        elif self.is_list:
            given = [self._one(each) for each in (value if isinstance(value, list) else [value])]
        else:
            given = self._one(value)
        try:
            self.parameter.type_cast_value(ctx, given)
        except click.UsageError as error:
            raise ParameterError(f"{self.path}: '{self.key}': {error.message}") from error
        return given

    def _named(self, value: Any) -> list[str]:
        """Return NAME=VALUE for a table, a pattern or a list of such texts."""
        if isinstance(value, str):
            return self._expanded(value)
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            pairs = [each.partition("=") for each in value]
            return [f"{name}{equals}{self._path(text)}" for name, equals, text in pairs]
        if not isinstance(value, dict):
            raise self._wrong("a table, such as en = 'wiki.en.vec', or a list of texts", value)
        has_path = isinstance(self.parameter.type, Named) and self.parameter.type.has_path
        texts = []
        for name, entry in value.items():
            several = entry if isinstance(entry, list) and has_path else [entry]
            texts += [f"{name}={self._path(self._text(each, name))}" for each in several]
        return texts

    def _expanded(self, pattern: str) -> list[str]:
        """Return NAME=FILE for each language or pair that a pattern stands for."""
        kind = self.parameter.type
        mark, group = ("{pair}", "pairs") if kind is PAIR_FILE else ("{lang}", "languages")
        if not (isinstance(kind, Named) and kind.has_path and mark in pattern):
            return self._named([pattern])
        names = self.groups[group]
        if not names:
            raise ParameterError(
                f"{self.path}: '{self.key}' is a pattern with {mark}, and nothing says what it "
                f"stands for. Add {group} = [...]."
            )
        return [f"{name}={self._path(pattern.replace(mark, name))}" for name in names]

    def _text(self, value: Any, name: str) -> str:
        """Return a value of a table as it would be typed."""
        kind = self.parameter.type
        if isinstance(value, str):
            return value
        if isinstance(kind, Named) and not kind.has_path:  # a parameter of a mapper
            if isinstance(value, list) and not any(isinstance(v, (list, dict)) for v in value):
                return ",".join(self._text(each, name) for each in value)
            if isinstance(value, (bool, int, float)):
                return str(value).lower() if isinstance(value, bool) else repr(value)
        raise self._wrong("texts", value, name)

    def _one(self, value: Any) -> Any:
        """Check one value of an option that is no table."""
        if getattr(self.parameter, "is_flag", False):
            wanted, fits = "true or false", isinstance(value, bool)
        elif isinstance(self.parameter.type, click.types.IntParamType):
            wanted, fits = "a whole number", type(value) is int
        elif isinstance(self.parameter.type, click.types.FloatParamType):
            wanted, fits = "a number", type(value) in (int, float)
        else:
            wanted, fits = "a text", isinstance(value, str)
        if not fits:
            raise self._wrong(wanted, value)
        return self._path(value) if isinstance(self.parameter.type, click.Path) else value

    def _path(self, text: str) -> str:
        """Return a path as seen from the folder of the file; other texts stay."""
        kind = self.parameter.type
        if isinstance(kind, click.Path) or (isinstance(kind, Named) and kind.has_path):
            is_stream = isinstance(kind, click.Path) and kind.allow_dash and text == "-"
            return text if is_stream or not text else _seen_from(self.path.parent, text)
        return text

    def _wrong(self, wanted: str, value: Any, name: str | None = None) -> ParameterError:
        key = self.key if name is None else f"{self.key}.{name}"
        kinds = {bool: "true or false", str: "a text", list: "a list", dict: "a table"}
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        kind = str(value) if is_number else kinds.get(type(value), "a date")
        return ParameterError(f"{self.path}: '{key}' takes {wanted}, not {kind}.")


def _seen_from(folder: Path, text: str) -> str:
    """Return a path in a folder; one that leads out of it does not need the folder to be there."""
    if not text.startswith(".."):
        return str(folder / text)
    path = Path(os.path.realpath(folder), text)
    return os.path.normpath(path) if folder.is_absolute() else os.path.relpath(path)


def configuration_text(ctx: click.Context) -> str:
    """Write the options of a command as a file for --config: what was given, and the defaults."""
    lines, tables = [_HEADER.format(command=ctx.command_path)], []
    for parameter in _parameters(ctx):
        key, value = keys_of(parameter)[0], ctx.params[parameter.name or ""]
        is_default = ctx.get_parameter_source(parameter.name or "") is ParameterSource.DEFAULT
        if value is None or (is_default and value == ()):
            continue
        kind = parameter.type
        table = _as_table(value, kind.has_path) if isinstance(kind, Named) else None
        if table is not None:
            tables.append(f"\n{toml_table(key, table)}\n")
        else:
            lines.append(f"{'# ' if is_default else ''}{toml_line(key, value)}\n")
    return "".join([*lines, *tables])


def _as_table(texts: Iterable[str], has_path: bool) -> dict[str, Any] | None:
    """Return NAME=VALUE texts as a table; None where a name comes again, or there is none."""
    table: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals) or name in table:
            return None
        table[name] = value if has_path else _number(value)
    return table


def _number(text: str) -> Any:
    """Return the number that is written just so, or the text itself."""
    if text in ("true", "false"):
        return text == "true"
    if not _NUMBER.fullmatch(text):
        return text
    number: int | float = float(text) if "." in text else int(text)
    return number if repr(number) == text else text
