"""`geomm compare`: mappers against each other on the same data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import click

from geomm_plugin import compare, registry
from geomm_plugin.cli import forms, options
from geomm_plugin.cli.config import command_line
from geomm_plugin.cli.task_files import Scoring, scoring_options
from geomm_plugin.errors import ParameterError
from geomm_plugin.evaluation import Comparison, Translation
from geomm_plugin.evaluation.comparison import warn_of_overlap
from geomm_plugin.evaluation.provenance import provenance_of
from geomm_plugin.evaluation.runs import Run
from geomm_plugin.files.atomic import append_row, open_rows
from geomm_plugin.retrieval import Reranked

ANSWERS = 3  # kept for each word and mapper, for the words that changed


@options.as_command
@options.config_option
@options.space_options()
@options.fit_options(("all",))
@scoring_options("--test -t")
@options.several(
    "--task",
    "Score each mapper on this, too: sentences (with --texts), classify (with --train and --test), "
    "analogy; or on similarity in place of translation.",
    type=forms.TASK,
)
@options.option("--baseline", "Test against this one; by default the first.", metavar="MAPPER")
@options.switch(
    "--each-pair",
    "Fit every tested pair of languages alone, as papers do; by default all together.",
)
@options.table_options
@options.option(
    "--html",
    "Write a page with tables, charts and the words that changed to this file.",
    type=forms.OUTPUT,
)
@options.option(
    "--save",
    "Add each mapper's rows to this file as soon as they are there, one JSON object a line.",
    type=forms.OUTPUT,
)
@options.run_options(
    jobs="Mappers fitted at the same time, each in its own process; -1 is one for each core.",
    cluster=True,
)
def command(
    files: options.SpaceFiles,
    fit: options.Fit,
    scoring: Scoring,
    task: tuple[str, ...],
    baseline: str | None,
    each_pair: bool,
    output: options.TableOutput,
    html: Path | None,
    save: Path | None,
    run: options.Run,
) -> None:
    """Fit mappers on the same data, score them on the same words, and test whose lead is chance.

    P@1 comes with a 95 % bootstrap interval, and its difference from the baseline with the p-value
    of McNemar's paired test, adjusted for the number of mappers (Holm). Each mapper runs in a
    process of its own; where the command is stopped, it prints the rows that it has.

    \b
    Examples:
        geomm compare en=wiki.en.vec es=wiki.es.vec --dictionary en-es=train.txt \\
            --test en-es=test.txt --mapper procrustes --mapper geomm:regularization=100 \\
            --html report.html
        geomm compare en=wiki.en.vec es=wiki.es.vec --dictionary en-es=train.txt \\
            --test en-es=test.txt --task sentences --texts en=s.en.txt --texts es=s.es.txt \\
            --task classify --train en=topics.en.tsv --test es=topics.es.tsv
    """
    mappers = fit.make_mappers()
    fit.check(mappers)
    retrievals = options.make_retrievals(scoring.retrieval)
    languages = forms.language_files(files.embeddings)
    kinds = [registry.tasks[name] for name in dict.fromkeys(task)]
    of_pairs = [spec for spec in scoring.test if spec.partition("=")[0] not in languages]
    if not any(kind.of_pairs for kind in kinds) and (of_pairs or not kinds):
        kinds.insert(0, Translation)
    scoring.check(kinds)
    own = scoring.of_each(kinds, languages)
    of_words = own.pop(Translation, None)
    with run.shown():
        read = files.read()
        learnt = fit.read(read)
        tests = options.read_pairs(() if of_words is None else of_words.test, read)
        warn_of_overlap(learnt, tests)
        of_texts = [each for each in retrievals if not isinstance(each, Reranked)]
        tasks = [made for kind, each in own.items() for made in each.make(kind, of_texts, read)]
        sources = provenance_of(read, learnt.items(), tests.items())
        for kind, each in own.items():
            sources = sources.with_files(each.files(kind))
        sources = replace(sources, command=command_line(click.get_current_context()))
        empty = Comparison((), "", provenance=sources, each_pair=each_pair)
        with _kept(empty, save, output) as on_run:
            comparison = compare(
                mappers,
                read,
                learnt,
                tests,
                retrievals=retrievals,
                baseline=baseline,
                each_pair=each_pair,
                tasks=tasks,
                answers=0 if html is None else ANSWERS,
                jobs=run.jobs,
                cluster=run.cluster,
                on_run=on_run,
                **scoring.of_words(),
            )
    comparison = replace(comparison, provenance=sources)
    try:
        output.show(comparison)
    finally:  # what cannot be written costs nothing else
        if html is not None:
            options.write_text(html, comparison.to_html())
    first = comparison.runs[0]
    if all(score.error is not None for run in comparison.runs for score in run.scores):
        why = first.error or first.scores[0].error
        raise ParameterError(f"No mapper could be compared. {first.label}: {why}")


@contextmanager
def _kept(
    empty: Comparison, save: Path | None, output: options.TableOutput
) -> Iterator[Callable[[Run], None]]:
    """Give what takes runs in: each is saved at once, and shown where the rest does not come."""
    runs: list[Run] = []
    stream = None if save is None else open_rows(save)
    is_full = False

    def add(run: Run) -> None:
        nonlocal is_full
        runs.append(run)
        if stream is None or is_full:
            return
        try:
            for row in replace(empty, runs=(run,), baseline=run.label).rows:
                append_row(stream, row)
        except OSError as error:  # it must not end the comparison
            is_full = True
            warnings.warn(
                f"Cannot save rows to {save}: {error.strerror}. The comparison goes on without.",
                stacklevel=2,
            )

    try:
        yield add
    except (KeyboardInterrupt, SystemExit):
        if runs:
            with suppress(OSError):
                output.show(replace(empty, runs=tuple(runs), baseline=runs[0].label))
        raise
    finally:
        if stream is not None:
            with suppress(OSError):  # a warning said so already
                stream.close()
