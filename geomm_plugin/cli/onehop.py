"""`geomm onehop`: translate through a pivot language."""

from __future__ import annotations

import click

from geomm_plugin import progress
from geomm_plugin.cli import choices, options
from geomm_plugin.cli.configuration import Configurable
from geomm_plugin.cli.output import TableOutput, check_outputs, table_options
from geomm_plugin.evaluation.contestants import choose_mappers
from geomm_plugin.evaluation.one_hop import MAPPERS, one_hop
from geomm_plugin.registry import as_retrieval


@click.command(cls=Configurable)
@options.embeddings_argument
@options.dictionary_option
@options.identical_option
@options.cognates_option
@options.tests_option
@click.option(
    "--pivot", metavar="LANG", help="The language in between; by default the only possible one."
)
@choices.mappers_option(MAPPERS)
@options.set_option
@options.retrieval_option
@click.option(
    "--disjoint-pivot",
    is_flag=True,
    help="Let the two training dictionaries share no pivot word, as in the paper.",
)
@table_options
@options.max_words_option
@options.quiet_option
def command(
    embeddings: tuple[str, ...],
    dictionaries: tuple[str, ...],
    identical: tuple[str, ...],
    cognates: tuple[str, ...],
    tests: tuple[str, ...],
    pivot: str | None,
    mappers: tuple[str, ...],
    settings: tuple[str, ...],
    retrieval: str,
    disjoint_pivot: bool,
    output: TableOutput,
    max_words: int | None,
    quiet: bool,
) -> None:
    """Translate from one language to another through a third, and compare the ways to do it.

    Composition maps both languages to the pivot's space; a pipeline translates twice; a joint
    method learns the space of all three languages at once.

    \b
    Example:
        geomm onehop fr=wiki.fr.vec it=wiki.it.vec pt=wiki.pt.vec --dictionary fr-it=fr-it.txt \\
            --dictionary it-pt=it-pt.txt --test fr-pt=fr-pt.txt
    """
    check_outputs()
    chosen = choose_mappers(mappers, settings)
    ranked = as_retrieval(retrieval)
    with progress.shown(quiet):
        read = options.read_all(embeddings, max_words)
        train = options.read_dictionaries(dictionaries, identical, read, cognates)
        test = options.read_dictionaries(tests, (), read)
        table = one_hop(
            read,
            train,
            test,
            mappers=chosen,
            pivot=pivot,
            retrieval=ranked,
            disjoint=disjoint_pivot,
        )
    output.show(table)
