"""`geomm evaluate`: score aligned embeddings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from geomm_plugin import progress
from geomm_plugin.analogy import evaluate_analogies, read_analogies
from geomm_plugin.cli import choices, options
from geomm_plugin.comparison_table import text_table
from geomm_plugin.dictionary import read_dictionary
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import UnknownNameError
from geomm_plugin.evaluation import UnknownWords, evaluate
from geomm_plugin.shared_space import SharedSpace
from geomm_plugin.similarity import evaluate_similarity, read_similarity
from geomm_plugin.storage import load_mapper


@click.command()
@options.embeddings_argument
@click.option(
    "--dictionary",
    "--test",
    "-d",
    "tests",
    multiple=True,
    required=True,
    metavar="LANG-LANG=FILE",
    help="Test dictionary of a pair of languages; scored word pairs for similarity; LANG=FILE with "
    "questions for analogy. Repeatable.",
)
@click.option(
    "--task",
    type=click.Choice(["bli", "similarity", "analogy"]),
    default="bli",
    show_default=True,
    help="Bilingual lexicon induction, cross-lingual word similarity, or analogies in a language.",
)
@click.option(
    "--model",
    type=click.Path(path_type=Path),
    help="A saved mapper; without it the files are taken as aligned already.",
)
@choices.retrievals_option
@choices.oov_option
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list, one object a row.")
@options.max_words_option
@options.quiet_option
def command(
    embeddings: tuple[str, ...],
    tests: tuple[str, ...],
    task: str,
    model: Path | None,
    retrievals: tuple[str, ...],
    oov: UnknownWords,
    as_json: bool,
    max_words: int | None,
    quiet: bool,
) -> None:
    """Score aligned embeddings on translation, word similarity or analogies.

    \b
    Examples:
        geomm evaluate en=aligned/en.vec es=aligned/es.vec --dictionary en-es=en-es.5000-6500.txt
        geomm evaluate en=aligned/en.vec es=aligned/es.vec --task similarity -d en-es=semeval.txt
        geomm evaluate en=wiki.en.vec --task analogy -d en=questions-words.txt
    """
    chosen = choices.make_retrievals(retrievals)
    mapper = None if model is None else load_mapper(model)
    with progress.shown(quiet):
        read = options.read_all(embeddings, max_words)
        space = SharedSpace(read) if mapper is None else mapper.map(read)
        rows: list[dict[str, Any]] = []
        for spec in tests:
            name, path = options.split_spec(spec, "LANG-LANG=FILE, e.g. en-es=en-es.5000-6500.txt")
            with progress.task(f"Evaluating {name}"):
                if task == "analogy":
                    _check_language(name, read)
                    rows += evaluate_analogies(space, name, read_analogies(path)).rows()
                    continue
                source, target = options.language_pair(name, read)
                if task == "similarity":
                    pairs = read_similarity(path)
                    rows.append(evaluate_similarity(space, source, target, pairs).row())
                    continue
                dictionary = read_dictionary(path)
                rows += [
                    evaluate(space, source, target, dictionary, retrieval, oov=oov).row()
                    for retrieval in chosen
                ]
    rows = [{"mapper": None if mapper is None else mapper.name} | row for row in rows]
    if as_json:
        click.echo(json.dumps(rows, ensure_ascii=False))
        return
    shown = _averaged(rows) if task == "bli" else rows
    names = [name for name in shown[0] if name not in ("mapper", "task")]
    click.echo(text_table([names, *([_cell(row[name]) for name in names] for row in shown)]))


def _check_language(name: str, languages: Mapping[str, Embeddings]) -> None:
    if name not in languages:
        raise UnknownNameError(
            f"Analogies belong to one language, e.g. --dictionary en=questions.txt; {name!r} is "
            f"none of those given ({', '.join(languages)})."
        )


def _averaged(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the mean over pairs, where one retrieval was scored on several."""
    found = list(rows)
    for retrieval in dict.fromkeys(row["retrieval"] for row in rows):
        same = [row for row in rows if row["retrieval"] == retrieval]
        if len(same) > 1:
            means = {
                name: sum(row[name] for row in same) / len(same)
                for name, value in same[0].items()
                if isinstance(value, float)
            }
            words = sum(row["n_words"] for row in same)
            found.append(same[0] | means | {"pair": "average", "n_words": words})
    return found


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
