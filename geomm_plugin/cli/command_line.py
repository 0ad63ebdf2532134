"""The command that is running, as a text that can be typed again."""

from __future__ import annotations

import shlex

import click
from click.core import ParameterSource


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
