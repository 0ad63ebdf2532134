"""`geomm convert`: embeddings from one file format into another."""

from __future__ import annotations

import json
from pathlib import Path

import click

from geomm_plugin import progress
from geomm_plugin.alignment.space import write_space
from geomm_plugin.cli import options
from geomm_plugin.cli.output import json_option
from geomm_plugin.cli.terminal import show, show_json
from geomm_plugin.files.outputs import refuse_inputs
from geomm_plugin.formats import (
    check_exists,
    files_of,
    read_embeddings,
    read_languages,
    refuse_neighbors,
    write_embeddings,
    writing_format,
)


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE | LANG=FILE...")
@click.argument("target", type=click.Path(path_type=Path))
@options.max_words_option
@options.precision_option
@json_option
@options.quiet_option
def command(
    sources: tuple[str, ...],
    target: Path,
    max_words: int | None,
    precision: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Convert embeddings from any format to any other; the suffixes say which.

    Several languages, each as LANG=FILE, go together into one file of a format that holds them.

    A .safetensors file opens at once, whatever its size: worth it for what is read again and again.

    \b
    Example:
        geomm convert wiki.en.vec wiki.en.safetensors --max-words 200000
        geomm convert en=aligned/en.vec es=aligned/es.vec space.parquet
    """
    written = writing_format(target, precision)
    files = {"": sources[0]} if _is_one(sources) else options.existing_files(sources)
    for file in files.values():
        check_exists(Path(file))
    outputs = written.outputs(target)
    inputs = [part for file in files.values() for part in files_of(Path(file))]
    refuse_inputs(outputs, inputs, "Choose another name for the new file.")
    refuse_neighbors(target, outputs)
    with progress.shown(quiet):
        read = (
            {"": read_embeddings(sources[0], max_words=max_words)}
            if _is_one(sources)
            else read_languages(files, max_words=max_words)
        )
        if "" in read:
            written = written.for_embeddings(read[""])
            write_embeddings(read[""], target, format=written)
        else:
            write_space(read, target)
    words, dimension = sum(map(len, read.values())), next(iter(read.values())).dimension
    if as_json:
        row = {"path": str(target), "format": written.name, "words": words, "dimension": dimension}
        show_json(json.dumps(row, ensure_ascii=False))
    elif not quiet:
        show(f"Wrote {target}  {words:,} words x {dimension}")


def _is_one(sources: tuple[str, ...]) -> bool:
    """True for one file without a language."""
    return len(sources) == 1 and ("=" not in sources[0] or Path(sources[0]).exists())
