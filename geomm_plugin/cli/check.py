"""`geomm check`: tell whether files and folders are whole, and what they claim to be."""

from __future__ import annotations

from pathlib import Path

import click

from geomm_plugin.alignment import check
from geomm_plugin.cli import forms, options
from geomm_plugin.cli.terminal import show


@options.as_command
@click.argument("paths", nargs=-1, required=True, type=forms.PATH, metavar="PATH...")
@options.run_options(as_json="a finding")
def command(paths: tuple[Path, ...], run: options.Run) -> None:
    """Check that files of embeddings, saved mappers and folders of aligned files are whole.

    Checksums, sizes, numbers that are not finite, words that repeat, the .neighborhoods beside a
    file; in a folder that `geomm align` wrote, every file against the hash in align.json. One line
    a finding; the exit status is 0 if all is whole, else 1. Nothing is changed.

    \b
    Example:
        geomm check aligned/ wiki.en.vec
    """
    with run.shown():
        findings = check(*paths)
    if run.json:
        run.report([finding.row() for finding in findings])
    for finding in findings:
        if not run.json and (finding.problem or not run.quiet):
            show(finding)
    if any(finding.problem for finding in findings):
        raise SystemExit(1)
