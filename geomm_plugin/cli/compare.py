"""`geomm compare`: mappers against each other on the same data."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TextIO

import click

from geomm_plugin.cli import forms, options, task_files
from geomm_plugin.cli.config import Configurable, command_line
from geomm_plugin.cli.output import TableOutput, check_outputs, table_options, write_text
from geomm_plugin.errors import ParameterError
from geomm_plugin.evaluation.comparison import compare, warn_of_overlap
from geomm_plugin.evaluation.mapper_choice import choose_mappers
from geomm_plugin.evaluation.outcome import Comparison
from geomm_plugin.evaluation.provenance import provenance_of
from geomm_plugin.evaluation.runs import Run
from geomm_plugin.evaluation.translation import By, UnknownWords

ANSWERS = 3  # kept for each word and mapper, for the words that changed


@click.command(cls=Configurable)
@options.space_options()
@options.fit_options(("all",))
@options.tests_option
@options.retrievals_option
@options.metrics_option
@options.by_option
@options.oov_option
@click.option(
    "--task",
    multiple=True,
    metavar="NAME",
    help="Score each mapper on this, too: sentences (with --texts), classify (with --train and "
    "--test LANG=FILE). Repeatable.",
)
@task_files.texts_option
@task_files.train_option
@click.option("--baseline", metavar="MAPPER", help="Test against this one; by default the first.")
@click.option(
    "--each-pair",
    is_flag=True,
    help="Fit every tested pair of languages alone, as papers do; by default all together.",
)
@table_options
@click.option(
    "--html",
    type=forms.OUTPUT,
    help="Write a page with tables, charts and the words that changed to this file.",
)
@click.option(
    "--save",
    type=forms.OUTPUT,
    help="Add each mapper's rows to this file as soon as they are there, one JSON object a line.",
)
@options.run_options(
    jobs="Mappers fitted at the same time, each in its own process; -1 is one for each core.",
    cluster=True,
)
def command(
    files: options.SpaceFiles,
    fit: options.Fit,
    test: tuple[str, ...],
    retrieval: tuple[str, ...],
    metric: tuple[str, ...],
    by: By | None,
    oov: UnknownWords,
    task: tuple[str, ...],
    texts: tuple[str, ...],
    train: tuple[str, ...],
    baseline: str | None,
    each_pair: bool,
    output: TableOutput,
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
    chosen = choose_mappers(fit.mapper, fit.set)
    needed = any(mapper.needs_dictionary for mapper in chosen)
    if needed and not fit.has_dictionaries:
        raise ParameterError(options.NOTHING_TO_LEARN)
    check_outputs()
    ranked = options.make_retrievals(retrieval)
    word_tests, task_tests = _divide(test, files.embeddings) if task else (list(test), [])
    of_tasks = {"texts": texts, "train": train, "test": task_tests}
    scored, task_sources = task_files.make_tasks(task, of_tasks, ranked, beside_words=True)
    runs = RunsSoFar(save)
    with run.shown(), runs.shown_if_stopped(output):
        read = files.read()
        learnt = fit.read(read)
        tests = options.read_pairs(word_tests, read)
        warn_of_overlap(learnt, tests)
        sources = provenance_of(read, learnt.items(), tests.items()).with_files(task_sources)
        runs.outcome = Comparison((), "", provenance=sources, each_pair=each_pair)
        comparison = compare(
            chosen,
            read,
            learnt,
            tests,
            retrievals=ranked,
            metrics=metric or None,
            baseline=baseline,
            each_pair=each_pair,
            by=by,
            tasks=scored,
            oov=oov,
            answers=0 if html is None else ANSWERS,
            jobs=run.jobs,
            cluster=run.cluster,
            on_run=runs.add,
        )
    show_all(replace(comparison, provenance=sources), output, html)


def _divide(tests: Sequence[str], embeddings: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the test dictionaries, LANG-LANG=FILE, and the test texts of tasks, LANG=FILE."""
    languages = {spec.partition("=")[0] for spec in embeddings}
    of_tasks = [spec for spec in tests if spec.partition("=")[0] in languages]
    return [spec for spec in tests if spec not in of_tasks], of_tasks


def show_all(comparison: Comparison, output: TableOutput, html: Path | None) -> None:
    """Print the table and write the page; what cannot be written costs nothing else."""
    command = command_line(click.get_current_context())
    with ExitStack() as steps:  # the last one first, each whatever became of the others
        if html is not None:
            steps.callback(_write_page, html, comparison, command)
        steps.callback(output.show, comparison)
    first = comparison.runs[0]
    if all(run.error is not None for run in comparison.runs):
        raise ParameterError(f"No mapper could be compared. {first.label}: {first.error}")


def _write_page(path: Path, comparison: Comparison, command: str) -> None:
    write_text(path, comparison.to_html(replace(comparison.provenance, command=command)))


class RunsSoFar:
    """What is there of a comparison while it goes on: saved at once, shown where it is stopped."""

    def __init__(self, save: Path | None) -> None:
        self.runs: list[Run] = []
        self.save = save
        self.file: TextIO | None = None
        self.outcome = Comparison((), "")  # what is known of all runs: where the data come from

    def add(self, run: Run) -> None:
        """Take a run in, and save its rows; a disk that is full must not end the comparison."""
        self.runs.append(run)
        if self.save is None:
            return
        rows = replace(self.outcome, runs=(run,), baseline=run.label).rows
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        try:
            if self.file is None:  # open until the end: who reads a pipe would not come again
                torn = self.save.is_file() and self.save.read_bytes()[-1:] not in (b"", b"\n")
                self.file = self.save.open("a", encoding="utf-8", errors="surrogateescape")
                self.file.write("\n" if torn else "")  # behind a line that a kill tore off
            self.file.write(lines)
            self.file.flush()
            if self.save.is_file():  # a pipe has no disk
                os.fsync(self.file.fileno())
        except OSError as error:
            self.save = None
            warnings.warn(
                f"Cannot save rows to {error.filename or 'the file of --save'}: {error.strerror}. "
                "The comparison goes on without.",
                stacklevel=2,
            )

    @contextmanager
    def shown_if_stopped(self, output: TableOutput) -> Iterator[None]:
        """Print the rows that are there where the rest does not come: Ctrl-C, a signal."""
        try:
            yield
        except (KeyboardInterrupt, SystemExit):
            if self.runs:
                with suppress(OSError):
                    runs = tuple(self.runs)
                    output.show(replace(self.outcome, runs=runs, baseline=runs[0].label))
            raise
        finally:
            if self.file is not None:
                with suppress(OSError):  # a warning said so already
                    self.file.close()
