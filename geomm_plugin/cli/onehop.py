"""`geomm onehop`: translate through a pivot language."""

from __future__ import annotations

import click

from geomm_plugin import progress
from geomm_plugin.cli import choices, options
from geomm_plugin.cli.terminal import show, show_json
from geomm_plugin.errors import ParameterError
from geomm_plugin.evaluation.one_hop import MAPPERS, one_hop


@click.command()
@options.embeddings_argument
@options.dictionary_option
@options.identical_option
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
@click.option("--markdown", is_flag=True, help="Print the table in Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list, one object a row.")
@options.max_words_option
@options.quiet_option
def command(
    embeddings: tuple[str, ...],
    dictionaries: tuple[str, ...],
    identical: tuple[str, ...],
    tests: tuple[str, ...],
    pivot: str | None,
    mappers: tuple[str, ...],
    settings: tuple[str, ...],
    retrieval: str,
    disjoint_pivot: bool,
    markdown: bool,
    as_json: bool,
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
    if markdown and as_json:
        raise ParameterError("Choose one of --markdown and --json.")
    chosen = choices.make_mappers(mappers, settings)
    ranked = choices.make_retrievals([retrieval])[0]
    with progress.shown(quiet):
        read = options.read_all(embeddings, max_words)
        train = options.read_dictionaries(dictionaries, identical, read)
        test = options.read_dictionaries(tests, (), read)
        found = one_hop(
            read,
            train,
            test,
            mappers=chosen,
            pivot=pivot,
            retrieval=ranked,
            disjoint=disjoint_pivot,
        )
    if as_json:
        show_json(found.to_json())
    else:
        show(found.to_markdown() if markdown else str(found), nl=not markdown)
