"""`geomm check`: tell whether files and folders are whole, and what they claim to be."""

from __future__ import annotations

import json
from pathlib import Path

import click

from geomm_plugin import progress
from geomm_plugin.alignment.inspection import check
from geomm_plugin.cli import options
from geomm_plugin.cli.terminal import show, show_json


@click.command()
@click.argument(
    "paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH..."
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list, one object a finding.")
@options.quiet_option
def command(paths: tuple[Path, ...], as_json: bool, quiet: bool) -> None:
    """Check that files of embeddings, saved mappers and folders of aligned files are whole.

    Checksums, sizes, numbers that are not finite, words that repeat, the .neighborhoods beside a
    file; in a folder that `geomm align` wrote, every file against the hash in align.json. One line
    a finding; the exit status is 0 if all is whole, else 1. Nothing is changed.

    \b
    Example:
        geomm check aligned/ wiki.en.vec
    """
    with progress.shown(quiet or as_json):
        findings = check(*paths)
    if as_json:
        show_json(json.dumps([finding.row() for finding in findings], ensure_ascii=False))
    else:
        for finding in findings:
            if finding.problem or not quiet:
                show(str(finding))
    if any(finding.problem for finding in findings):
        raise SystemExit(1)
