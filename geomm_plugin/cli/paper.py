"""`geomm paper`: the tables of the GeoMM paper, made again."""

from __future__ import annotations

from pathlib import Path

import click

from geomm_plugin.cli import forms, options
from geomm_plugin.cli.terminal import show
from geomm_plugin.demo.paper_data import DemoPaperData
from geomm_plugin.errors import ParameterError
from geomm_plugin.evaluation.paper.data import PaperFolder
from geomm_plugin.evaluation.paper.table import MAX_WORDS, make_table, tables_with

DEMO_WORDS = 2000  # of each language, so that all tables take two minutes


@options.as_command
@options.config_option
@click.argument("tables", nargs=-1, metavar="[table1...table8]")
@options.option("--data", "The folder with what `geomm fetch --folder` brought.", type=forms.FOLDER)
@options.switch("--demo", "Use the embedded data: the shape, not the numbers.")
@options.several(
    "--pair",
    "Only this column; with MUSE's data also one that the paper does not have.",
    type=forms.PAIR,
)
@options.several(
    "--mapper -m",
    "Only this mapper's rows; one that the paper does not have gets its own.",
    type=forms.MAPPER,
)
@options.option(
    "--max-words",
    f"Words of each language; by default {MAX_WORDS}, with --demo {DEMO_WORDS}.",
    type=forms.COUNT,
    metavar="N",
)
@options.switch("--markdown", "Print the tables in Markdown.")
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
    source = DemoPaperData() if data is None else PaperFolder(data)
    words = max_words or (DEMO_WORDS if demo else MAX_WORDS)
    rows = []
    with run.shown():
        chosen = {name: list(pair) for name in tables} or tables_with(pair, source)
        for name, own in chosen.items():
            made = make_table(
                name, source, pairs=own, mappers=mapper, max_words=words, jobs=run.jobs
            )
            rows += made.rows
            if run.json:
                continue
            show(made.to_markdown() if markdown else f"{made}\n")
            if missing := made.missing():
                lines = "".join(f"    {line}\n" for line in missing)
                show(f"Empty cells need (then --data FOLDER):\n{lines}")
    if run.json:
        run.report(rows)
