"""`geomm compare --html`: the page, with the files and the command that it came from."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import click
from click.core import ParameterSource

from geomm_plugin.evaluation.outcome import Comparison
from geomm_plugin.files import disk
from geomm_plugin.files.atomic import written_beside

ANSWERS = 3  # kept for each word and mapper, for the words that changed


def write_report(path: Path, comparison: Comparison) -> None:
    """Write the page of a comparison that this command made."""
    command = command_line(click.get_current_context())
    page = comparison.to_html(replace(comparison.provenance, command=command))
    with written_beside(path) as part:
        disk.write_file(part, page.encode())


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
