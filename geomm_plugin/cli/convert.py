"""`geomm convert`: embeddings from one file format into another."""

from __future__ import annotations

from pathlib import Path

import click

from geomm_plugin import progress
from geomm_plugin.cli import options
from geomm_plugin.cli.terminal import show
from geomm_plugin.formats import read_embeddings, write_embeddings


@click.command()
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("target", type=click.Path(path_type=Path))
@options.max_words_option
@options.precision_option
@options.quiet_option
def command(
    source: Path, target: Path, max_words: int | None, precision: int | None, quiet: bool
) -> None:
    """Convert embeddings from any format to any other; the suffixes say which.

    A .safetensors file opens at once, whatever its size: worth it for what is read again and again.

    \b
    Example:
        geomm convert wiki.en.vec wiki.en.safetensors --max-words 200000
    """
    written = options.format_for(target, precision)
    options.check_apart([source], [target], "Choose another name for the new file.")
    with progress.shown(quiet):
        embeddings = read_embeddings(source, max_words=max_words)
        write_embeddings(embeddings, target, format=written)
    if not quiet:
        show(f"Wrote {target}  {embeddings!r}")
