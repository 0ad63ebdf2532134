"""`geomm migrate`: an old index under a new embedding model."""

from __future__ import annotations

from pathlib import Path

import click

from geomm_plugin.cli import forms, options
from geomm_plugin.errors import ParameterError
from geomm_plugin.formats import format_by, read_embeddings
from geomm_plugin.migration import MAPPERS, NEW, OLD, migrate


@options.as_command
@options.space_options("OLD=FILE NEW=FILE")
@options.option(
    "--by",
    "The column of ids in .parquet and .arrow files; in others, the words are the ids.",
    metavar="COLUMN",
)
@options.several(
    "--threshold",
    "A cosine of old rows that you decide by; the table says what it becomes.",
    type=click.FloatRange(-1, 1),
    metavar="COSINE",
)
@options.fit_options(
    MAPPERS, learns=False, what="A name that `geomm mappers` lists; the best is taken."
)
@options.option(
    "--output -o folder",
    "Write the adapters, a mapper and a README.md to this folder.",
    type=forms.Output(path_type=Path, file_okay=False),
    envvar="GEOMM_MIGRATE_OUTPUT",
)
@options.table_options
@options.run_options()
def command(
    files: options.SpaceFiles,
    by: str | None,
    threshold: tuple[float, ...],
    fit: options.Fit,
    folder: Path | None,
    output: options.TableOutput,
    run: options.Run,
) -> None:
    """Move an index to a new embedding model, and say what that finds.

    OLD holds the rows of the index, NEW some of them as the new model embeds them. A map learns
    from rows of one id. Rows held out of it say how much of what full re-embedding would find the
    moved index finds, and moved queries in the old index.

    \b
    Examples:
        geomm migrate old=old.parquet new=new.parquet --by id --output adapter
        geomm migrate old=old.vec new=new.vec --threshold 0.8 --json
    """
    paths = forms.language_files(files.embeddings)
    if len(paths) != 2 or [*paths] == [NEW, OLD]:
        raise ParameterError(
            "An index moves from one model to another: give two files, and no more, that of the "
            "old model first, such as old=old.parquet new=new.parquet."
        )
    with run.shown():
        old, new = (
            read_embeddings(path, max_words=files.max_words, format=format_by(path, by))
            for path in paths.values()
        )
        found = migrate(old, new, fit.make_mappers(), thresholds=threshold)
    try:
        output.show(found)
    finally:  # what cannot be printed costs nothing else, nor what cannot be written
        if folder is not None:
            found.save(folder)
