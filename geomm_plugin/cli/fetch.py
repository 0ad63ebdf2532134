"""`geomm fetch`: download data sets; the only command that uses the network."""

from __future__ import annotations

from pathlib import Path

import click

from geomm_plugin.cli import options
from geomm_plugin.cli.config import Command
from geomm_plugin.cli.terminal import show
from geomm_plugin.datasets.catalog import data_sets
from geomm_plugin.datasets.download import fetch


@click.command(cls=Command)
@click.argument("name", required=False)
@click.argument("parts", nargs=-1, metavar="[LANG|LANG-LANG]...")
@click.option("--list", is_flag=True, help="Say what there is: size, licence, origin.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the files go; by default the system's folder for caches.",
)
@click.option(
    "--mirror",
    metavar="URL",
    help="A server that has the files under the same paths; also GEOMM_MIRROR.",
)
@options.run_options()
def command(
    name: str | None,
    parts: tuple[str, ...],
    list: bool,
    folder: Path | None,
    mirror: str | None,
    run: options.Run,
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
        _show_list()
        return
    with run.shown():
        fetched = fetch(name, parts, folder=folder, mirror=mirror)
    if run.quiet:
        return
    for file in fetched:
        state = "new" if file.is_new else "was there, and is whole"
        show(f"{file.path}  {file.size / 1e6:.1f} MB  {state}")


def _show_list() -> None:
    for found in data_sets().values():
        show(f"{found.command()}\n    {found.title}")
        show(f"    {found.size}; licence: {found.licence}; from {found.origin}")
