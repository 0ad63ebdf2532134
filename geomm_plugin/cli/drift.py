"""`geomm drift`: the words that moved between two corpora of one language."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from geomm_plugin.cli import options
from geomm_plugin.cli.config import Command
from geomm_plugin.cli.output import TableOutput, check_outputs, table_options
from geomm_plugin.errors import ParameterError
from geomm_plugin.evaluation.drift import MEASURES, Measure, drift
from geomm_plugin.files.text_lines import read_lines


@click.command(cls=Command)
@click.argument("arguments", nargs=-1, required=True, metavar="OLD=FILE NEW=FILE [WORD...]")
@click.option(
    "--words",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="Ask about the words of this file, one a line, as about each WORD.",
)
@click.option(
    "--top",
    default=20,
    show_default=True,
    type=click.IntRange(min=1),
    help="How many words to show, if none are asked about.",
)
@click.option(
    "--by",
    type=click.Choice(MEASURES),
    default="score",
    show_default=True,
    help="The measure that sorts the words: `score` compares the distance with that of words of "
    "similar frequency, `local` compares neighbours (slower).",
)
@click.option(
    "--neighbors",
    default=5,
    show_default=True,
    type=click.IntRange(min=0),
    help="Nearest words to show, before and after.",
)
@click.option(
    "--trim",
    default=0.1,
    show_default=True,
    type=click.FloatRange(0, 1, max_open=True),
    help="The share of words, those that moved most, without which the mapper is fitted again.",
)
@options.fit_options(
    "procrustes",
    learns=False,
    what="What aligns both files, on the words they share: a name that `geomm mappers` lists.",
)
@table_options
@options.space_options(files=False)
@options.run_options()
def command(
    arguments: tuple[str, ...],
    words: Path | None,
    top: int,
    by: Measure,
    neighbors: int,
    trim: float,
    fit: options.Fit,
    output: TableOutput,
    files: options.SpaceFiles,
    run: options.Run,
) -> None:
    """Show the words that moved most between two corpora of one language.

    Two times, two domains or two dialects: both files are aligned on the words they share. Rare
    words have noisy vectors and lie farther apart even where nothing changed; --max-words leaves
    them out, and the score compares each word with others of similar frequency.

    \b
    Examples:
        geomm drift old=1990.vec new=2010.vec
        geomm drift 1990=1990.vec 2010=2010.vec broadcast cell --neighbors 10
        geomm drift news=news.vec medicine=medicine.vec --max-words 20000 --json
    """
    specs, asked = arguments[:2], list(arguments[2:])
    if len(specs) < 2 or not all("=" in text for text in specs):
        raise ParameterError(
            "Drift compares two files, each with a name: old=1990.vec new=2010.vec. Words to ask "
            "about come after them."
        )
    check_outputs(specs)
    chosen = fit.make_mapper()
    if words is not None:
        asked += [line.strip() for line in read_lines(words) if line.strip()]
    with run.shown():
        read = replace(files, embeddings=specs).read()
        old, new = read.values()
        moved = drift(
            old,
            new,
            chosen,
            top=top,
            by=by,
            words=None if words is None and not asked else asked,
            neighbors=neighbors,
            trim=trim,
            names=tuple(read),
        )
    output.show(moved)
