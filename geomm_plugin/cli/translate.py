"""`geomm translate`: look words up across languages."""

from __future__ import annotations

import json
from pathlib import Path

import click

from geomm_plugin import progress
from geomm_plugin.cli import options
from geomm_plugin.cli.terminal import show, show_json
from geomm_plugin.errors import ParameterError
from geomm_plugin.printable import printable
from geomm_plugin.registry import as_retrieval
from geomm_plugin.storage import load_mapper


@click.command()
@click.argument("arguments", nargs=-1, required=True, metavar="LANG=FILE... LANG-LANG WORD...")
@click.option(
    "--model",
    type=click.Path(path_type=Path),
    help="A saved mapper; without it the files are taken as aligned already.",
)
@click.option(
    "-k", default=5, show_default=True, type=click.IntRange(min=1), help="Answers a word."
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list, one object a word.")
@options.retrieval_option
@options.max_words_option
@options.quiet_option
def command(
    arguments: tuple[str, ...],
    model: Path | None,
    k: int,
    as_json: bool,
    retrieval: str,
    max_words: int | None,
    quiet: bool,
) -> None:
    """Translate words between two languages.

    \b
    Examples:
        geomm translate --model aligned/mapper en=wiki.en.vec es=wiki.es.vec en-es dog cat
        geomm translate en=aligned/en.vec es=aligned/es.vec es-en perro
    """
    files, pair, words = _split_arguments(arguments)
    ranked = as_retrieval(retrieval)
    mapper = None if model is None else load_mapper(model)
    with progress.shown(quiet):
        read = options.read_all(files, max_words)
        source, target = options.language_pair(pair, read)
        two = {source: read[source], target: read[target]}
        space = mapper.map(two) if mapper else options.aligned_space(files, two)
        answers = space.translate(words, source, target, k=k, retrieval=ranked)
    if as_json:
        rows = [
            {"word": word, "translations": [{"word": w, "score": s} for w, s in translations]}
            for word, translations in zip(words, answers, strict=True)
        ]
        show_json(json.dumps(rows, ensure_ascii=False))
        return
    width = max(len(printable(word)) for word in words)
    for word, translations in zip(words, answers, strict=True):
        shown = "  ".join(f"{printable(w)} ({score:.3f})" for w, score in translations)
        show(f"{printable(word):<{width}}  {shown}")


def _split_arguments(arguments: tuple[str, ...]) -> tuple[list[str], str, list[str]]:
    """Files come first (they hold a '='), then the pair of languages, then the words."""
    options.refuse_mapper(arguments[0])
    count = next((i for i, text in enumerate(arguments) if "=" not in text), len(arguments))
    files, rest = list(arguments[:count]), list(arguments[count:])
    if not files or len(rest) < 2:
        raise ParameterError(
            "Give files, a pair of languages and words, e.g. en=en.vec es=es.vec en-es dog cat."
        )
    return files, rest[0], rest[1:]
