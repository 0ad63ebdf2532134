"""`geomm convert`: embeddings from one file format into another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import click

from geomm_plugin.alignment.conversion import Converted, convert
from geomm_plugin.alignment.space import write_space
from geomm_plugin.cli import options
from geomm_plugin.cli.config import Command
from geomm_plugin.files.outputs import refuse_inputs
from geomm_plugin.formats import files_of, read_languages, refuse_neighbors, writing_format


@click.command(cls=Command)
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE | LANG=FILE...")
@click.argument("target", type=click.Path(path_type=Path))
@options.space_options(files=False)
@click.option(
    "--encoding", metavar="NAME", help="The encoding of words that are not in UTF-8, e.g. latin-1."
)
@options.precision_option
@options.run_options(jobs=options.CORES, cluster=True, as_json=options.WRITTEN)
def command(
    sources: tuple[str, ...],
    target: Path,
    files: options.SpaceFiles,
    encoding: str | None,
    precision: int | None,
    run: options.Run,
) -> None:
    """Convert embeddings from any format to any other; the suffixes say which.

    Several languages, each as LANG=FILE, go together into one file of a format that holds them.

    A .safetensors file opens at once, whatever its size: worth it for what is read again and again.

    \b
    Example:
        geomm convert wiki.en.vec wiki.en.safetensors --max-words 200000
        geomm convert en=aligned/en.vec es=aligned/es.vec space.parquet
    """
    with run.shown():
        if _is_one(sources):
            converted = convert(
                sources[0],
                target,
                max_words=files.max_words,
                precision=precision,
                encoding=encoding,
                jobs=run.jobs,
                cluster=run.cluster,
            )
        else:
            paths = options.existing_files(sources)
            converted = _join(paths, target, files.max_words, precision, encoding)
    text = f"Wrote {target}  {converted.words:,} words x {converted.dimension}"
    run.report({"path": str(target)} | asdict(converted), text)


def _join(
    files: Mapping[str, str],
    target: Path,
    max_words: int | None,
    precision: int | None,
    encoding: str | None,
) -> Converted:
    """Put several languages into one file."""
    written = writing_format(target, precision)
    outputs = written.outputs(target)
    inputs = [part for file in files.values() for part in files_of(Path(file))]
    refuse_inputs(outputs, inputs, "Choose another name for the new file.")
    refuse_neighbors(target, outputs)
    read = read_languages(files, max_words=max_words, encoding=encoding)
    write_space(read, target)
    words, dimension = sum(map(len, read.values())), next(iter(read.values())).dimension
    return Converted(written.name, words, dimension)


def _is_one(sources: tuple[str, ...]) -> bool:
    """True for one file without a language."""
    return len(sources) == 1 and ("=" not in sources[0] or Path(sources[0]).exists())
