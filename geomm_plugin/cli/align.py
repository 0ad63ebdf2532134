"""`geomm align`: fit a mapper and export every language into the shared space."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from geomm_plugin.alignment.run import Alignment, align
from geomm_plugin.cli import forms, options
from geomm_plugin.cli.config import Configurable
from geomm_plugin.errors import ParameterError, UnknownNameError
from geomm_plugin.registry.parameters import choice_text, split_specs

LARGER, SMALL = 1.2, 2**20  # times, bytes: from there on the size of text is worth a line


@click.command(cls=Configurable)
@options.space_options()
@options.fit_options("geomm")
@click.option(
    "--output",
    "-o",
    type=forms.Written(is_folder=True),
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
    "--into",
    metavar="LANG",
    help="Leave this language as it is, and move the others into its own coordinates.",
)
@click.option(
    "--rerank",
    is_flag=True,
    help="Learn weights for the retrieval reranked by one more fit; the mapper keeps them.",
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
@options.run_options(jobs=options.CORES, cluster=True, as_json=options.WRITTEN)
def command(
    files: options.SpaceFiles,
    fit: options.Fit,
    output: Path,
    suffix: str,
    extra_words: tuple[str, ...],
    keep_length: bool,
    into: str | None,
    rerank: bool,
    neighborhoods: bool,
    resume: bool,
    precision: int | None,
    run: options.Run,
) -> None:
    """Align two or more languages: fit a mapper, write LANG.vec for each and the mapper itself.

    Vectors are exported at unit length, ready for cosine similarity; --keep-length keeps theirs.
    The files appear together at the end, each whole; what they replace stays until then. A run that
    was stopped goes on where it was with --resume: a file is written again only if the mapper, the
    content of an input or an option has changed.

    With --into es no es.vec is written: compare the other files with the one given for es.

    \b
    Example:
        geomm align en=wiki.en.vec es=wiki.es.vec --dictionary en-es=en-es.0-5000.txt \\
            --mapper geomm --set regularization=100 --output aligned/
    """
    paths = files.paths()
    if fit.make_mapper().needs_dictionary and not fit.has_dictionaries:
        raise ParameterError(options.NOTHING_TO_LEARN)
    with run.shown(), _named_as_options():
        alignment = align(
            paths,
            options.read_pairs(fit.dictionary, paths),
            fit.mapper,
            output=output,
            identical=[options.language_pair(name, paths) for name in fit.identical],
            cognates=[options.language_pair(name, paths) for name in fit.cognates],
            rerank=rerank,
            settings=fit.set,
            max_words=files.max_words,
            suffix=suffix,
            precision=precision,
            extra_words=split_specs(extra_words, "LANG=FILE, e.g. en=words.txt"),
            keep_length=keep_length,
            into=into,
            neighborhoods=neighborhoods,
            resume=resume,
            jobs=run.jobs,
            cluster=run.cluster,
        )
    run.report(_row(alignment), f"{alignment}{_advice(alignment, paths, precision)}")


def _advice(alignment: Alignment, paths: Mapping[str, str], precision: int | None) -> str:
    """Say how text becomes smaller, where it is much larger than the text that it was made from."""
    suffixes = {Path(path).suffix for path in paths.values()}
    suffixes |= {path.suffix for path in alignment.paths.values()}
    if precision is not None or suffixes != {".vec"} or not alignment.written:
        return ""
    given = sum(Path(paths[language]).stat().st_size for language in alignment.written)
    made = sum(alignment.paths[language].stat().st_size for language in alignment.written)
    if made < max(LARGER * given, SMALL):
        return ""
    return f"\nThe text is {made / given:.1f} times its input: --precision 5 writes fewer digits."


@contextmanager
def _named_as_options() -> Iterator[None]:
    """Let an error name the option where the library names the parameter."""
    try:
        yield
    except UnknownNameError as error:
        raise UnknownNameError(str(error).replace("extra_words of", "--extra-words of")) from error
    except ParameterError as error:
        text = re.sub("into='([^']*)'", r"--into \1", str(error)).replace("`into`", "--into")
        raise ParameterError(text) from error


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
