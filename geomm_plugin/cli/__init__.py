"""The command line: one file per command; each calls the public API and nothing else."""

from __future__ import annotations

import click


@click.group()
def main() -> None:
    """Align word embeddings across languages."""
