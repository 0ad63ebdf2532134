"""`geomm evaluate`: score aligned embeddings."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from geomm_plugin.cli import forms, options, task_files
from geomm_plugin.cli.config import Configurable
from geomm_plugin.cli.output import TableOutput, check_outputs, table_options
from geomm_plugin.dictionary import Dictionary
from geomm_plugin.errors import ParameterError, UnknownNameError
from geomm_plugin.evaluation import calibration
from geomm_plugin.evaluation.analogy import Analogy, read_analogies
from geomm_plugin.evaluation.outcome import Scores
from geomm_plugin.evaluation.provenance import provenance_of
from geomm_plugin.evaluation.similarity import Similarity, read_similarity
from geomm_plugin.evaluation.task import Task
from geomm_plugin.evaluation.translation import By, Translation, UnknownWords
from geomm_plugin.registry.parameters import split_spec
from geomm_plugin.retrieval import Reranked, Retrieval
from geomm_plugin.shared_space import SharedSpace
from geomm_plugin.source_file import SourceFile
from geomm_plugin.work import compute_pool

WORD_TASKS = ("bli", "similarity", "analogy")  # scored on words; others are registered tasks


@click.command(cls=Configurable)
@options.space_options(model="A saved mapper; without it the files are taken as aligned already.")
@click.option(
    "--dictionary",
    "--test",
    "-d",
    "-t",
    "test",
    envvar="GEOMM_EVALUATE_DICTIONARY",
    multiple=True,
    type=forms.PAIR_FILE,
    help="Test dictionary of a pair of languages; scored word pairs for similarity; LANG=FILE with "
    "questions for analogy, or with label<TAB>text for classify. Repeatable.",
)
@options.encoding_option
@click.option(
    "--task",
    default="bli",
    show_default=True,
    type=forms.TASK,
    help="bli: translate words. similarity: agree with people. analogy: within a language. "
    "sentences: find a sentence's translation. classify: learn topics in one language, "
    "recognize them in another.",
)
@task_files.texts_option
@task_files.train_option
@options.retrievals_option
@options.metrics_option
@options.by_option
@click.option(
    "--reliability",
    is_flag=True,
    help="Show whether the probabilities of --retrieval reranked hold: by tenths, and how much is "
    "wrong among the surest answers.",
)
@options.oov_option
@table_options
@options.run_options(jobs=options.THREADS, default=None, cluster=True)
def command(
    files: options.SpaceFiles,
    test: tuple[str, ...],
    task: str,
    texts: tuple[str, ...],
    train: tuple[str, ...],
    retrieval: tuple[str, ...],
    metric: tuple[str, ...],
    by: By | None,
    reliability: bool,
    oov: UnknownWords,
    output: TableOutput,
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
    check_outputs()
    chosen = _with_probabilities(retrieval) if reliability else options.make_retrievals(retrieval)
    scored: list[Task] = []
    read_files: task_files.Files = ()
    if task in WORD_TASKS:
        _check_options(task, test)
    else:
        of_task = {"texts": texts, "train": train, "test": test}
        scored, read_files = task_files.make_tasks([task], of_task, chosen)
    mapper = files.mapper
    with run.shown(), compute_pool(run.jobs, run.cluster):
        read = files.read()
        space = files.space_of(read)
        given: list[tuple[tuple[str, str], Dictionary]] = []
        held: tuple[calibration.Reliability, ...] = ()
        if task == "bli":
            given = options.read_each(test, list(space))
        if reliability:
            held = tuple(
                calibration.reliability(space, *pair, own, each)
                for pair, own in given
                for each in chosen
            )
        elif task == "bli":
            names = metric or None
            scored = [Translation({pair: own}, chosen, names, oov, by=by) for pair, own in given]
        elif task in WORD_TASKS:
            scored = [_word_task(space, task, spec) for spec in test]
            read_files = _word_files(test)
        scores = [score for one in scored for score in one.score(space)]
    if files.model is not None:
        saved = SourceFile.read_from(files.model, "a saved mapper")
        read_files = (*read_files, ("mapper", saved))
    provenance = provenance_of(read, (), given).with_files(read_files)
    if reliability:
        output.show(calibration.Reliabilities(held, provenance))
    else:
        output.show(Scores(tuple(scores), mapper, provenance))


def _with_probabilities(retrieval: tuple[str, ...]) -> list[Retrieval]:
    """Return the retrievals of --reliability, by default reranked; refuse what it does not use."""
    context = click.get_current_context()
    if context.params["task"] != "bli":
        raise ParameterError("--reliability is of --task bli: translations have probabilities.")
    for name in ("metric", "by", "oov"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise ParameterError(f"--{name} is not for --reliability. Leave one of them out.")
    is_default = context.get_parameter_source("retrieval") is ParameterSource.DEFAULT
    chosen = options.make_retrievals(("reranked",) if is_default else retrieval)
    for each in chosen:
        if not isinstance(each, Reranked):
            raise ParameterError(
                f"--reliability is of probabilities, and --retrieval {each.label} has none. Choose "
                "--retrieval reranked."
            )
    return chosen


def _word_task(space: SharedSpace, task: str, spec: str) -> Task:
    name, path = split_spec(spec, "LANG-LANG=FILE, e.g. en-es=en-es.5000-6500.txt")
    if task == "similarity":
        return Similarity({options.language_pair(name, space): read_similarity(path)})
    if name not in space:
        raise UnknownNameError(
            f"Analogies belong to one language, e.g. --dictionary en=questions.txt; {name!r} is "
            f"none of those given ({', '.join(space)})."
        )
    return Analogy({name: read_analogies(path)})


def _word_files(tests: tuple[str, ...]) -> task_files.Files:
    paths = (spec.partition("=") for spec in tests)
    return tuple(
        (f"test {name}", SourceFile.read_from(Path(path), "test")) for name, _, path in paths
    )


def _check_options(task: str, tests: tuple[str, ...]) -> None:
    """Refuse options that a task would not look at."""
    if not tests:
        raise ParameterError(
            f"--task {task} needs --dictionary LANG-LANG=FILE (LANG=FILE for analogy)."
        )
    context = click.get_current_context()
    for parameter in context.command.params:
        typed = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if typed and parameter.name in ("texts", "train"):
            raise ParameterError(f"{parameter.opts[0]} is not for --task {task}. Leave it out.")
        if task != "bli" and typed and parameter.name in ("retrieval", "metric", "by", "oov"):
            raise ParameterError(
                f"{parameter.opts[0]} belongs to --task bli; --task {task} does not use it. Leave "
                "it out."
            )
