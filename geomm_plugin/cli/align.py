"""`geomm align`: fit a mapper and export every language into the shared space."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path

import click

from geomm_plugin import progress
from geomm_plugin.alignment.record import MAPPER, fingerprint_of_file, fingerprint_of_fit
from geomm_plugin.alignment.run import AlignRun
from geomm_plugin.cli import options
from geomm_plugin.cli.terminal import show
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import ParameterError, UnknownNameError
from geomm_plugin.files.atomic import check_writable, make_folder
from geomm_plugin.files.lock import alone_in
from geomm_plugin.fitting.fit_report import report_of
from geomm_plugin.formats import read_embeddings, write_embeddings
from geomm_plugin.mapper import Mapper
from geomm_plugin.normalize import unit
from geomm_plugin.registry import as_mapper
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
@click.option(
    "--resume",
    is_flag=True,
    help="Keep what an earlier run wrote there, if it is the same mapper, inputs and options.",
)
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
    resume: bool,
    precision: int | None,
    max_words: int | None,
    quiet: bool,
) -> None:
    """Align two or more languages: fit a mapper, write LANG.vec for each and the mapper itself.

    Vectors are exported at unit length, ready for cosine similarity; --keep-length keeps theirs.
    Each file appears whole or not at all; those that replace older ones appear together at the end.
    A run that was stopped goes on where it was with --resume: a file is written again only if the
    mapper, an input or an option has changed.

    \b
    Example:
        geomm align en=wiki.en.vec es=wiki.es.vec --dictionary en-es=en-es.0-5000.txt \\
            --mapper geomm --set regularization=100 --output aligned/
    """
    chosen = as_mapper(mapper, settings)
    written = options.format_for(Path(f"x{suffix}"), precision)
    if not (dictionaries or identical):
        raise ParameterError(options.NOTHING_TO_LEARN)
    extra = options.read_word_lists(extra_words, embeddings)
    paths = options.existing_files(embeddings)
    files = {language: f"{language}{suffix}" for language in paths}
    _check_names(files)
    outputs = [output / name for name in files.values()]
    options.check_apart(paths.values(), outputs, "Choose another --output folder.")
    make_folder(output)
    check_writable(output)
    with alone_in(output), progress.shown(quiet):
        given = options.read_pairs(dictionaries, paths)
        fit = fingerprint_of_fit(chosen, paths, given, identical, max_words)
        fingerprints = {
            name: fingerprint_of_file(fit, written, keep_length, extra.get(language, []))
            for language, name in files.items()
        }
        run = AlignRun(output, {MAPPER: fit} | fingerprints, resume)
        kept = [language for language, name in files.items() if run.has(name)]
        rest = {n: path for n, path in paths.items() if n not in kept}
        with run.writing() as folder:
            read = {n: read_embeddings(path, max_words=max_words) for n, path in rest.items()}
            if run.fitted is None:
                pairs = options.with_identical(given, identical, read)
                with progress.task(f"Fitting {mapper}"):
                    chosen.fit(read, pairs)
                save_mapper(chosen, folder / MAPPER)
                run.add(MAPPER)
            else:
                chosen = run.fitted
            space = chosen.map(read)
            for language in space:
                mapped = _with_words(space[language], language, extra.get(language, []))
                aligned = mapped if keep_length else MappedEmbeddings(mapped, unit)
                write_embeddings(aligned, folder / files[language], format=written)
                run.add(files[language])
    if run.stale:
        warnings.warn(
            f"{', '.join(map(str, run.stale))}: written by an earlier run and left as it was, in "
            "the space of another mapper; do not compare it with the new files.",
            stacklevel=2,
        )
    if not quiet:
        _summarize_fit(chosen)
        for language, name in files.items():
            told = "Kept" if language in kept else "Wrote"
            size = "" if language in kept else f"  {space[language]!r}"
            show(f"{told} {output / name}{size}")
        show(f"{'Wrote' if run.fitted is None else 'Kept'} {output / MAPPER}  {chosen!r}")


def _check_names(files: Mapping[str, str]) -> None:
    """Refuse languages and suffixes that lead out of the folder."""
    for language, name in files.items():
        if Path(name).name != name or not name.isprintable():
            raise ParameterError(
                f"The aligned file of {language!r} would be called {name!r}, which is no name of a "
                "file. Choose another name for the language, or another --suffix."
            )


def _with_words(embeddings: Embeddings, language: str, words: list[str]) -> Embeddings:
    """Add the words of --extra-words, or say why one has no vector."""
    try:
        return embeddings.with_words(words)
    except UnknownNameError as error:
        raise UnknownNameError(
            f"--extra-words of {language}: {error} Words outside the vocabulary get vectors from "
            "subwords only: give a fastText .bin."
        ) from error


def _summarize_fit(mapper: Mapper) -> None:
    """Tell of the pairs and of lambda, as far as the mapper reports them as ours do."""
    report = report_of(mapper)
    for pair, counts in report.pairs.items():
        show(f"{pair}: {counts}")
    for pair, choice in report.regularization.items():
        scores = ", ".join(f"{k:g}: {v:.3f}" for k, v in choice.scores.items())
        tried = f" (held-out P@1 {scores})" if scores else ""
        show(f"{pair}: regularization {choice.value:g}{tried}")
