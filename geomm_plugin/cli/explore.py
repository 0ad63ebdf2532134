"""`geomm explore`: look around in a shared space, in a browser."""

from __future__ import annotations

import click

from geomm_plugin import SharedSpace, get_mapper, load_mapper, progress
from geomm_plugin.cli import options
from geomm_plugin.cli.terminal import show
from geomm_plugin.demo import load_demo
from geomm_plugin.errors import ParameterError

DEMO_MAPPERS = ("geomm", "procrustes")


@options.as_command
@options.space_options("[MODEL...] LANG=FILE... | FOLDER", required=False)
@options.switch("--demo", "Explore the embedded data with two mappers.")
@options.option(
    "--port",
    "Port of the page; by default any that is free.",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=False,
)
@options.switch("--no-browser", "Only show the address; open no browser.")
@options.run_options()
def command(
    files: options.SpaceFiles, demo: bool, port: int, no_browser: bool, run: options.Run
) -> None:
    """Open a page with the translations and neighbours of any word, on this machine only.

    With two MODELs (saved mappers) the page switches between them; with none, the files are taken
    as aligned already. Ctrl-C ends it.

    \b
    Examples:
        geomm explore --demo
        geomm explore aligned/
        geomm explore aligned/mapper en=wiki.en.vec es=wiki.es.vec
        geomm explore procrustes/mapper geomm/mapper en=wiki.en.vec es=wiki.es.vec
    """
    from geomm_plugin.views.explorer import explore

    if demo == bool(files.embeddings):
        raise ParameterError(
            "Give files, e.g. aligned/mapper en=wiki.en.vec es=wiki.es.vec, or --demo alone."
        )
    with run.shown():
        spaces = _demo_spaces() if demo else _spaces(files)
    explore(
        spaces,
        port=port,
        browser=not no_browser,
        quiet=run.quiet,
        on_address=lambda address: show(f"Explore at {address}  (Ctrl-C ends it)"),
    )


def _spaces(files: options.SpaceFiles) -> dict[str, SharedSpace]:
    named = [text for text in files.embeddings if "=" in text]
    if not named or len(named) == len(files.embeddings):
        return {"aligned files": files.space_of(files.read())}
    models = {text: load_mapper(text) for text in files.embeddings if "=" not in text}
    read = files.read(named)
    names = [str(mapper) for mapper in models.values()]
    return {
        name if names.count(name) == 1 else f"{name} in {model}": mapper.map(read)
        for name, (model, mapper) in zip(names, models.items(), strict=True)
    }


def _demo_spaces() -> dict[str, SharedSpace]:
    demo = load_demo()
    return {
        name: get_mapper(name).fit(demo.embeddings, demo.train).map(demo.embeddings)
        for name in progress.over("Fitting", DEMO_MAPPERS, "mappers")
    }
