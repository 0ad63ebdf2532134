"""The command line: one file per command; each is a few calls of the public API."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from geomm_plugin.cli import terminal
from geomm_plugin.cli.terminal import show
from geomm_plugin.errors import GeommError, UnknownNameError, did_you_mean

# The commands in the order of --help, which shows these lines and imports none of them; the command
# `align` is `command` in the module geomm_plugin.cli.align.
COMMANDS = {
    "demo": "Align, translate and compare on the data inside the package.",
    "align": "Align languages: fit a mapper, write aligned files.",
    "evaluate": "Score aligned files on words, similarity, analogy or texts.",
    "compare": "Fit several mappers on the same data and say which wins.",
    "diagnose": "Look at data before a fit, and say what to fix.",
    "translate": "Translate words between two languages.",
    "explore": "Open a page with translations and neighbours of any word.",
    "neighborhoods": "Save what makes the first answers in aligned files quick.",
    "plot": "Draw pictures for papers.",
    "induce": "Make a dictionary from word embeddings.",
    "onehop": "Translate through a pivot language, in several ways.",
    "drift": "Show the words that moved between corpora of a language.",
    "migrate": "Move an index to a new embedding model.",
    "mappers": "List every mapper, with its parameters and its package.",
    "plugins": "List plugins and what they register; check a package.",
    "convert": "Convert embeddings from one file format to another.",
    "paper": "Make the tables of the GeoMM paper again, beside its numbers.",
    "fetch": "Download vectors, dictionaries, test sets: uses the network.",
    "check": "Tell whether files, mappers and aligned folders are whole.",
}


class Commands(click.Group):
    """Commands that are imported on use; errors that a user can fix are one sentence."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command that was typed."""
        if cmd_name in COMMANDS:
            return import_module(f"geomm_plugin.cli.{cmd_name}").command  # type: ignore[no-any-return]
        if ctx.resilient_parsing:  # by a shell that completes words
            return None
        raise UnknownNameError(
            f"There is no command {cmd_name!r}.{did_you_mean(cmd_name, COMMANDS)} Commands: "
            f"{', '.join(COMMANDS)}."
        )

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them, so that --help is quick."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer commands without importing them, and options."""
        named = [(name, text) for name, text in COMMANDS.items() if name.startswith(incomplete)]
        items = [CompletionItem(name, help=text) for name, text in named]
        return items + click.Command.shell_complete(self, ctx, incomplete)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; errors go to standard error, with status 2."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", UserWarning)
                warnings.showwarning = _show_warning  # type: ignore[assignment]
                return super().invoke(ctx)
        except (click.exceptions.NoArgsIsHelpError, BrokenPipeError):
            raise  # shows the help; nobody reads the output any more
        except click.UsageError as error:
            typed = error.ctx.command_path if error.ctx else f"geomm {ctx.invoked_subcommand}"
            show(f"{error.format_message().rstrip('.')}. See {typed} --help.", err=True)
            ctx.exit(terminal.FAILED)
        except (GeommError, OSError, MemoryError, KeyboardInterrupt) as error:
            ctx.exit(terminal.tell(error))


def _show_warning(message: Warning | str, category: type[Warning], *_: object) -> None:
    if issubclass(category, UserWarning):
        show(f"Warning: {message}", err=True)


@click.group(
    cls=Commands,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "auto_envvar_prefix": "GEOMM",
        "show_default": True,
    },
    epilog="Options may also be set by environment variables, such as GEOMM_ALIGN_MAX_WORDS for "
    "--max-words of align, and many commands read them from a file: --config FILE.",
)
@click.version_option(package_name="geomm-plugin", prog_name="geomm", allow_from_autoenv=False)
def group() -> None:
    """Align word embeddings across languages, translate with them, and compare methods.

    \b
    Try it on the data that comes with the package:
        geomm demo
    """


def main(prog_name: str = "geomm") -> None:
    """Run the command line; whatever happens, it ends with a sentence."""
    with terminal.exit_cleanly():
        group(prog_name=prog_name)
