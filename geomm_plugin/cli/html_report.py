"""`geomm compare --html`: the page, with the files and the command that it came from."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

import click
from click.core import ParameterSource

from geomm_plugin.dictionary import read_dictionary
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.evaluation.outcome import Comparison
from geomm_plugin.files.atomic import written_beside
from geomm_plugin.views.report import DataFile, Provenance

ANSWERS = 3  # kept for each word and mapper, for the words that changed


def write_report(path: Path, comparison: Comparison, files: Iterable[DataFile]) -> None:
    """Write the page of a comparison that this command made."""
    provenance = Provenance(tuple(files), command_line(click.get_current_context()))
    with written_beside(path) as part:
        part.write_text(comparison.to_html(provenance), encoding="utf-8")


def describe_files(
    embeddings: Iterable[str],
    read: Mapping[str, Embeddings],
    dictionaries: Iterable[str],
    tests: Iterable[str],
) -> list[DataFile]:
    """Return what LANG=FILE and LANG-LANG=FILE arguments named."""
    found = []
    for spec in embeddings:
        language, _, path = spec.partition("=")
        content = f"{len(read[language]):,} words x {read[language].dimension}"
        found.append(DataFile(f"embeddings {language}", path, file_size(Path(path)), content))
    for role, specs in (("dictionary", dictionaries), ("test", tests)):
        for spec in specs:
            pair, _, path = spec.partition("=")
            content = f"{len(read_dictionary(path)):,} pairs"
            found.append(DataFile(f"{role} {pair}", path, file_size(Path(path)), content))
    return found


def file_size(path: Path) -> int:
    """Return the bytes of a file, or of all files in a folder."""
    if path.is_dir():
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return path.stat().st_size


def command_line(context: click.Context) -> str:
    """Return the command as it could be typed again: what was given, not what is the default."""
    words = context.command_path.split()
    for parameter in context.command.params:
        name = parameter.name or ""
        if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value = context.params[name]
        if isinstance(parameter, click.Argument):
            words += [str(item) for item in value]
        elif isinstance(parameter, click.Option) and parameter.is_flag:
            words.append(parameter.opts[0])
        else:
            for item in value if parameter.multiple else [value]:
                words += [parameter.opts[0], str(item)]
    return shlex.join(words)
