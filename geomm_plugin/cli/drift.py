"""`geomm drift`: the words that moved between two corpora of one language."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from geomm_plugin import drift
from geomm_plugin.alignment.inputs import read_words
from geomm_plugin.cli import forms, options
from geomm_plugin.errors import ParameterError
from geomm_plugin.evaluation.drift import MEASURES


@options.as_command
@options.space_options("OLD=FILE NEW=FILE [WORD...]")
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
@options.fit_options(
    "procrustes",
    learns=False,
    what="What aligns both files, on the words they share: a name that `geomm mappers` lists.",
)
@options.table_options
@options.run_options()
def command(
    files: options.SpaceFiles,
    words: Path | None,
    fit: options.Fit,
    output: options.TableOutput,
    run: options.Run,
    **shown: Any,
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
    specs, asked = files.embeddings[:2], list(files.embeddings[2:])
    if len(specs) < 2 or not all("=" in text for text in specs):
        raise ParameterError(
            "Drift compares two files, each with a name: old=1990.vec new=2010.vec. Words to ask "
            "about come after them."
        )
    chosen = fit.make_mapper()
    if words is not None:
        asked += read_words(words)
    with run.shown():
        read = files.read(specs)
        only = asked if words is not None or asked else None
        old, new = read.values()
        moved = drift(old, new, chosen, words=only, names=tuple(read), **shown)
    output.show(moved)
