"""Choices with parameters as they are typed: `csls`, `csls:k=5`, `geomm:regularization=100`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click

from geomm_plugin.cli import forms
from geomm_plugin.registry import as_retrieval
from geomm_plugin.retrieval import Retrieval


def mappers_option(default: tuple[str, ...]) -> Callable[[Any], Any]:
    """Return the option that chooses several mappers."""
    return click.option(
        "--mapper",
        "-m",
        "mappers",
        multiple=True,
        default=default,
        show_default=True,
        type=forms.MAPPERS,
        help="A name that `geomm mappers` lists, e.g. geomm:regularization=100, or all. "
        "Repeatable.",
    )


retrievals_option = click.option(
    "--retrieval",
    "-r",
    "retrievals",
    multiple=True,
    default=("csls",),
    show_default=True,
    type=forms.RETRIEVAL,
    help="How target words are ranked, e.g. cosine or csls:k=5. Repeatable.",
)
metrics_option = click.option(
    "--metric",
    "metrics",
    multiple=True,
    type=forms.METRIC,
    help="e.g. p@1; by default all. Without mrr large vocabularies take less time. Repeatable.",
)
by_option = click.option(
    "--by",
    type=click.Choice(["spelling", "frequency", "translations"]),
    help="Tell P@1 of groups of words, too: of identical, cognate and different spelling; by "
    "frequency; by number of translations.",
)
oov_option = click.option(
    "--oov",
    type=click.Choice(["skip", "wrong"]),
    default="skip",
    show_default=True,
    help="Test words outside the vocabularies: leave them out, or count them as errors.",
)


def make_retrievals(choices: Iterable[str]) -> list[Retrieval]:
    """Make the retrievals chosen, each once."""
    made: dict[str, Retrieval] = {}
    for choice in choices:
        retrieval = as_retrieval(choice)
        made[retrieval.label] = retrieval
    return list(made.values())
