"""Choices with parameters as they are typed: `csls`, `csls:k=5`, `geomm:regularization=100`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click

from geomm_plugin import registry
from geomm_plugin.errors import ParameterError
from geomm_plugin.mapper import Mapper
from geomm_plugin.parameters import parameters_of, parse_settings, split_choice, split_specs
from geomm_plugin.registry import as_retrieval, get_mapper
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
        metavar="NAME[:PARAMETER=VALUE,...]",
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
    metavar="NAME[:PARAMETER=VALUE,...]",
    help="How target words are ranked, e.g. cosine or csls:k=5. Repeatable.",
)
metrics_option = click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="e.g. p@1; by default all. Without mrr large vocabularies take less time. Repeatable.",
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


def make_mappers(choices: Iterable[str], settings: Iterable[str]) -> list[Mapper]:
    """Make the mappers chosen ("all": every registered one); settings go to all that know them."""
    common = split_specs(settings, "NAME=VALUE, e.g. regularization=100")
    names = list(choices)
    if "all" in names:
        at = names.index("all")
        rest = [name for name in registry.mappers if name not in names]
        names[at:] = rest + [name for name in names[at:] if name != "all"]
    used: set[str] = set()
    made = []
    for choice in names:
        name, texts = split_choice(choice)
        found = registry.mappers[name]
        known = {n: text for n, text in common.items() if n in parameters_of(found)}
        used |= set(known)
        values: dict[str, Any] = parse_settings(found, known | texts)
        made.append(get_mapper(name, **values))
    for unknown in set(common) - used:
        raise ParameterError(f"None of the mappers has a parameter {unknown!r}. Leave it out.")
    return made
