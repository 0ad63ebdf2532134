"""A command of geomm: its help under headings, its outputs, and options from elsewhere.

The command line wins, then the environment, then the file of --config, TOML or the align.json of an
alignment: its values become the defaults of click's context (default_map). A key is the long name
of an option, what may be repeated is a list, what is NAME=VALUE is a table, and relative paths are
relative to the folder of the file.

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

from geomm_plugin.alignment.record import MAPPER, NAME, recorded_options
from geomm_plugin.alignment.space import space_files
from geomm_plugin.cli.forms import LANG_FILE, Named, Output, is_space
from geomm_plugin.errors import FileError, GeommError, ParameterError, did_you_mean
from geomm_plugin.files.atomic import check_output
from geomm_plugin.files.outputs import is_stream, refuse_inputs
from geomm_plugin.formats import files_of
from geomm_plugin.retrieval.neighborhood_file import means_beside
from geomm_plugin.storage import JSON_NAME, saved_files

# Options under their headings, in the order of --help: first what a first reader needs.
HEADINGS = {
    "Data": "dictionary test identical cognates pair pairs pivot words null texts train data demo "
    "model encoding max-words extra-words list check folder mirror",
    "Method": "mapper mappers method set retrieval task metric by reliability k coverage baseline "
    "each-pair oov rerank disjoint-pivot trim resamples neighbors min-score at-precision threshold "
    "size",
    "Output": "output suffix precision keep-length into neighborhoods without-scores top json "
    "markdown csv latex html save results font",
    "Running": "jobs cluster resume force port no-browser config quiet verbose help",
}
KEYS = {"embeddings": "vectors"}  # of arguments; others have their own name
CONFIGURATION = "geomm_plugin.configuration"  # the file, in click's Context.meta


class Command(click.Command):
    """A command that shows its options under headings, and looks at what it is given first."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, heading by heading."""
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        records = {keys_of(option)[0]: option.get_help_record(ctx) for option in options}
        for heading, names in HEADINGS.items():
            if found := [record for name in names.split() if (record := records.get(name))]:
                with formatter.section(heading):
                    formatter.write_dl(found)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, if its variables have a meaning and its outputs are no inputs."""
        _warn_of_variables(ctx)
        _check_outputs(ctx)
        return super().invoke(ctx)


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
        values = context.params[name]
        values = values if isinstance(values, tuple) else (values,)
        if not isinstance(parameter, click.Option):
            words += map(str, values)
        elif parameter.is_flag:
            words += parameter.opts[:1] * values[0]
        else:
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
    keys = [key for parameter in ctx.command.params for key in keys_of(parameter)]
    known = [prefix + key.replace("-", "_").upper() for key in keys]
    for name in os.environ:
        if name.startswith(prefix) and name not in known:
            warnings.warn(
                f"The variable {name} sets no option of `{ctx.command_path}`."
                f"{did_you_mean(name, known)}",
                stacklevel=2,
            )


def _check_outputs(ctx: click.Context) -> None:
    """Find out before the work whether all files can be written, and that none is an input.

    An input is every other file that the command was given: by an argument, an option, the
    environment or a configuration, and what is read beside it.
    """
    given = {each: ctx.params.get(each.name or "") for each in ctx.command.params}
    outputs: list[Path] = []
    for parameter, path in given.items():
        if path and isinstance(parameter.type, Output):
            _check_folder(ctx, parameter, path)
            outputs += [] if parameter.type.dir_okay else [path]
    if not outputs:
        return
    inputs = [path for each, value in given.items() for path in _files_read(each, value)]
    inputs += filter(None, [ctx.meta.get(CONFIGURATION)])
    refuse_inputs(outputs, inputs, "Choose another name for the output.")
    for number, output in enumerate(outputs):
        check_output(output)
        others = map(os.path.realpath, outputs[:number])
        if not is_stream(output) and os.path.realpath(output) in others:
            raise ParameterError(f"{output} is named for two outputs. Choose a file for each.")


def _check_folder(ctx: click.Context, parameter: click.Parameter, path: Path) -> None:
    """Refuse an output that a file names, where it leads out of that file's folder."""
    file = ctx.meta.get(CONFIGURATION)
    source = ctx.get_parameter_source(parameter.name or "")
    if file is None or source is not ParameterSource.DEFAULT_MAP:
        return
    folder, output = (Path(os.path.realpath(path)) for path in (file.parent, path))
    if not output.is_relative_to(folder):
        raise ParameterError(
            f"{file}: '{keys_of(parameter)[0]}' leads out of the folder of the file, to {output}. "
            f"If you want that, type {parameter.opts[0]} {path} on the command line."
        )


def _files_read(parameter: click.Parameter, value: Any) -> Iterator[Path]:
    """Return the files that a parameter names, and what is read beside them."""
    values = value if isinstance(value, tuple) else () if value is None else (value,)
    kind = parameter.type
    if kind is LANG_FILE and isinstance(parameter, click.Argument):
        named = [Path(text.partition("=")[2]) for text in values if "=" in text]
        for path in space_files(Path(values[0])).values() if is_space(values) else named:
            yield from files_of(path) if path.exists() else ()
            yield from (path.parent / NAME, path.parent / MAPPER / JSON_NAME)
            yield from filter(None, [means_beside(path)])
        yield from (file for text in values for file in saved_files(Path(text)))
    elif isinstance(kind, Named) and kind.has_path:
        yield from (Path(text.partition("=")[2]) for text in values)
    elif isinstance(kind, click.Path) and not isinstance(kind, Output):
        yield from (file for path in values for file in saved_files(path) or [path])


def use_file(ctx: click.Context, param: click.Parameter, path: Path | None) -> None:
    """Take the defaults of a command's options from the file of --config."""
    if path is not None and not ctx.resilient_parsing:
        ctx.default_map = _File(path, ctx).read()
        ctx.meta[CONFIGURATION] = path


class _File:
    """A file of options: each is checked, and becomes what would be typed."""

    def __init__(self, path: Path, ctx: click.Context):
        self.path, self.ctx = path, ctx
        parameters = [param for param in ctx.command.params if param.expose_value]
        self.known = {key: param for param in parameters for key in keys_of(param)}
        self.text = ""

    def read(self) -> dict[str, Any]:
        """Return the values of the command's parameters, by the parameters' names."""
        values: dict[str, Any] = {}
        for key, value in self._content().items():
            parameter = self._parameter(key)
            if parameter.name in values:
                raise self._error(key, f"'{key}' is given twice, by two names. Keep one.")
            typed: Any = self._typed(key, parameter, value)
            if parameter.nargs == 1 and not getattr(parameter, "multiple", False):
                if len(typed) != 1 or isinstance(value, list):
                    raise self._error(key, f"'{key}' takes a text or a number, not a list.")
                (typed,) = typed
            try:
                parameter.type_cast_value(self.ctx, typed)
            except click.UsageError as error:
                raise self._error(key, f"'{key}': {error.message}") from error
            values[parameter.name or ""] = typed
        return values

    def _content(self) -> dict[str, Any]:
        """Read TOML, or the options in the record of an alignment, align.json."""
        is_record = self.path.suffix == ".json"
        try:
            self.text = self.path.read_text("utf-8-sig")
            return recorded_options(self.path) if is_record else tomllib.loads(self.text)
        except GeommError:
            raise
        except OSError as error:
            raise FileError(
                f"Cannot read the configuration {self.path}: {error.strerror}."
            ) from error
        except (ValueError, RecursionError) as error:  # of TOML, JSON and UTF-8
            kind = "record of a run" if is_record else "TOML"
            raise ParameterError(f"{self.path} is no {kind}: {error}.") from error

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

    def _typed(self, key: str, parameter: click.Parameter, value: Any) -> list[str]:
        """Return the texts that would be typed for a value; of a table they are NAME=VALUE."""
        kind = parameter.type
        several = value if isinstance(value, list) else [value]
        if not isinstance(kind, Named):
            return [self._text(key, each, isinstance(kind, click.Path)) for each in several]
        entries: list[tuple[str, Any]] = []
        for each in several:
            if isinstance(each, dict):
                entries += each.items()
                continue
            name, equals, text = self._text(key, each).partition("=")
            if not equals:
                raise self._error(key, f"'{key}' takes a table, such as en = 'en.vec', or a list.")
            entries.append((name, text))
        typed = []
        for name, entry in entries:
            listed = entry if isinstance(entry, list) else [entry]
            texts = [self._text(f"{key}.{name}", each, kind.has_path) for each in listed]
            typed += [f"{name}={t}" for t in (texts if kind.has_path else [",".join(texts)])]
        return typed

    def _text(self, key: str, value: Any, is_path: bool = False) -> str:
        """Return one value as it would be typed; a path as seen from the folder of the file."""
        if isinstance(value, bool):
            return str(value).lower()
        if not isinstance(value, (str, int, float)):
            kinds: dict[object, str] = {list: "list", dict: "table"}
            kind = kinds.get(type(value), "date")
            raise self._error(key, f"'{key}' takes a text or a number, not a {kind}.")
        text = value if isinstance(value, str) else repr(value)
        return str(self.path.parent / text) if is_path and text not in ("", "-") else text

    def _error(self, key: str, sentence: str) -> ParameterError:
        """Return an error with the file, and the line where a key stands in it."""
        name = re.escape(key.rpartition(".")[2])
        lines = (
            f", line {number}"
            for number, line in enumerate(self.text.splitlines(), 1)
            if re.match(rf"""\s*\[?["']?{name}["']?\s*[]=:]""", line)
        )
        return ParameterError(f"{self.path}{next(lines, '')}: {sentence}")
