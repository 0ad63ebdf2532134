"""`geomm align`: fit a mapper and export every language into the shared space."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from geomm_plugin import align
from geomm_plugin.alignment import Alignment
from geomm_plugin.cli import forms, options
from geomm_plugin.errors import FitError, ParameterError, UnknownNameError
from geomm_plugin.registry.parameters import choice_text, split_specs

LARGER, SMALL = 1.2, 2**20  # times, bytes: from there on the size of text is worth a line


@options.as_command
@options.config_option
@options.space_options()
@options.fit_options("geomm")
@options.option(
    "--output -o",
    "Folder for the aligned files and the mapper; made if it is not there.",
    type=forms.OUTPUT_FOLDER,
    required=True,
)
@options.option("--suffix", "Format of the aligned files.", default=".vec", type=forms.SUFFIX)
@options.several(
    "--extra-words",
    "Export these words too, one a line, with vectors from subwords (a fastText .bin).",
    type=forms.LANG_FILE,
)
@options.switch("--keep-length", "Export mapped vectors as long as they are.")
@options.option(
    "--into",
    "Leave this language as it is, and move the others into its own coordinates.",
    metavar="LANG",
)
@options.switch(
    "--rerank",
    "Learn weights for the retrieval reranked by one more fit; the mapper keeps them.",
)
@options.switch(
    "--neighborhoods",
    "Save what CSLS compares beside the files, too, for quick first answers; it takes minutes for "
    "200,000 words.",
)
@options.switch(
    "--resume",
    "Keep what an earlier run wrote there, if it is the same mapper, inputs and options.",
)
@options.switch("--force", "Write the files though held-out words find no translations.")
@options.precision_option
@options.run_options(jobs=options.CORES, cluster=True, as_json=options.WRITTEN)
def command(
    files: options.SpaceFiles,
    fit: options.Fit,
    extra_words: tuple[str, ...],
    run: options.Run,
    **form: Any,
) -> None:
    """Align two or more languages: fit a mapper, write LANG.vec for each and the mapper itself.

    Vectors are exported at unit length, ready for cosine similarity; --keep-length keeps theirs.
    The files appear together at the end, each whole; what they replace stays until then. A run that
    was stopped goes on where it was with --resume: a file is written again only if the mapper, the
    content of an input or an option has changed. A fit that finds no translations is not written.

    With --into es no es.vec is written: compare the other files with the one given for es.

    \b
    Example:
        geomm align en=wiki.en.vec es=wiki.es.vec --dictionary en-es=en-es.0-5000.txt \\
            --mapper geomm --set regularization=100 --output aligned/
    """
    paths = forms.language_files(files.embeddings)
    fit.check([fit.make_mapper()])
    identical, cognates = fit.alike(paths)
    with run.shown(), _named_as_options():
        alignment = align(
            paths,
            options.read_pairs(fit.dictionary, paths),
            fit.mapper,
            identical=identical,
            cognates=cognates,
            settings=fit.set,
            max_words=files.max_words,
            extra_words=split_specs(extra_words, "LANG=FILE, e.g. en=words.txt"),
            jobs=run.jobs,
            cluster=run.cluster,
            **form,
        )
    run.report(_row(alignment), f"{alignment}{_advice(alignment, paths, form['precision'])}")


def _advice(alignment: Alignment, paths: Mapping[str, Path], precision: int | None) -> str:
    """Say how text becomes smaller, where it is much larger than the text that it was made from."""
    suffixes = {path.suffix for path in (*paths.values(), *alignment.paths.values())}
    if precision is not None or suffixes != {".vec"} or not alignment.written:
        return ""
    given = sum(paths[language].stat().st_size for language in alignment.written)
    made = sum(alignment.paths[language].stat().st_size for language in alignment.written)
    if made < max(LARGER * given, SMALL):
        return ""
    return f"\nThe text is {made / given:.1f} times its input: --precision 5 writes fewer digits."


@contextmanager
def _named_as_options() -> Iterator[None]:
    """Let an error name the option where the library names the parameter."""
    try:
        yield
    except (FitError, ParameterError, UnknownNameError) as error:
        text = re.sub("into='([^']*)'", r"--into \1", str(error)).replace("`into`", "--into")
        text = text.replace("force=True", "--force").replace("on_failure='warn'", "--force")
        raise type(error)(text.replace("extra_words of", "--extra-words of")) from error


def _row(alignment: Alignment) -> dict[str, Any]:
    """Return what was written, and how the fit went, as plain values."""
    files = [
        {
            "language": language,
            "path": str(path),
            "state": "written" if language in alignment.written else "kept",
            **dict(zip(("words", "dimension"), alignment.shapes.get(language, ()), strict=False)),
        }
        for language, path in alignment.paths.items()
    ]
    mapper = {
        "path": str(alignment.mapper_path),
        "state": "kept" if alignment.mapper_kept else "written",
        "name": choice_text(alignment.mapper),
    }
    return {"files": files, "mapper": mapper, "report": alignment.report.to_json(times=False)}
