"""[evaluate] Runs of mappers, each in a process of its own, so that none can take others down.

The processes map the vectors into memory from one file, and end with this one.
"""

from __future__ import annotations

import time
import tracemalloc
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from geomm_plugin import progress, registry
from geomm_plugin.dictionary import Dictionary, refuse_swapped
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import LanguagesError, ParameterError, WorkError
from geomm_plugin.evaluation.task import Score, Task, as_retrievals
from geomm_plugin.evaluation.translation import Evaluation, Translation, check_by, chosen_metrics
from geomm_plugin.fit_report import FitReport, report_of
from geomm_plugin.mapper import Mapper
from geomm_plugin.registry.parameters import check_parameters
from geomm_plugin.retrieval import Reranked
from geomm_plugin.shared_space import SharedSpace
from geomm_plugin.text import printable
from geomm_plugin.work import Cluster, Job, job_count, process_pool

RETIMED_SECONDS = 2.0  # shorter work is done twice: for its memory, then for its time


@dataclass(frozen=True, eq=False)
class Run:
    """One mapper's fit and scores, or why there are none."""

    label: str
    parameters: dict[str, Any]
    fit_seconds: float | None
    peak_bytes: int | None
    error: str | None
    scores: tuple[Score, ...]  # on words, and on the other tasks
    report: FitReport = field(default_factory=FitReport)
    warnings: tuple[str, ...] = ()

    @property
    def evaluations(self) -> list[Evaluation]:
        """The scores on words."""
        return [score for score in self.scores if isinstance(score, Evaluation)]

    @property
    def pairs_used(self) -> int | None:
        """How many pairs of dictionaries the fit used; None where its report has no counts."""
        counts = self.report.pairs.values()
        return sum(each.used for each in counts) if counts else None


def measure(
    work: Callable[[], object], retimed_below: float = RETIMED_SECONDS
) -> tuple[float, int]:
    """Do some work; return its seconds, and the bytes that Python and numpy held at its peak.

    Tracing memory makes short work up to twice as slow: it is done once more without, to be timed.
    """
    tracing = tracemalloc.is_tracing()
    if not tracing:
        tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    start = time.perf_counter()
    try:
        work()
        seconds = time.perf_counter() - start
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        if not tracing:
            tracemalloc.stop()
    if seconds < retimed_below and not tracing:
        start = time.perf_counter()
        work()
        seconds = time.perf_counter() - start
    return seconds, peak


@dataclass(frozen=True)
class Experiment:
    """What every mapper is put through: data that it is fitted to, and tasks, words first."""

    embeddings: dict[str, Embeddings]
    dictionaries: dict[tuple[str, str], Dictionary]
    tests: dict[tuple[str, str], Dictionary]
    tasks: tuple[Task, ...]
    each_pair: bool = False

    def check(self, words: Translation) -> None:
        """Find what would make every mapper fail, before the first one is fitted."""
        check_by(words.by)
        if not self.tasks:
            raise ParameterError("There is no test dictionary. Give one, e.g. {('en', 'es'): ...}.")
        for metric in chosen_metrics(words.metrics):
            registry.metrics[metric]  # an unknown name is an error
        if not words.retrievals:
            raise ParameterError("There is no retrieval to score with. Name one, e.g. 'csls'.")
        for retrieval in as_retrievals(words.retrievals):
            check_parameters(retrieval)
        for pair in self.tests:
            for language in pair:
                if language not in self.embeddings:
                    raise LanguagesError(
                        f"The test dictionary {'-'.join(pair)} names the language {language!r}, "
                        f"which has no embeddings; there are {', '.join(self.embeddings)}."
                    )
        others = [task for task in self.tasks if task is not words]
        if others and all(len(alone.tasks) == bool(alone.tests) for alone in self.fits()):
            raise ParameterError(
                "None of the pairs that are fitted alone has the texts of the tasks. Give those of "
                "both languages of a pair, or leave each_pair out."
            )
        for pair, dictionary in [*self.dictionaries.items(), *self.tests.items()]:
            if all(language in self.embeddings for language in pair):
                refuse_swapped(dictionary, *pair, self.embeddings)

    def fits(self) -> list[Experiment]:
        """Return what is fitted at a time: everything, or each tested pair of languages alone."""
        if not self.each_pair:
            return [self]
        return [  # both directions of a pair need one fit
            replace(
                self,
                embeddings={name: v for name, v in self.embeddings.items() if name in two},
                dictionaries={key: d for key, d in self.dictionaries.items() if two == set(key)},
                tests={key: d for key, d in self.tests.items() if two == set(key)},
                tasks=tuple(part for task in self.tasks if (part := task.among(two)) is not None),
            )
            for two in dict.fromkeys(frozenset(pair) for pair in self.tests or self.dictionaries)
        ]

    def run_each(
        self,
        mappers: Mapping[str, Mapper],
        jobs: int | None,
        on_run: Callable[[Run], object] | None = None,
        cluster: Cluster | None = None,
    ) -> list[Run]:
        """Run every mapper by its label, as compare() says; return the runs in the order given."""
        labels = list(mappers)
        tasks = [Job(label, Experiment.run, (label, mapper)) for label, mapper in mappers.items()]
        if jobs is not None:
            jobs = min(job_count(jobs), max(1, len(tasks)))  # each gets its share of the cores
        runs: dict[str, Run] = {}
        start = time.perf_counter()
        with (
            progress.task("Comparing", len(tasks), "mappers") as advance,
            process_pool(jobs, cluster, shared=(self,), isolated=True) as pool,
        ):
            for number, result in pool.as_completed(tasks):
                label = labels[number]
                if isinstance(result, WorkError):
                    reason = str(result).removeprefix(f"{label}: ")
                    result = Run(label, mappers[label].get_params(), None, None, reason, ())
                runs[label] = result
                progress.logger.info(
                    "%s: %s, %d of %d, %.1f s since the start",
                    printable(label),
                    "compared" if result.error is None else "failed",
                    len(runs),
                    len(tasks),
                    time.perf_counter() - start,
                )
                if on_run is not None:
                    on_run(result)
                advance(1, note=label)
        return [runs[label] for label in labels]

    def run(self, label: str, mapper: Mapper) -> Run:
        """Fit a mapper and score it on every task."""
        reports: list[FitReport] = []
        costs: list[tuple[float, int]] = []
        scores: list[Score] = []
        error = None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                for alone in self.fits():
                    fresh = mapper.clone()
                    given = alone.dictionaries if fresh.needs_dictionary else {}
                    costs.append(measure(partial(fresh.fit, alone.embeddings, given)))
                    reports.append(report_of(fresh))
                    space = fresh.map(alone.embeddings)
                    for task in alone.tasks:
                        scores += alone.score(task, space, fresh)
            except (Exception, SystemExit) as failure:  # whatever it raises, the others go on
                scores.clear()
                error = f"{type(failure).__name__}: {failure}"
        return Run(
            label,
            mapper.get_params(),
            sum(seconds for seconds, _ in costs) if costs else None,
            max((peak for _, peak in costs), default=None),
            error,
            tuple(scores),
            _joined(reports),
            tuple(dict.fromkeys(str(warning.message) for warning in caught)),
        )

    def score(self, task: Task, space: SharedSpace, mapper: Mapper) -> Sequence[Score]:
        """Score a space, with the re-rankings learnt that no weights were given for.

        A task that fails costs no other score, but that of words all.
        """
        if isinstance(task, Translation):
            from geomm_plugin.fitting.reranking import learn_reranking  # few retrievals learn

            data = mapper, self.embeddings, self.dictionaries
            learnt = {
                retrieval.label: learn_reranking(*data, retrieval=retrieval)
                for retrieval in as_retrievals(task.retrievals)
                if isinstance(retrieval, Reranked) and retrieval.learns
            }
            return replace(task, learnt=learnt).score(space)
        try:
            return task.score(space)
        except Exception as failure:
            return [Score(task.name, {}, {}, error=f"{type(failure).__name__}: {failure}")]


def _joined(reports: list[FitReport]) -> FitReport:
    """Return one report of several fits, each of a pair of languages alone."""
    if len(reports) == 1:
        return reports[0]
    joined = FitReport()
    for report in reports:
        joined.pairs |= report.pairs
        joined.regularization |= report.regularization
        joined.solver |= report.solver
    return joined
