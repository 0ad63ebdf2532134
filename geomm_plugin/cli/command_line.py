"""The command that is running, as a text that can be typed again."""

from __future__ import annotations

import shlex
from typing import Any

import click
from click.core import ParameterSource


def command_line(context: click.Context) -> str:
    """Return the command as it could be typed again: what was given, not what is the default.

    What came from the environment or from a file of --config is written out, too.
    """
    words = context.command_path.split()
    for parameter in context.command.params:
        name = parameter.name or ""
        is_default = context.get_parameter_source(name) is ParameterSource.DEFAULT
        if parameter.expose_value and not is_default:
            words += _typed(parameter, context.params[name])
    return shlex.join(words)


def _typed(parameter: click.Parameter, value: Any) -> list[str]:
    """Return a parameter as it is typed."""
    if not isinstance(parameter, click.Option):
        return [str(item) for item in (value if parameter.nargs != 1 else [value])]
    if parameter.is_flag:
        return parameter.opts[:1] if value else parameter.secondary_opts[:1]
    if parameter.count:
        return parameter.opts[:1] * int(value)
    values = value if parameter.multiple else [value]
    return [word for item in values for word in (parameter.opts[0], str(item))]
