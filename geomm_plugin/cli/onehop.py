"""`geomm onehop`: translate through a pivot language."""

from __future__ import annotations

import click

from geomm_plugin.cli import options
from geomm_plugin.evaluation.one_hop import DEFAULT_METHODS, MAPPERS, METHODS, one_hop


@options.as_command
@options.config_option
@options.space_options()
@options.fit_options(MAPPERS)
@options.tests_option
@options.option(
    "--pivot", "The language in between; by default the only possible one.", metavar="LANG"
)
@options.retrieval_option
@options.several(
    "--method",
    "How to go through the pivot; pivot_space is the paper's own composition.",
    type=click.Choice(METHODS),
    default=DEFAULT_METHODS,
)
@options.switch(
    "--disjoint-pivot",
    "Let the two training dictionaries share no pivot word, as in the paper.",
)
@options.table_options
@options.run_options()
def command(
    files: options.SpaceFiles,
    fit: options.Fit,
    test: tuple[str, ...],
    pivot: str | None,
    retrieval: str,
    method: tuple[str, ...],
    disjoint_pivot: bool,
    output: options.TableOutput,
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
    mappers = fit.make_mappers()
    (ranked,) = options.make_retrievals([retrieval])
    with run.shown():
        read = files.read()
        table = one_hop(
            read,
            fit.read(read),
            options.read_pairs(test, read),
            mappers=mappers,
            pivot=pivot,
            retrieval=ranked,
            disjoint=disjoint_pivot,
            methods=method,
        )
    output.show(table)
