"""What commands print: everything goes through here, so that words cannot steer the terminal."""

from __future__ import annotations

import sys
from contextlib import nullcontext, suppress

import click

from geomm_plugin.text import printable, printable_json


def show(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a text for people to read; what is not printable is escaped, but for line breaks."""
    with suppress(OSError) if err else nullcontext():  # where errors cannot be told, none is added
        click.echo(printable(str(text), keep="\n\t"), err=err, nl=nl)


def show_json(text: str) -> None:
    """Print JSON; it reads back as the same values."""
    click.echo(printable_json(text))


def show_data(text: str) -> None:
    """Print lines for programs: as they are into a file or a pipe, escaped on a terminal."""
    if sys.stdout.isatty():
        text = printable(text, keep="\n\t")
    click.echo(text, nl=False)
