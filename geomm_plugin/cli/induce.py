"""`geomm induce`: make a dictionary from word embeddings."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from geomm_plugin import progress
from geomm_plugin.alignment.space import aligned_space
from geomm_plugin.cli import forms, options
from geomm_plugin.cli.config import Configurable
from geomm_plugin.cli.output import check_outputs
from geomm_plugin.dictionary import write_dictionary
from geomm_plugin.errors import DictionaryError, ParameterError
from geomm_plugin.fitting.reranking import learn_reranking
from geomm_plugin.mapper import Mapper
from geomm_plugin.retrieval import Reranked


@click.command(cls=Configurable)
@options.space_options(
    model="A saved mapper; without it and without a dictionary the files are taken as aligned."
)
@options.fit_options(
    "geomm_semi",
    what="What to fit where a dictionary is given: a name that `geomm mappers` lists.",
)
@click.option(
    "--pair",
    type=forms.PAIR,
    help="The pair to make a dictionary of; not needed for two files.",
)
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
@click.option(
    "--at-precision",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="Keep so many of the most probable pairs that this share of them is right, e.g. 0.95. "
    "Probabilities are written in place of scores.",
)
@click.option("--without-scores", is_flag=True, help="Write the words alone.")
@options.retrieval_option
@options.run_options(jobs=options.THREADS, default=None, cluster=True, as_json=options.WRITTEN)
def command(
    files: options.SpaceFiles,
    fit: options.Fit,
    pair: str | None,
    output: Path,
    min_score: float | None,
    at_precision: float | None,
    without_scores: bool,
    retrieval: str,
    run: options.Run,
) -> None:
    """Write a dictionary of the words that are each other's best translation.

    \b
    Examples:
        geomm induce en=wiki.en.vec de=wiki.de.vec --identical en-de --output en-de.tsv
        geomm induce en=wiki.en.vec de=wiki.de.vec --dictionary en-de=seed.txt -o en-de.tsv
        geomm induce en=aligned/en.vec de=aligned/de.vec --min-score 0.1 -o en-de.tsv
    """
    check_outputs()
    sure = at_precision is not None
    ranked = options.make_retrieval(retrieval, sure)
    chosen = _mapper(files, fit)
    with run.shown():
        read = files.read()
        if pair is None and len(read) != 2:
            raise ParameterError(f"Name one pair of the languages {', '.join(read)} with --pair.")
        source, target = options.language_pair(pair or "-".join(read), read)
        if chosen is not None and files.model is None:
            train = fit.read(read)
            chosen.fit(read, train)
            if sure and isinstance(ranked, Reranked):
                learn_reranking(chosen, read, train, retrieval=ranked)
        two = {source: read[source], target: read[target]}
        space = chosen.map(two) if chosen else aligned_space(two)
        with progress.task(f"Pairing {source} and {target}"):
            mutual = space.dictionary(
                source,
                target,
                retrieval=ranked,
                at_precision=at_precision,
                jobs=run.jobs,
                cluster=run.cluster,
            )
    pairs = [each for each in mutual if min_score is None or each[2] >= min_score]
    if not pairs and at_precision is not None and min_score is None:
        raise DictionaryError(
            f"No pairs are so probable that {at_precision:g} of them would be right. Nothing is "
            "written: lower --at-precision."
        )
    if not pairs:
        raise DictionaryError(_why_none(mutual, min_score))
    count = write_dictionary([each[:2] for each in pairs] if without_scores else pairs, output)
    row = {"path": str(output), "pair": f"{source}-{target}", "pairs": count}
    are = "mutual" if at_precision is None else "mutual and as probable"
    text = f"Wrote {output}  {count} pairs of {len(mutual)} that are {are}"
    run.report(row | {"mutual": len(mutual)}, text)


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


def _mapper(files: options.SpaceFiles, fit: options.Fit) -> Mapper | None:
    """Return a mapper to fit, a fitted one from disk, or none where the files are aligned."""
    if fit.has_dictionaries and files.model is None:
        return fit.make_mapper()
    if fit.has_dictionaries:
        raise ParameterError("A saved mapper needs no dictionary. Leave --model or it out.")
    source = click.get_current_context().get_parameter_source("mapper")
    if fit.set or source is not ParameterSource.DEFAULT:
        raise ParameterError(
            "--mapper and --set choose what is fitted, but nothing is: "
            + ("--model is fitted already" if files.model else "the files are taken as aligned")
            + ". Leave them out, or give a --dictionary or --identical to fit with."
        )
    return files.mapper
