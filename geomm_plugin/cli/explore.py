"""`geomm explore`: look around in a shared space, in a browser."""

from __future__ import annotations

from collections.abc import Sequence

import click

from geomm_plugin import progress
from geomm_plugin.cli import options
from geomm_plugin.cli.terminal import show
from geomm_plugin.demo import load_demo
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import ParameterError
from geomm_plugin.registry import get_mapper
from geomm_plugin.shared_space import SharedSpace
from geomm_plugin.storage import load_mapper

DEMO_MAPPERS = ("geomm", "procrustes")


@click.command()
@click.argument("arguments", nargs=-1, metavar="[MODEL...] LANG=FILE...")
@click.option("--demo", is_flag=True, help="Explore the embedded data with two mappers.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Port of the page; by default any that is free.",
)
@click.option("--no-browser", is_flag=True, help="Only show the address; open no browser.")
@options.max_words_option
@options.quiet_option
def command(
    arguments: tuple[str, ...],
    demo: bool,
    port: int,
    no_browser: bool,
    max_words: int | None,
    quiet: bool,
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
    files = [text for text in arguments if "=" in text]
    if demo == bool(arguments):
        raise ParameterError(
            "Give files, e.g. aligned/mapper en=wiki.en.vec es=wiki.es.vec, or --demo alone."
        )
    with progress.shown(quiet):
        spaces = _demo_spaces() if demo else _spaces(models, files, max_words)
    explore(spaces, port=port, browser=not no_browser, quiet=quiet, on_address=_show_address)


def _show_address(address: str) -> None:
    show(f"Explore at {address}  (Ctrl-C ends it)")


def _spaces(
    models: Sequence[str], files: Sequence[str], max_words: int | None
) -> dict[str, SharedSpace]:
    mappers = [load_mapper(model) for model in models]
    read: dict[str, Embeddings] = options.read_all(files, max_words)
    if not mappers:
        return {"aligned files": options.aligned_space(read)}
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
