"""What commands write: no output is an input; tables as --markdown, --csv, --json and --latex."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os.path import realpath
from pathlib import Path

import click

from geomm_plugin.alignment.record import MAPPER, NAME
from geomm_plugin.cli import forms, options
from geomm_plugin.cli.config import CONFIGURATION
from geomm_plugin.cli.terminal import show, show_data, show_json
from geomm_plugin.errors import ParameterError
from geomm_plugin.evaluation.table import Table
from geomm_plugin.files import disk
from geomm_plugin.files.atomic import atomic_file, check_output
from geomm_plugin.files.outputs import is_stream, refuse_inputs
from geomm_plugin.formats import files_of
from geomm_plugin.retrieval.neighborhood_file import means_beside
from geomm_plugin.storage import JSON_NAME, saved_files


@dataclass(frozen=True)
class TableOutput:
    """How a command was asked to show its table; by default as columns of text."""

    markdown: bool
    csv: bool
    json: bool
    latex: Path | None

    def __post_init__(self) -> None:
        if self.markdown + self.csv + self.json > 1:
            raise ParameterError("Choose one of --markdown, --csv and --json.")

    def show(self, table: Table) -> None:
        """Print the table, and, whether it could be printed or not, write it as LaTeX if asked."""
        try:
            if self.json:
                show_json(table.to_json())
            elif self.csv:
                show_data(table.to_csv())
            elif self.markdown:
                show(table.to_markdown(), nl=False)
            else:
                show(str(table))
        finally:
            if self.latex is not None:
                write_text(self.latex, table.to_latex())


table_options = options.as_group(
    "output",
    TableOutput,
    click.option("--markdown", is_flag=True, help="Print the table in Markdown."),
    click.option("--csv", is_flag=True, help="Print all numbers as CSV."),
    options.json_option("a row"),
    click.option(
        "--latex", type=forms.OUTPUT, help="Write the table to this file, too, in LaTeX (booktabs)."
    ),
)


def check_outputs(embeddings: Iterable[str] = (), others: Iterable[Path] = ()) -> None:
    """Find out before the work whether all files can be written, and that none is an input.

    Outputs are the options of the form OUTPUT; an input is every other file that the command was
    given: by an option, the environment or a configuration, and what is read beside it.

    Parameters
    ----------
    embeddings, others
        LANG=FILE and paths, where they stand among other arguments.
    """
    context = click.get_current_context()
    given = [(param, context.params.get(param.name or "")) for param in context.command.params]
    outputs = [path for param, path in given if path and isinstance(param.type, forms.Output)]
    if not outputs:
        return
    inputs = [*_files_read(embeddings), *others]
    for param, value in given:
        values = value if isinstance(value, tuple) else () if value is None else (value,)
        if param.name == "embeddings":
            inputs += _files_read(options.with_space(values))
        elif isinstance(param.type, click.Path) and not isinstance(param.type, forms.Output):
            inputs += values
        elif isinstance(param.type, forms.Named) and param.type.has_path:
            inputs += [Path(text.partition("=")[2]) for text in values]
    inputs += filter(None, [context.meta.get(CONFIGURATION)])
    files = [file for path in inputs for file in saved_files(path) or [path]]
    refuse_inputs(outputs, files, "Choose another name for the output.")
    for number, output in enumerate(outputs):
        check_output(output)
        if not is_stream(output) and realpath(output) in map(realpath, outputs[:number]):
            raise ParameterError(f"{output} is named for two outputs. Choose a file for each.")


def _files_read(embeddings: Iterable[str]) -> Iterator[Path]:
    """Return the files that LANG=FILE stand for, and what is read beside aligned ones."""
    for path in (Path(text.partition("=")[2]) for text in embeddings if "=" in text):
        yield from files_of(path) if path.exists() else ()
        yield from (path.parent / NAME, path.parent / MAPPER / JSON_NAME)
        yield from filter(None, [means_beside(path)])


def write_text(path: Path, text: str) -> None:
    """Write a file that appears whole or not at all."""
    with atomic_file(path) as part:
        disk.write_file(part, text.encode("utf-8", "backslashreplace"))
