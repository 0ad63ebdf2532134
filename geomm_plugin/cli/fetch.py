"""`geomm fetch`: download data sets; the only command that uses the network."""

from __future__ import annotations

from typing import Any

import click

from geomm_plugin.cli import forms, options
from geomm_plugin.cli.terminal import show
from geomm_plugin.datasets.catalog import data_sets
from geomm_plugin.datasets.download import fetch


@options.as_command
@click.argument("name", required=False)
@click.argument("parts", nargs=-1, metavar="[LANG|LANG-LANG]...")
@options.switch("--list", "Say what there is: size, licence, origin.")
@options.option(
    "--folder",
    "Where the files go; by default ~/.cache/geomm-plugin.",
    type=forms.FOLDER,
)
@options.option(
    "--mirror",
    "A server that has the files under the same paths; also GEOMM_MIRROR.",
    metavar="URL",
)
@options.run_options()
def command(
    name: str | None, parts: tuple[str, ...], list: bool, run: options.Run, **where: Any
) -> None:
    """Download data sets: vectors, dictionaries, test sets.

    This is the only command that uses the network. A download that was cut off goes on where it
    stopped; files that are there are checked and not downloaded again.

    \b
    Examples:
        geomm fetch --list
        geomm fetch wiki en es --folder data/
        geomm fetch muse en-es --folder data/
    """
    if list or name is None:
        for found in data_sets().values():
            show(f"{found.command()}\n    {found.title}")
            show(f"    {found.size}; licence: {found.licence}; from {found.origin}")
        return
    with run.shown():
        fetched = fetch(name, parts, **where)
    for file in () if run.quiet else fetched:
        state = "new" if file.is_new else "was there, and is whole"
        show(f"{file.path}  {file.size / 1e6:.1f} MB  {state}")
