"""A command of geomm: its help in groups, its options also from the environment and from a file.

`--config align.toml`: a key is the long name of an option, what may be repeated is a list, what is
NAME=VALUE is a table:

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

A file may come from anybody. So it names no cluster, which could send back any code, and what it
names to be written lies below its own folder.
"""

from __future__ import annotations

import os
import re
import shlex
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from geomm_plugin.cli.forms import PAIR_FILE, Named, Written
from geomm_plugin.errors import FileError, GeommError, ParameterError, did_you_mean

# Options under their headings, in the order of --help: first what a first reader needs.
HEADINGS = {
    "Data": "dictionary test identical cognates pair pairs pivot words texts train data demo model "
    "encoding max-words extra-words list folder mirror",
    "Method": "mapper mappers method set retrieval task metric by reliability k coverage baseline "
    "each-pair oov rerank disjoint-pivot trim neighbors min-score at-precision size",
    "Output": "output suffix precision keep-length into neighborhoods without-scores top json "
    "markdown csv latex html save results font",
    "Running": "jobs cluster resume port no-browser config quiet verbose help",
}
PLACES = {
    name: (heading, place)
    for heading, names in HEADINGS.items()
    for place, name in enumerate(names.split())
}
KEYS = {"embeddings": "vectors"}  # of arguments; others have their own name
CONFIGURATION = "geomm_plugin.configuration"  # the file, in click's Context.meta
KINDS = {"list": list, "table": dict}  # values of TOML that are more than one text
_LARGEST = 2**24  # bytes


class Command(click.Command):
    """A command that shows its options under headings, and reports misspelt variables."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, heading by heading."""
        rows: dict[str, list[tuple[int, tuple[str, str]]]] = {name: [] for name in HEADINGS}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record and isinstance(parameter, click.Option):
                heading, place = PLACES.get(keys_of(parameter)[0], ("Method", len(PLACES)))
                rows[heading].append((place, record))
        for heading, found in rows.items():
            if found:
                with formatter.section(heading):
                    formatter.write_dl([record for _, record in sorted(found)])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what came from elsewhere than the command line is checked before."""
        _warn_of_variables(ctx)
        for parameter in self.params:
            if isinstance(parameter.type, Written):
                _check_output(ctx, parameter)
        return super().invoke(ctx)


class Configurable(Command):
    """A command with --config."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        option = click.Option(
            ["--config"],
            type=click.Path(path_type=Path, dir_okay=False),
            is_eager=True,
            expose_value=False,
            callback=_use,
            help="Take options from this TOML file; those on the command line win.",
        )
        self.params.append(option)


def command_line(context: click.Context) -> str:
    """Return the command as it could be typed again: what was given, not what is the default.

    What came from the environment or from a file of --config is written out, too.
    """
    words = context.command_path.split()
    for parameter in context.command.params:
        name = parameter.name or ""
        is_default = context.get_parameter_source(name) is ParameterSource.DEFAULT
        if not parameter.expose_value or is_default:
            continue
        value = context.params[name]
        if not isinstance(parameter, click.Option):
            words += [str(item) for item in (value if parameter.nargs != 1 else [value])]
        elif parameter.is_flag:
            words += parameter.opts[:1] if value else parameter.secondary_opts[:1]
        else:
            values = value if parameter.multiple else [value]
            words += [word for item in values for word in (parameter.opts[0], str(item))]
    return shlex.join(words)


def keys_of(parameter: click.Parameter) -> list[str]:
    """Return the names of a parameter in a file, the usual one first."""
    name = parameter.name or ""
    if isinstance(parameter, click.Argument):
        return [KEYS.get(name, name)]
    long = [option[2:] for option in parameter.opts if option.startswith("--")]
    return long or [option.lstrip("-") for option in parameter.opts]


def _warn_of_variables(ctx: click.Context) -> None:
    """Name the variables of the environment that are meant for this command, and are no option."""
    prefix = f"{ctx.auto_envvar_prefix}_"
    known = [
        prefix + key.replace("-", "_").upper() for p in ctx.command.params for key in keys_of(p)
    ]
    for name in os.environ:
        if name.startswith(prefix) and name not in known:
            warnings.warn(
                f"The variable {name} sets no option of `{ctx.command_path}`."
                f"{did_you_mean(name, known)}",
                stacklevel=2,
            )


def _check_output(ctx: click.Context, parameter: click.Parameter) -> None:
    """Refuse an output that a file names, where it leads out of that file's folder."""
    name, file = parameter.name or "", ctx.meta.get(CONFIGURATION)
    if file is None or ctx.get_parameter_source(name) is not ParameterSource.DEFAULT_MAP:
        return
    folder, output = (Path(os.path.realpath(path)) for path in (file.parent, ctx.params[name]))
    if not output.is_relative_to(folder):
        raise ParameterError(
            f"{file}: '{keys_of(parameter)[0]}' leads out of the folder of the file, to {output}. "
            f"If you want that, type {parameter.opts[0]} {ctx.params[name]} on the command line."
        )


def _use(ctx: click.Context, param: click.Parameter, value: Path | None) -> None:
    if value is not None and not ctx.resilient_parsing:
        ctx.default_map = _File(value, ctx).read()
        ctx.meta[CONFIGURATION] = value


class _File:
    """A file of options: each is checked, and becomes what would be typed."""

    def __init__(self, path: Path, ctx: click.Context):
        self.path, self.ctx = path, ctx
        parameters = [param for param in ctx.command.params if param.expose_value]
        self.known = {key: param for param in parameters for key in keys_of(param)}
        self.text = ""

    def read(self) -> dict[str, Any]:
        """Return the values of the command's parameters, by the parameters' names."""
        content = self._content()
        vectors = content.get("vectors")
        self.names = {
            "{lang}": self._names(content, "languages")
            or list(vectors if isinstance(vectors, dict) else ()),
            "{pair}": self._names(content, "pairs"),
        }
        values: dict[str, Any] = {}
        for key, value in content.items():
            parameter = self._parameter(key)
            if parameter.name in values:
                raise self._error(key, f"'{key}' is given twice, by two names. Keep one.")
            given = self._given(key, parameter, value)
            try:
                parameter.type_cast_value(self.ctx, given)
            except click.UsageError as error:
                raise self._error(key, f"'{key}': {error.message}") from error
            values[parameter.name or ""] = given
        return values

    def _content(self) -> dict[str, Any]:
        """Read TOML, or the options in the record of an alignment, align.json."""
        try:
            with self.path.open("rb") as file:
                content = file.read(_LARGEST + 1)
        except OSError as error:
            raise FileError(
                f"Cannot read the configuration {self.path}: {error.strerror}."
            ) from error
        if len(content) > _LARGEST:
            raise FileError(f"{self.path} is too large for a configuration.")
        kind = "record of a run" if self.path.suffix == ".json" else "TOML"
        try:
            self.text = content.decode("utf-8-sig")
            return self._recorded() if kind != "TOML" else tomllib.loads(self.text)
        except GeommError:
            raise
        except RecursionError:
            problem = "its arrays are nested too deeply"
        except ValueError as error:  # of TOML, JSON and UTF-8
            problem = str(error)
        raise ParameterError(f"{self.path} is no {kind}: {problem}.")

    def _recorded(self) -> dict[str, Any]:
        """Return what a run wrote of its options, out of a record that is whole."""
        from geomm_plugin.alignment.record import recorded_options

        return recorded_options(self.path)

    def _names(self, content: dict[str, Any], key: str) -> list[str]:
        """Take the list that patterns stand for out of a file, unless it is an option itself."""
        if key in self.known or key not in content:
            return []
        names = content.pop(key)
        if not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
            raise self._error(key, f'\'{key}\' takes a list of texts, such as ["en", "es"].')
        return names

    def _parameter(self, key: str) -> click.Parameter:
        """Return the parameter that a key stands for."""
        parameter = self.known.get(key.replace("_", "-"))
        if parameter is None:
            raise self._error(
                key,
                f"`{self.ctx.command_path}` has no option '{key}'.{did_you_mean(key, self.known)} "
                f"It has: {', '.join(self.known)}.",
            )
        if parameter.name == "cluster":
            variable = f"{self.ctx.auto_envvar_prefix}_CLUSTER"
            raise self._error(
                key,
                "'cluster' is never taken from a file, since a scheduler can send back any code. "
                f"Type --cluster ADDRESS, or set {variable}.",
            )
        return parameter

    def _given(self, key: str, parameter: click.Parameter, value: Any) -> Any:
        """Return a value as it would be typed: one text, or several."""
        if isinstance(parameter.type, Named):
            return list(self._named(key, parameter.type, value))
        is_path = isinstance(parameter.type, click.Path)
        if parameter.nargs == 1 and not getattr(parameter, "multiple", False):
            return self._text(key, value, is_path)
        several = value if isinstance(value, list) else [value]
        return [self._text(key, each, is_path) for each in several]

    def _named(self, key: str, kind: Named, value: Any) -> Iterator[str]:
        """Yield NAME=VALUE for a table, a pattern or a list of such texts."""
        mark = "{pair}" if kind is PAIR_FILE else "{lang}"
        if isinstance(value, str) and kind.has_path and mark in value:
            if not self.names[mark]:
                raise self._error(
                    key,
                    f"'{key}' is a pattern with {mark}, and nothing says what it stands for. Add "
                    f"{'pairs' if mark == '{pair}' else 'languages'} = [...].",
                )
            value = {name: value.replace(mark, name) for name in self.names[mark]}
        if isinstance(value, dict):
            for name, entry in value.items():
                entries = entry if isinstance(entry, list) else [entry]
                texts = [self._text(f"{key}.{name}", each, kind.has_path) for each in entries]
                yield from (f"{name}={t}" for t in (texts if kind.has_path else [",".join(texts)]))
            return
        for each in value if isinstance(value, list) else [value]:
            name, equals, text = self._text(key, each, False).partition("=")
            if not equals:
                raise self._error(key, f"'{key}' takes a table, such as en = 'en.vec', or a list.")
            yield f"{name}={self._text(key, text, kind.has_path)}"

    def _text(self, key: str, value: Any, is_path: bool) -> str:
        """Return one value as it would be typed; a path as seen from the folder of the file."""
        if isinstance(value, bool):
            return str(value).lower()
        if not isinstance(value, (str, int, float)):
            kind = next((f"a {n}" for n, t in KINDS.items() if isinstance(value, t)), "a date")
            raise self._error(key, f"'{key}' takes a text or a number, not {kind}.")
        text = value if isinstance(value, str) else repr(value)
        return _seen_from(self.path.parent, text) if is_path and text not in ("", "-") else text

    def _error(self, key: str, sentence: str) -> ParameterError:
        """Return an error with the file, and the line where a key stands in it."""
        name = re.escape(key.rpartition(".")[2])
        lines = (
            f", line {number}"
            for number, line in enumerate(self.text.splitlines(), 1)
            if re.match(rf"""\s*\[?["']?{name}["']?\s*[]=:]""", line)
        )
        return ParameterError(f"{self.path}{next(lines, '')}: {sentence}")


def _seen_from(folder: Path, text: str) -> str:
    """Return a path in a folder; one that leads out of it does not need the folder to be there."""
    if not text.startswith(".."):
        return str(folder / text)
    path = Path(os.path.realpath(folder), text)
    return os.path.normpath(path) if folder.is_absolute() else os.path.relpath(path)
