"""`geomm convert`: embeddings from one file format into another."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from geomm_plugin.alignment.conversion import convert
from geomm_plugin.cli import forms, options


@options.as_command
@options.space_options("SOURCE | LANG=FILE...")
@click.argument("target", type=forms.PATH)
@options.option(
    "--encoding", "The encoding of words that are not in UTF-8, e.g. latin-1.", metavar="NAME"
)
@options.precision_option
@options.run_options(jobs=options.CORES, cluster=True, as_json=options.WRITTEN)
def command(files: options.SpaceFiles, target: Path, run: options.Run, **form: Any) -> None:
    """Convert embeddings from any format to any other; the suffixes say which.

    Several languages, each as LANG=FILE, go together into one file of a format that holds them.

    A .safetensors file opens at once, whatever its size: worth it for what is read again and again.

    \b
    Example:
        geomm convert wiki.en.vec wiki.en.safetensors --max-words 200000
        geomm convert en=aligned/en.vec es=aligned/es.vec space.parquet
    """
    source, *others = files.embeddings
    is_one = not others and ("=" not in source or Path(source).exists())
    with run.shown():
        converted = convert(
            source if is_one else forms.language_files(files.embeddings),
            target,
            max_words=files.max_words,
            jobs=run.jobs,
            cluster=run.cluster,
            **form,
        )
    text = f"Wrote {target}  {converted.words:,} words x {converted.dimension}"
    run.report({"path": str(target)} | asdict(converted), text)
