"""The command line: one file per command; each calls the public API and nothing else."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from typing import Any

import click

from geomm_plugin.errors import GeommError

# Command -> the module that holds it, in the order of --help; a module is imported when needed.
COMMANDS = {
    "demo": "geomm_plugin.cli.demo",
    "align": "geomm_plugin.cli.align",
    "evaluate": "geomm_plugin.cli.evaluate",
    "compare": "geomm_plugin.cli.compare",
    "diagnose": "geomm_plugin.cli.diagnose",
    "translate": "geomm_plugin.cli.translate",
    "explore": "geomm_plugin.cli.explore",
    "plot": "geomm_plugin.cli.plot",
    "induce": "geomm_plugin.cli.induce",
    "onehop": "geomm_plugin.cli.onehop",
    "mappers": "geomm_plugin.cli.mappers",
    "convert": "geomm_plugin.cli.convert",
}


class Commands(click.Group):
    """Commands that are imported on use; errors that a user can mend are one sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(COMMANDS[cmd_name]).command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; errors go to standard error, with status 2."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", UserWarning)
                warnings.showwarning = _show_warning  # type: ignore[assignment]
                return super().invoke(ctx)
        except GeommError as error:
            click.echo(str(error), err=True)
            ctx.exit(2)
        except KeyboardInterrupt:
            click.echo("Stopped.", err=True)
            ctx.exit(130)


def _show_warning(message: Warning | str, category: type[Warning], *_: object) -> None:
    if issubclass(category, UserWarning):
        click.echo(f"Warning: {message}", err=True)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="geomm-plugin", prog_name="geomm")
def group() -> None:
    """Align word embeddings across languages, translate with them, and compare methods.

    \b
    Try it on the data that comes with the package:
        geomm demo
    """


def main(prog_name: str = "geomm") -> None:
    """Run the command line."""
    # Words of any language are printed, also where the terminal's encoding lacks them.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    group(prog_name=prog_name)
