"""`geomm align`: fit a mapper and export every language into the shared space."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from geomm_plugin import progress
from geomm_plugin.alignment.run import Alignment, align
from geomm_plugin.cli import forms, options
from geomm_plugin.cli.configuration import Configurable
from geomm_plugin.cli.output import json_option
from geomm_plugin.cli.terminal import show, show_json
from geomm_plugin.registry.parameters import choice_text, split_specs


@click.command(cls=Configurable)
@options.embeddings_argument
@options.dictionary_option
@options.identical_option
@options.cognates_option
@options.mapper_option
@options.set_option
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder for the aligned files and the mapper; made if it is not there.",
)
@click.option(
    "--suffix",
    default=".vec",
    show_default=True,
    type=forms.SUFFIX,
    help="Format of the aligned files.",
)
@click.option(
    "--extra-words",
    multiple=True,
    type=forms.LANG_FILE,
    help="Export these words too, one a line, with vectors from subwords (a fastText .bin).",
)
@click.option("--keep-length", is_flag=True, help="Export mapped vectors as long as they are.")
@click.option(
    "--rerank",
    is_flag=True,
    help="Learn weights for the retrieval reranked by three more fits; the mapper keeps them.",
)
@click.option(
    "--neighborhoods",
    is_flag=True,
    help="Save what CSLS compares beside the files, too, for quick first answers; it takes minutes "
    "for 200,000 words.",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Keep what an earlier run wrote there, if it is the same mapper, inputs and options.",
)
@options.precision_option
@options.max_words_option
@json_option
@options.jobs_option
@options.cluster_option
@options.quiet_option
def command(
    embeddings: tuple[str, ...],
    dictionaries: tuple[str, ...],
    identical: tuple[str, ...],
    cognates: tuple[str, ...],
    mapper: str,
    settings: tuple[str, ...],
    output: Path,
    suffix: str,
    extra_words: tuple[str, ...],
    keep_length: bool,
    rerank: bool,
    neighborhoods: bool,
    resume: bool,
    precision: int | None,
    max_words: int | None,
    as_json: bool,
    jobs: int,
    cluster: str | None,
    quiet: bool,
) -> None:
    """Align two or more languages: fit a mapper, write LANG.vec for each and the mapper itself.

    Vectors are exported at unit length, ready for cosine similarity; --keep-length keeps theirs.
    The files appear together at the end, each whole; what they replace stays until then. A run that
    was stopped goes on where it was with --resume: a file is written again only if the mapper, the
    content of an input or an option has changed.

    \b
    Example:
        geomm align en=wiki.en.vec es=wiki.es.vec --dictionary en-es=en-es.0-5000.txt \\
            --mapper geomm --set regularization=100 --output aligned/
    """
    paths = options.existing_files(embeddings)
    with progress.shown(quiet):
        alignment = align(
            paths,
            options.read_pairs(dictionaries, paths),
            mapper,
            output=output,
            identical=[options.language_pair(name, paths) for name in identical],
            cognates=[options.language_pair(name, paths) for name in cognates],
            rerank=rerank,
            settings=settings,
            max_words=max_words,
            suffix=suffix,
            precision=precision,
            extra_words=split_specs(extra_words, "LANG=FILE, e.g. en=words.txt"),
            keep_length=keep_length,
            neighborhoods=neighborhoods,
            resume=resume,
            jobs=jobs,
            cluster=cluster,
        )
    if as_json:
        show_json(json.dumps(_row(alignment), ensure_ascii=False))
    elif not quiet:
        show(str(alignment))


def _row(alignment: Alignment) -> dict[str, Any]:
    """Return what was written, and how the fit went, as plain values."""
    files = [
        {
            "language": language,
            "path": str(path),
            "state": "written" if language in alignment.written else "kept",
            **dict(zip(("words", "dimension"), alignment.shapes.get(language, ()), strict=False)),
        }
        for language, path in alignment.paths.items()
    ]
    return {
        "files": files,
        "mapper": {
            "path": str(alignment.mapper_path),
            "state": "kept" if alignment.mapper_kept else "written",
            "name": choice_text(alignment.mapper),
        },
        "report": alignment.report.to_json(times=False),
    }
