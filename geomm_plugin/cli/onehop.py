"""`geomm onehop`: translate through a pivot language."""

from __future__ import annotations

import click

from geomm_plugin.cli import options
from geomm_plugin.cli.config import Configurable
from geomm_plugin.cli.output import TableOutput, check_outputs, table_options
from geomm_plugin.evaluation.mapper_choice import choose_mappers
from geomm_plugin.evaluation.one_hop import DEFAULT_METHODS, MAPPERS, METHODS, one_hop
from geomm_plugin.registry import as_retrieval


@click.command(cls=Configurable)
@options.space_options()
@options.fit_options(MAPPERS)
@options.tests_option
@click.option(
    "--pivot", metavar="LANG", help="The language in between; by default the only possible one."
)
@options.retrieval_option
@click.option(
    "--method",
    multiple=True,
    type=click.Choice(METHODS),
    default=DEFAULT_METHODS,
    show_default=True,
    help="How to go through the pivot; pivot_space is the paper's own composition. Repeatable.",
)
@click.option(
    "--disjoint-pivot",
    is_flag=True,
    help="Let the two training dictionaries share no pivot word, as in the paper.",
)
@table_options
@options.run_options()
def command(
    files: options.SpaceFiles,
    fit: options.Fit,
    test: tuple[str, ...],
    pivot: str | None,
    retrieval: str,
    method: tuple[str, ...],
    disjoint_pivot: bool,
    output: TableOutput,
    run: options.Run,
) -> None:
    """Translate from one language to another through a third, and compare the ways to do it.

    Composition maps all three languages into one space by a mapper for two; pivot_space compares
    words in the pivot's own space (x W1 W2 z', as in the paper); a pipeline translates twice; a
    joint method learns the space of all three languages at once.

    \b
    Example:
        geomm onehop fr=wiki.fr.vec it=wiki.it.vec pt=wiki.pt.vec --dictionary fr-it=fr-it.txt \\
            --dictionary it-pt=it-pt.txt --test fr-pt=fr-pt.txt
    """
    check_outputs()
    chosen = choose_mappers(fit.mapper, fit.set)
    ranked = as_retrieval(retrieval)
    with run.shown():
        read = files.read()
        train = fit.read(read)
        tests = options.read_pairs(test, read)
        table = one_hop(
            read,
            train,
            tests,
            mappers=chosen,
            pivot=pivot,
            retrieval=ranked,
            disjoint=disjoint_pivot,
            methods=method,
        )
    output.show(table)
