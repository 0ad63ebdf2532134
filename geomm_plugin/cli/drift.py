"""`geomm drift`: the words that moved between corpora of one language."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path
from typing import Any

import click

from geomm_plugin import drift
from geomm_plugin.alignment.inputs import read_words
from geomm_plugin.cli import forms, options
from geomm_plugin.errors import ParameterError
from geomm_plugin.evaluation.drift import MEASURES


@options.as_command
@options.space_options("NAME=FILE NAME=FILE... [WORD...]")
@options.option(
    "--words", "Ask about the words of this file, one a line, as about each WORD.", type=forms.FILE
)
@options.option(
    "--top", "How many words to show, if none are asked about.", default=20, type=forms.COUNT
)
@options.option(
    "--by",
    "The measure that sorts the words: `score` compares the distance with that of words of similar "
    "frequency, `local` compares neighbours (slower).",
    type=click.Choice(MEASURES),
    default="score",
)
@options.option(
    "--neighbors",
    "Nearest words to show, before and after.",
    default=5,
    type=click.IntRange(min=0),
)
@options.option(
    "--trim",
    "The share of words, those that moved most, without which the mapper is fitted again.",
    default=0.1,
    type=click.FloatRange(0, 1, max_open=True),
)
@options.option(
    "--null",
    "Two files between which nothing changed, halves of one corpus or two runs on it: each word "
    "gets a q, the share of chance among all that look so extreme.",
    nargs=2,
    metavar="A=FILE B=FILE",
    type=forms.LANG_FILE,
)
@options.option(
    "--resamples",
    "Fits on random halves of the shared words, for an interval of each distance, e.g. 100.",
    default=0,
    type=click.IntRange(min=0),
)
@options.fit_options(
    "procrustes",
    learns=False,
    what="What aligns the files, on the words they share: a name that `geomm mappers` lists.",
)
@options.table_options
@options.run_options()
def command(
    files: options.SpaceFiles,
    words: Path | None,
    null: tuple[str, ...] | None,
    fit: options.Fit,
    output: options.TableOutput,
    run: options.Run,
    **shown: Any,
) -> None:
    """Show the words that moved most between corpora of one language.

    Two times or more, domains or dialects: the files are aligned on the words they share. Rare
    words have noisy vectors and lie farther apart even where nothing changed; --max-words leaves
    them out, and the score compares each word with others of similar frequency.

    \b
    Examples:
        geomm drift old=1990.vec new=2010.vec
        geomm drift 1990=1990.vec 2010=2010.vec broadcast cell --neighbors 10
        geomm drift 1990=1990.vec 2000=2000.vec 2010=2010.vec --mapper gpa
        geomm drift 1990=1990.vec 2010=2010.vec --null a=half1.vec b=half2.vec
        geomm drift news=news.vec medicine=medicine.vec --max-words 20000 --json
    """
    specs = list(takewhile(lambda text: "=" in text, files.embeddings))
    asked = list(files.embeddings[len(specs) :])
    if len(specs) < 2:
        raise ParameterError(
            "Drift compares two files or more, each with a name: old=1990.vec new=2010.vec. Words "
            "to ask about come after them."
        )
    chosen = fit.make_mapper()
    if words is not None:
        asked += read_words(words)
    with run.shown():
        read = files.read(specs)
        only = asked if words is not None or asked else None
        unchanged = files.read(null) if null else None
        moved = drift(read, None, chosen, words=only, null=unchanged, **shown)
    output.show(moved)
