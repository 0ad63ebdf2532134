"""`geomm compare`: mappers against each other on the same data."""

from __future__ import annotations

import warnings
from pathlib import Path

import click

from geomm_plugin import progress
from geomm_plugin.cli import choices, html_report, options
from geomm_plugin.cli.terminal import show, show_data, show_json
from geomm_plugin.dictionary import CheckedDictionaries, oriented
from geomm_plugin.errors import ParameterError
from geomm_plugin.evaluation.comparison import compare
from geomm_plugin.evaluation.translation import UnknownWords


@click.command()
@options.embeddings_argument
@options.dictionary_option
@options.identical_option
@options.tests_option
@choices.mappers_option(("all",))
@options.set_option
@choices.retrievals_option
@choices.metrics_option
@choices.oov_option
@click.option("--baseline", metavar="MAPPER", help="Test against this one; by default the first.")
@click.option(
    "--jobs",
    "-j",
    type=int,
    default=1,
    show_default=True,
    help="Mappers fitted at the same time, each in its own process; -1 is one for each core.",
)
@click.option("--markdown", is_flag=True, help="Print the table in Markdown.")
@click.option("--csv", "as_csv", is_flag=True, help="Print all numbers as CSV.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list, one object a row.")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a page with tables, charts and the words that changed to this file.",
)
@options.max_words_option
@options.quiet_option
def command(
    embeddings: tuple[str, ...],
    dictionaries: tuple[str, ...],
    identical: tuple[str, ...],
    tests: tuple[str, ...],
    mappers: tuple[str, ...],
    settings: tuple[str, ...],
    retrievals: tuple[str, ...],
    metrics: tuple[str, ...],
    oov: UnknownWords,
    baseline: str | None,
    jobs: int,
    markdown: bool,
    as_csv: bool,
    as_json: bool,
    html: Path | None,
    max_words: int | None,
    quiet: bool,
) -> None:
    """Fit mappers on the same data, score them on the same words, and say whose lead is luck.

    P@1 comes with a 95 % bootstrap interval, and its difference from the baseline with the p-value
    of McNemar's paired test, adjusted for the number of mappers (Holm).

    \b
    Example:
        geomm compare en=wiki.en.vec es=wiki.es.vec --dictionary en-es=train.txt \\
            --test en-es=test.txt --mapper procrustes --mapper geomm:regularization=100 \\
            --html report.html
    """
    if markdown + as_csv + as_json > 1:
        raise ParameterError("Choose one of --markdown, --csv and --json.")
    chosen = choices.make_mappers(mappers, settings)
    if not (dictionaries or identical):
        raise ParameterError(options.NOTHING_TO_LEARN)
    if html is not None:
        options.check_output(html, embeddings, [*dictionaries, *tests])
    ranked = choices.make_retrievals(retrievals)
    with progress.shown(quiet):
        read = options.read_all(embeddings, max_words)
        train = options.read_dictionaries(dictionaries, identical, read)
        test = options.read_dictionaries(tests, (), read)
        _warn_of_overlap(train, test)
        found = compare(
            chosen,
            read,
            train,
            test,
            retrievals=ranked,
            metrics=metrics or None,
            baseline=baseline,
            oov=oov,
            answers=0 if html is None else html_report.ANSWERS,
            jobs=jobs,
        )
    if html is not None:
        html_report.write_report(html, found)
    failed = [run for run in found.runs if run.error is not None]
    if as_json:
        show_json(found.to_json())
    elif as_csv:
        show_data(found.to_csv())
    elif markdown:
        show(found.to_markdown(), nl=False)
    else:
        show(str(found))
    if len(failed) == len(found.runs):
        raise ParameterError(f"No mapper could be compared. {failed[0].label}: {failed[0].error}")


def _warn_of_overlap(train: CheckedDictionaries, tests: CheckedDictionaries) -> None:
    """Say how many test words the mappers learn by heart."""
    for (source, target), test in tests.items():
        words = {word for word, _ in test}
        known = words & {word for word, _ in oriented(train, source, target)}
        if known:
            warnings.warn(
                f"{len(known)} of the {len(words)} test words of {source}-{target} are in its "
                f"training dictionary, too, e.g. {min(known)!r}: what is learnt by heart is no "
                "translation. Take them out of one of the two.",
                stacklevel=2,
            )
