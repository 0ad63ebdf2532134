"""`geomm induce`: make a dictionary from word embeddings."""

from __future__ import annotations

import json
from pathlib import Path

import click
from click.core import ParameterSource

from geomm_plugin import progress
from geomm_plugin.cli import forms, options
from geomm_plugin.cli.configuration import Configurable
from geomm_plugin.cli.output import check_outputs, json_option
from geomm_plugin.cli.terminal import show, show_json
from geomm_plugin.dictionary import write_dictionary
from geomm_plugin.errors import DictionaryError, ParameterError
from geomm_plugin.mapper import Mapper
from geomm_plugin.registry import as_mapper, as_retrieval
from geomm_plugin.storage import load_mapper


@click.command(cls=Configurable)
@options.embeddings_argument
@click.option(
    "--pair",
    type=forms.PAIR,
    help="The pair to make a dictionary of; not needed for two files.",
)
@click.option(
    "--model",
    type=click.Path(path_type=Path),
    help="A saved mapper; without it and without a dictionary the files are taken as aligned.",
)
@options.dictionary_option
@options.identical_option
@options.cognates_option
@click.option(
    "--mapper",
    "-m",
    default="geomm_semi",
    show_default=True,
    type=forms.MAPPER,
    help="What to fit where a dictionary is given: a name that `geomm mappers` lists.",
)
@options.set_option
@click.option(
    "--output",
    "-o",
    type=forms.OUTPUT,
    required=True,
    help="The dictionary: word, translation and score in columns separated by tabs.",
)
@click.option(
    "--min-score",
    type=float,
    metavar="SCORE",
    help="Leave out pairs with a lower score (CSLS by default): fewer, and more of them right.",
)
@click.option("--without-scores", is_flag=True, help="Write the words alone.")
@options.retrieval_option
@options.max_words_option
@options.threads_option
@options.cluster_option
@json_option
@options.quiet_option
def command(
    embeddings: tuple[str, ...],
    pair: str | None,
    model: Path | None,
    dictionaries: tuple[str, ...],
    identical: tuple[str, ...],
    cognates: tuple[str, ...],
    mapper: str,
    settings: tuple[str, ...],
    output: Path,
    min_score: float | None,
    without_scores: bool,
    retrieval: str,
    max_words: int | None,
    jobs: int | None,
    cluster: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write a dictionary of the words that are each other's best translation.

    \b
    Examples:
        geomm induce en=wiki.en.vec de=wiki.de.vec --identical en-de --output en-de.tsv
        geomm induce en=wiki.en.vec de=wiki.de.vec --dictionary en-de=seed.txt -o en-de.tsv
        geomm induce en=aligned/en.vec de=aligned/de.vec --min-score 0.1 -o en-de.tsv
    """
    check_outputs()
    ranked = as_retrieval(retrieval)
    chosen = _mapper(model, mapper, settings, bool(dictionaries or identical or cognates))
    with progress.shown(quiet):
        read = options.read_all(embeddings, max_words)
        if pair is None and len(read) != 2:
            raise ParameterError(f"Name one pair of the languages {', '.join(read)} with --pair.")
        source, target = options.language_pair(pair or "-".join(read), read)
        if chosen is not None and model is None:
            train = options.read_dictionaries(dictionaries, identical, read, cognates)
            chosen.fit(read, train)
        two = {source: read[source], target: read[target]}
        space = chosen.map(two) if chosen else options.aligned_space(two)
        with progress.task(f"Pairing {source} and {target}"):
            mutual = space.dictionary(source, target, retrieval=ranked, jobs=jobs, cluster=cluster)
    pairs = [each for each in mutual if min_score is None or each[2] >= min_score]
    if not pairs:
        raise DictionaryError(_why_none(mutual, min_score))
    count = write_dictionary([each[:2] for each in pairs] if without_scores else pairs, output)
    if as_json:
        row = {"path": str(output), "pair": f"{source}-{target}", "pairs": count}
        show_json(json.dumps(row | {"mutual": len(mutual)}, ensure_ascii=False))
    elif not quiet:
        show(f"Wrote {output}  {count} pairs of {len(mutual)} that are mutual")


def _why_none(mutual: list[tuple[str, str, float]], min_score: float | None) -> str:
    if not mutual:
        return (
            "No two words are each other's best translation, so nothing is written. Check that "
            "the files are aligned, or give a dictionary."
        )
    best = max(score for *_, score in mutual)
    return (
        f"None of the {len(mutual)} mutual pairs scores {min_score:g} or more; the best has "
        f"{best:.4f}. Nothing is written: lower --min-score."
    )


def _mapper(
    model: Path | None, name: str, settings: tuple[str, ...], with_dictionary: bool
) -> Mapper | None:
    """Return a mapper to fit, a fitted one from disk, or none where the files are aligned."""
    if with_dictionary and model is None:
        return as_mapper(name, settings)
    if with_dictionary:
        raise ParameterError("A saved mapper needs no dictionary. Leave --model or it out.")
    source = click.get_current_context().get_parameter_source("mapper")
    if settings or source is not ParameterSource.DEFAULT:
        raise ParameterError(
            "--mapper and --set choose what is fitted, but nothing is: "
            + ("the files are taken as aligned" if model is None else "--model is fitted already")
            + ". Leave them out, or give a --dictionary or --identical to fit with."
        )
    return None if model is None else load_mapper(model)
