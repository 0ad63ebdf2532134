"""`geomm explore`: look around in a shared space, in a browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click

from geomm_plugin import progress
from geomm_plugin.cli import options
from geomm_plugin.cli.config import Command
from geomm_plugin.cli.terminal import show
from geomm_plugin.demo import load_demo
from geomm_plugin.errors import ParameterError
from geomm_plugin.registry import get_mapper
from geomm_plugin.shared_space import SharedSpace
from geomm_plugin.storage import load_mapper

DEMO_MAPPERS = ("geomm", "procrustes")


@click.command(cls=Command)
@click.argument("arguments", nargs=-1, metavar="[MODEL...] LANG=FILE...")
@click.option("--demo", is_flag=True, help="Explore the embedded data with two mappers.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Port of the page; by default any that is free.",
)
@click.option("--no-browser", is_flag=True, help="Only show the address; open no browser.")
@options.space_options(files=False)
@options.run_options()
def command(
    arguments: tuple[str, ...],
    demo: bool,
    port: int,
    no_browser: bool,
    files: options.SpaceFiles,
    run: options.Run,
) -> None:
    """Open a page with the translations and neighbours of any word, on this machine only.

    With two MODELs (saved mappers) the page switches between them; with none, the files are taken
    as aligned already. Ctrl-C ends it.

    \b
    Examples:
        geomm explore --demo
        geomm explore aligned/mapper en=wiki.en.vec es=wiki.es.vec
        geomm explore procrustes/mapper geomm/mapper en=wiki.en.vec es=wiki.es.vec
    """
    from geomm_plugin.views.explorer import explore

    models = [text for text in arguments if "=" not in text]
    specs = tuple(text for text in arguments if "=" in text)
    if demo == bool(arguments):
        raise ParameterError(
            "Give files, e.g. aligned/mapper en=wiki.en.vec es=wiki.es.vec, or --demo alone."
        )
    with run.shown():
        spaces = _demo_spaces() if demo else _spaces(models, replace(files, embeddings=specs))
    explore(spaces, port=port, browser=not no_browser, quiet=run.quiet, on_address=_show_address)


def _show_address(address: str) -> None:
    show(f"Explore at {address}  (Ctrl-C ends it)")


def _spaces(models: Sequence[str], files: options.SpaceFiles) -> dict[str, SharedSpace]:
    mappers = [load_mapper(model) for model in models]
    read = files.read()
    if not mappers:
        return {"aligned files": files.space_of(read)}
    names = [repr(mapper) for mapper in mappers]
    spaces: dict[str, SharedSpace] = {}
    for name, model, mapper in zip(names, models, mappers, strict=True):
        shown = name if names.count(name) == 1 else f"{name} in {model}"
        spaces[shown] = mapper.map(read)
    return spaces


def _demo_spaces() -> dict[str, SharedSpace]:
    demo = load_demo()
    spaces: dict[str, SharedSpace] = {}
    for name in DEMO_MAPPERS:
        with progress.task(f"Fitting {name}"):
            spaces[name] = get_mapper(name).fit(demo.embeddings, demo.train).map(demo.embeddings)
    return spaces
