"""`geomm align`: fit a mapper and export every language into the shared space."""

from __future__ import annotations

from pathlib import Path

import click

from geomm_plugin import progress
from geomm_plugin.atomic import make_folder, written_beside
from geomm_plugin.cli import options
from geomm_plugin.formats import write_embeddings
from geomm_plugin.normalize import unit
from geomm_plugin.shared_space import MappedEmbeddings
from geomm_plugin.storage import save_mapper


@click.command()
@options.embeddings_argument
@options.dictionary_option
@options.identical_option
@options.mapper_option
@options.set_option
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder for the aligned files and the mapper; made if it is not there.",
)
@click.option("--suffix", default=".vec", show_default=True, help="Format of the aligned files.")
@click.option(
    "--extra-words",
    multiple=True,
    metavar="LANG=FILE",
    help="Export these words too, one a line, with vectors from subwords (a fastText .bin).",
)
@click.option("--keep-length", is_flag=True, help="Export mapped vectors as long as they are.")
@options.precision_option
@options.max_words_option
@options.quiet_option
def command(
    embeddings: tuple[str, ...],
    dictionaries: tuple[str, ...],
    identical: tuple[str, ...],
    mapper: str,
    settings: tuple[str, ...],
    output: Path,
    suffix: str,
    extra_words: tuple[str, ...],
    keep_length: bool,
    precision: int | None,
    max_words: int | None,
    quiet: bool,
) -> None:
    """Align two or more languages: fit a mapper, write LANG.vec for each and the mapper itself.

    Vectors are exported at unit length, ready for cosine similarity; --keep-length keeps theirs.

    \b
    Example:
        geomm align en=wiki.en.vec es=wiki.es.vec --dictionary en-es=en-es.0-5000.txt \\
            --mapper geomm --set regularization=100 --output aligned/
    """
    chosen = options.make_mapper(mapper, settings)
    written = options.format_for(Path(f"x{suffix}"), precision)
    extra = options.read_word_lists(extra_words, embeddings)
    _check_writable(output)
    with progress.shown(quiet):
        read = options.read_all(embeddings, max_words)
        pairs = options.read_dictionaries(dictionaries, identical, read)
        with progress.task(f"Fitting {mapper}"):
            chosen.fit(read, pairs)
        space = chosen.map(read)
        for language in space:
            mapped = space[language].with_words(extra.get(language, ()))
            aligned = mapped if keep_length else MappedEmbeddings(mapped, unit)
            write_embeddings(aligned, output / f"{language}{suffix}", format=written)
        save_mapper(chosen, output / "mapper")
    if not quiet:
        _summarize(chosen, output, suffix, {language: repr(space[language]) for language in space})


def _check_writable(output: Path) -> None:
    """Find out before the work, not after it."""
    make_folder(output)
    probe = output / ".writable"
    with written_beside(probe) as part:
        part.write_bytes(b"")
    probe.unlink()


def _summarize(chosen: object, output: Path, suffix: str, sizes: dict[str, str]) -> None:
    report = getattr(chosen, "report_", {})
    for pair, counts in report.get("pairs", {}).items():
        details = ", ".join(f"{count} {what}" for what, count in counts.items())
        click.echo(f"{pair}: {details}")
    for pair, choice in report.get("regularization", {}).items():
        scores = ", ".join(f"{k}: {v:.3f}" for k, v in choice["held-out p@1"].items())
        click.echo(f"{pair}: regularization {choice['chosen']:g} (held-out P@1 {scores})")
    for language, size in sizes.items():
        click.echo(f"Wrote {output / (language + suffix)}  {size}")
    click.echo(f"Wrote {output / 'mapper'}  {chosen!r}")
