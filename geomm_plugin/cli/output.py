"""How tables are printed and written: --markdown, --csv, --json and --latex, in every command."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from geomm_plugin.cli import options
from geomm_plugin.cli.terminal import show, show_data, show_json
from geomm_plugin.errors import ParameterError
from geomm_plugin.evaluation.tables import Table
from geomm_plugin.files import disk
from geomm_plugin.files.atomic import written_beside


@dataclass(frozen=True)
class TableOutput:
    """The ways in which a command was asked to show its table."""

    form: str | None  # markdown, csv, json; None: columns of text
    latex: Path | None

    def check(self, embeddings: Iterable[str], lists: Iterable[str]) -> None:
        """Find out before the work whether the file can be written, and that it is no input."""
        if self.latex is not None:
            options.check_output(self.latex, embeddings, lists)

    def show(self, table: Table) -> None:
        """Print the table, and, whether it could be printed or not, write it as LaTeX if asked."""
        try:
            if self.form == "json":
                show_json(table.to_json())
            elif self.form == "csv":
                show_data(table.to_csv())
            elif self.form == "markdown":
                show(table.to_markdown(), nl=False)
            else:
                show(str(table))
        finally:
            if self.latex is not None:
                write_text(self.latex, table.to_latex())


def table_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options to a command, which gets them together as `output`."""

    @click.option("--markdown", is_flag=True, help="Print the table in Markdown.")
    @click.option("--csv", "as_csv", is_flag=True, help="Print all numbers as CSV.")
    @click.option("--json", "as_json", is_flag=True, help="Print a JSON list, one object a row.")
    @click.option(
        "--latex",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Write the table to this file, too, in LaTeX (booktabs).",
    )
    @functools.wraps(command)
    def with_output(
        *args: Any, markdown: bool, as_csv: bool, as_json: bool, latex: Path | None, **rest: Any
    ) -> None:
        if markdown + as_csv + as_json > 1:
            raise ParameterError("Choose one of --markdown, --csv and --json.")
        asked = {"markdown": markdown, "csv": as_csv, "json": as_json}
        form = next((name for name, chosen in asked.items() if chosen), None)
        command(*args, output=TableOutput(form, latex), **rest)

    return with_output


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print what was written as one JSON object."
)


def write_text(path: Path, text: str) -> None:
    """Write a file that appears whole or not at all."""
    with written_beside(path) as part:
        disk.write_file(part, text.encode("utf-8", "backslashreplace"))
