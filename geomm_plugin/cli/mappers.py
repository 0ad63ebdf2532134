"""`geomm mappers`: what is registered."""

from __future__ import annotations

import inspect
from types import NoneType

import click

from geomm_plugin import registry
from geomm_plugin.cli import options
from geomm_plugin.cli.config import Command
from geomm_plugin.cli.terminal import show
from geomm_plugin.registry.parameters import parameters_of


@click.command(cls=Command)
@options.as_group("run", options.Run, options.json_option("a mapper"))
def command(run: options.Run) -> None:
    """List every registered mapper: name, one line, parameters, and where it comes from.

    \b
    Example:
        geomm mappers
    """
    rows = [
        {
            "name": name,
            "summary": (inspect.getdoc(mapper) or "").partition("\n")[0],
            "parameters": {n: _plain(p.default) for n, p in parameters_of(mapper).items()},
            "package": str(registry.mappers.origin(name)),
        }
        for name, mapper in registry.mappers.items()
    ]
    if run.json:
        return run.report(rows)
    width = max(len(name) for name in registry.mappers)
    for name, row in zip(registry.mappers, rows, strict=True):
        parameters = "  ".join(map(str, parameters_of(registry.mappers[name]).values()))
        show(f"{name:<{width}}  {row['summary']}")
        show(f"{'':<{width}}  {parameters}")
        show(f"{'':<{width}}  from {row['package']}")


def _plain(value: object) -> object:
    """Return a default as JSON has it."""
    return value if isinstance(value, (str, int, float, tuple, NoneType)) else repr(value)
