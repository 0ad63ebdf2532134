"""`geomm convert`: embeddings from one file format into another."""

from __future__ import annotations

import json
from pathlib import Path

import click

from geomm_plugin import progress
from geomm_plugin.cli import options
from geomm_plugin.cli.output import json_option
from geomm_plugin.cli.terminal import show, show_json
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
@json_option
@options.quiet_option
def command(
    source: Path,
    target: Path,
    max_words: int | None,
    precision: int | None,
    as_json: bool,
    quiet: bool,
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
    words, dimension = len(embeddings), embeddings.dimension
    if as_json:
        row = {"path": str(target), "format": written.name, "words": words, "dimension": dimension}
        show_json(json.dumps(row, ensure_ascii=False))
    elif not quiet:
        show(f"Wrote {target}  {words:,} words x {dimension}")
