"""`geomm induce`: make a dictionary from word embeddings."""

from __future__ import annotations

from pathlib import Path

from geomm_plugin import Mapper, progress, write_dictionary
from geomm_plugin.alignment import aligned_space
from geomm_plugin.cli import forms, options
from geomm_plugin.errors import DictionaryError, ParameterError
from geomm_plugin.fitting import learn_reranking
from geomm_plugin.retrieval import Reranked


@options.as_command
@options.config_option
@options.space_options(
    model="A saved mapper; without it and without a dictionary the files are taken as aligned."
)
@options.fit_options(
    "geomm_semi",
    what="What to fit where a dictionary is given: a name that `geomm mappers` lists.",
)
@options.option(
    "--pair", "The pair to make a dictionary of; not needed for two files.", type=forms.PAIR
)
@options.option(
    "--output -o",
    "The dictionary: word, translation and score in columns separated by tabs.",
    type=forms.OUTPUT,
    required=True,
)
@options.option(
    "--min-score",
    "Leave out pairs with a lower score (CSLS by default): fewer, and more of them right.",
    type=float,
    metavar="SCORE",
)
@options.option(
    "--at-precision",
    "Keep so many of the most probable pairs that this share of them is right, e.g. 0.95. "
    "Probabilities are written in place of scores.",
    type=forms.SHARE,
    metavar="SHARE",
)
@options.switch("--without-scores", "Write the words alone.")
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
    sure = at_precision is not None
    (ranked,) = options.make_retrievals([retrieval], with_probabilities=sure)
    mapper = _mapper(files, fit)
    with run.shown():
        read = files.read()
        if pair is None and len(read) != 2:
            raise ParameterError(f"Name one pair of the languages {', '.join(read)} with --pair.")
        source, target = forms.language_pair(pair or "-".join(read), read)
        if mapper is not None and files.model is None:
            train = fit.read(read)
            mapper.fit(read, train)
            if sure and isinstance(ranked, Reranked):
                learn_reranking(mapper, read, train, retrieval=ranked)
        two = {source: read[source], target: read[target]}
        space = mapper.map(two) if mapper else aligned_space(two)
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
    if not pairs:
        raise DictionaryError(_why_none(mutual, min_score, at_precision))
    count = write_dictionary([each[:2] for each in pairs] if without_scores else pairs, output)
    row = {"path": str(output), "pair": f"{source}-{target}", "pairs": count}
    are = "mutual and as probable" if sure else "mutual"
    text = f"Wrote {output}  {count} pairs of {len(mutual)} that are {are}"
    run.report(row | {"mutual": len(mutual)}, text)


def _why_none(
    mutual: list[tuple[str, str, float]], min_score: float | None, at_precision: float | None
) -> str:
    if mutual:
        best = max(score for *_, score in mutual)
        return (
            f"None of the {len(mutual)} mutual pairs scores {min_score:g} or more; the best has "
            f"{best:.4f}. Nothing is written: lower --min-score."
        )
    if at_precision is not None:
        return (
            f"No pairs are so probable that {at_precision:g} of them would be right. Nothing is "
            "written: lower --at-precision."
        )
    return (
        "No two words are each other's best translation, so nothing is written. Check that the "
        "files are aligned, or give a dictionary."
    )


def _mapper(files: options.SpaceFiles, fit: options.Fit) -> Mapper | None:
    """Return a mapper to fit, a fitted one from disk, or none where the files are aligned."""
    if fit.has_dictionaries and files.model is None:
        return fit.make_mapper()
    if fit.has_dictionaries:
        raise ParameterError("A saved mapper needs no dictionary. Leave --model or it out.")
    if fit.set or not options.is_default("mapper"):
        raise ParameterError(
            "--mapper and --set choose what is fitted, but nothing is: "
            + ("--model is fitted already" if files.model else "the files are taken as aligned")
            + ". Leave them out, or give a --dictionary or --identical to fit with."
        )
    return files.mapper
