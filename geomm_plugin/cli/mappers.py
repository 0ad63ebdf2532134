"""`geomm mappers`: what is registered."""

from __future__ import annotations

import inspect
import json

import click

from geomm_plugin import registry
from geomm_plugin.cli.terminal import show, show_json
from geomm_plugin.registry.parameters import parameters_of


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list, one object a mapper.")
def command(as_json: bool) -> None:
    """List every registered mapper: name, one line, parameters, and where it comes from.

    \b
    Example:
        geomm mappers
    """
    rows = [
        {
            "name": name,
            "summary": (inspect.getdoc(mapper) or "").partition("\n")[0],
            "parameters": {n: p.default for n, p in parameters_of(mapper).items()},
            "package": str(registry.mappers.origin(name)),
        }
        for name, mapper in registry.mappers.items()
    ]
    if as_json:
        show_json(json.dumps(rows, ensure_ascii=False, default=repr))
        return
    width = max(len(name) for name in registry.mappers)
    for name, row in zip(registry.mappers, rows, strict=True):
        parameters = "  ".join(map(str, parameters_of(registry.mappers[name]).values()))
        show(f"{name:<{width}}  {row['summary']}")
        show(f"{'':<{width}}  {parameters}")
        show(f"{'':<{width}}  from {row['package']}")
