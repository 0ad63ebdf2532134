"""`geomm mappers`: what is registered."""

from __future__ import annotations

import inspect

from geomm_plugin import registry
from geomm_plugin.cli import options
from geomm_plugin.cli.terminal import show
from geomm_plugin.evaluation.provenance import json_like
from geomm_plugin.registry.parameters import parameters_of


@options.as_command
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
            "parameters": {n: json_like(p.default) for n, p in parameters_of(mapper).items()},
            "package": str(registry.mappers.origin(name)),
        }
        for name, mapper in registry.mappers.items()
    ]
    if run.json:
        return run.report(rows)
    width = max(map(len, registry.mappers))
    for row, mapper in zip(rows, registry.mappers.values(), strict=True):
        show(f"{row['name']:<{width}}  {row['summary']}")
        show(f"{'':<{width}}  {'  '.join(map(str, parameters_of(mapper).values()))}")
        show(f"{'':<{width}}  from {row['package']}")
