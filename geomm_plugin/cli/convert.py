"""`geomm convert`: embeddings from one file format into another."""

from __future__ import annotations

from pathlib import Path

import click

from geomm_plugin import progress
from geomm_plugin.cli import options
from geomm_plugin.cli.terminal import show
from geomm_plugin.files.outputs import refuse_inputs
from geomm_plugin.formats import (
    check_exists,
    files_of,
    read_embeddings,
    refuse_neighbors,
    write_embeddings,
    writing_format,
)


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
    written = writing_format(target, precision)
    check_exists(source)
    outputs = written.outputs(target)
    refuse_inputs(outputs, files_of(source), "Choose another name for the new file.")
    refuse_neighbors(target, outputs)
    with progress.shown(quiet):
        embeddings = read_embeddings(source, max_words=max_words)
        write_embeddings(embeddings, target, format=written)
    if not quiet:
        show(f"Wrote {target}  {embeddings!r}")
