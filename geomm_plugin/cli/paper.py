"""`geomm paper`: the tables of the GeoMM paper, made again."""

from __future__ import annotations

from pathlib import Path

import click

from geomm_plugin.cli import forms, options
from geomm_plugin.cli.config import Configurable
from geomm_plugin.cli.terminal import show
from geomm_plugin.errors import ParameterError
from geomm_plugin.evaluation.paper.data import PaperFolder
from geomm_plugin.evaluation.paper.table import (
    MAX_WORDS,
    TableOfPaper,
    make_table,
    tables_with,
)

DEMO_WORDS = 2000  # of each language, so that all tables take two minutes


@click.command(cls=Configurable)
@click.argument("tables", nargs=-1, metavar="[table1...table8]")
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder with what `geomm fetch --folder` brought.",
)
@click.option("--demo", is_flag=True, help="Use the embedded data: the shape, not the numbers.")
@click.option(
    "--pair",
    multiple=True,
    type=forms.PAIR,
    help="Only this column; with MUSE's data also one that the paper does not have. Repeatable.",
)
@click.option(
    "--mapper",
    "-m",
    multiple=True,
    type=forms.MAPPER,
    help="Only this mapper's rows; one that the paper does not have gets its own. Repeatable.",
)
@click.option(
    "--max-words",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"Words of each language; by default {MAX_WORDS}, with --demo {DEMO_WORDS}.",
)
@click.option("--markdown", is_flag=True, help="Print the tables in Markdown.")
@options.run_options(jobs="Mappers fitted at the same time.", as_json="a cell")
def command(
    tables: tuple[str, ...],
    data: Path | None,
    demo: bool,
    pair: tuple[str, ...],
    mapper: tuple[str, ...],
    max_words: int | None,
    markdown: bool,
    run: options.Run,
) -> None:
    """Make the tables of the GeoMM paper again: ours, and in brackets published and difference.

    Without a name all eight, or those that have a --pair. Cells without data stay empty, and the
    lines that would fetch the data follow the table.

    \b
    Examples:
        geomm paper --demo
        geomm paper table2 --data data/ --pair en-it
    """
    if (data is None) != demo:
        raise ParameterError("Give either --data FOLDER (see `geomm fetch`) or --demo.")
    if run.json and markdown:
        raise ParameterError("Choose one of --json and --markdown.")
    if run.jobs == 0:
        raise ParameterError("--jobs is a number of processes, or -1 for all cores; it is 0.")
    source = _source(data)
    made = []
    with run.shown():
        chosen = {name: list(pair) for name in tables} or tables_with(pair, source)
        for name, own in chosen.items():
            table = make_table(
                name,
                source,
                pairs=own,
                mappers=mapper,
                max_words=max_words or (DEMO_WORDS if demo else MAX_WORDS),
                jobs=run.jobs,
            )
            made.append(table)
            if not run.json:
                _show(table, markdown)
    if run.json:
        run.report([row for table in made for row in table.rows])


def _source(folder: Path | None) -> PaperFolder:
    if folder is None:
        from geomm_plugin.demo.paper_data import DemoPaperData

        return DemoPaperData()
    return PaperFolder(folder)


def _show(table: TableOfPaper, markdown: bool) -> None:
    show(table.to_markdown() if markdown else f"{table}\n")
    if missing := table.missing():
        show(
            "Empty cells need (then --data FOLDER):\n"
            + "".join(f"    {line}\n" for line in missing)
        )
