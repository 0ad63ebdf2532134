"""`geomm evaluate`: score aligned embeddings."""

from __future__ import annotations

from collections.abc import Sequence

from geomm_plugin import registry
from geomm_plugin.cli import forms, options
from geomm_plugin.cli.task_files import Scoring, scoring_options
from geomm_plugin.errors import ParameterError
from geomm_plugin.evaluation import Table, calibration
from geomm_plugin.evaluation.outcome import Scores
from geomm_plugin.evaluation.provenance import provenance_of
from geomm_plugin.evaluation.translation import WORDS
from geomm_plugin.retrieval import Reranked, Retrieval
from geomm_plugin.source_file import SourceFile
from geomm_plugin.work import compute_pool


@options.as_command
@options.config_option
@options.space_options(model="A saved mapper; without it the files are taken as aligned already.")
@scoring_options(
    "--dictionary --test -d -t test",
    options.encoding_option,
    envvar="GEOMM_EVALUATE_DICTIONARY",
)
@options.option(
    "--task",
    "bli: translate words. similarity: agree with people. analogy: within a language. "
    "sentences: find a sentence's translation. classify: learn topics in one language, "
    "recognize them in another.",
    default="bli",
    type=forms.TASK,
)
@options.switch(
    "--reliability",
    "Show whether the probabilities of --retrieval reranked hold: by tenths, and how much is "
    "wrong among the surest answers.",
)
@options.table_options
@options.run_options(jobs=options.THREADS, default=None, cluster=True)
def command(
    files: options.SpaceFiles,
    scoring: Scoring,
    task: str,
    reliability: bool,
    output: options.TableOutput,
    run: options.Run,
) -> None:
    """Score aligned embeddings on translation, word similarity, analogies, or texts.

    \b
    Examples:
        geomm evaluate en=aligned/en.vec es=aligned/es.vec --dictionary en-es=en-es.5000-6500.txt
        geomm evaluate en=aligned/en.vec es=aligned/es.vec --task similarity -d en-es=semeval.txt
        geomm evaluate en=wiki.en.vec --task analogy -d en=questions-words.txt
        geomm evaluate en=aligned/en.vec es=aligned/es.vec --task sentences \\
            --texts en=s.en.txt --texts es=s.es.txt
        geomm evaluate en=aligned/en.vec es=aligned/es.vec --task classify \\
            --train en=topics.en.tsv --test es=topics.es.tsv
        geomm evaluate en=aligned/en.vec es=aligned/es.vec -d en-es=test.txt --reliability
    """
    kind = registry.tasks[task]
    retrievals = options.make_retrievals(scoring.retrieval, with_probabilities=reliability)
    if reliability:
        _check_reliability(task, retrievals)
    scoring.needed(kind).check([kind])
    mapper = files.mapper
    with run.shown(), compute_pool(run.jobs, run.cluster):
        read = files.read()
        space = files.space_of(read)
        provenance = provenance_of(read, (), ()).with_files(scoring.files(kind))
        if files.model is not None:
            saved = SourceFile.read_from(files.model, "a saved mapper")
            provenance = provenance.with_files([("mapper", saved)])
        table: Table
        if reliability:
            tests = options.read_each(scoring.test, space)
            held = tuple(
                calibration.reliability(space, *pair, own, each)
                for pair, own in tests
                for each in retrievals
            )
            table = calibration.Reliabilities(held, provenance)
        else:
            tasks = scoring.make(kind, retrievals, space)
            scores = (score for each in tasks for score in each.score(space))
            table = Scores(tuple(scores), mapper, provenance)
    output.show(table)


def _check_reliability(task: str, retrievals: Sequence[Retrieval]) -> None:
    """Refuse what has no probabilities, and options that --reliability does not look at."""
    if task != WORDS:
        raise ParameterError("--reliability is of --task bli: translations have probabilities.")
    for name in ("metric", "by", "oov"):
        if options.was_typed(name):
            raise ParameterError(f"--{name} is not for --reliability. Leave one of them out.")
    for each in retrievals:
        if not isinstance(each, Reranked):
            raise ParameterError(
                f"--reliability is of probabilities, and --retrieval {each.label} has none. Choose "
                "--retrieval reranked."
            )
