"""[evaluate] Runs of mappers, each in a process of its own, so that none can take others down.

On Linux a run is a forked child of this process (work.forked_child): vectors are shared as they
are, nothing is copied or put into shared memory, and a child ends with its parent. Elsewhere, and
on a cluster, workers do it.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from geomm_plugin import progress
from geomm_plugin.evaluation.task import TaskScore
from geomm_plugin.evaluation.translation import Evaluation
from geomm_plugin.fit_report import FitReport
from geomm_plugin.mapper import Mapper
from geomm_plugin.text import printable
from geomm_plugin.work import Cluster, Task, job_count, open_workers, threads_each
from geomm_plugin.work.forked_child import ForkedChild, can_fork, openmp_libraries

AVERAGE = "average"  # the pair of a row that is the mean over all pairs
RETIMED_SECONDS = 2.0  # shorter work is done twice: for its memory, then for its time

Call: TypeAlias = "tuple[Callable[[str, Mapper], Run], str, Mapper]"


@dataclass(frozen=True, eq=False)
class Run:
    """One mapper's fit and scores, or why there are none."""

    label: str
    parameters: dict[str, Any]
    fit_seconds: float | None
    peak_bytes: int | None
    error: str | None
    evaluations: tuple[Evaluation, ...]
    report: FitReport = field(default_factory=FitReport)
    warnings: tuple[str, ...] = ()
    tasks: tuple[TaskScore, ...] = ()  # what it scores on tasks, if any were given

    @property
    def pairs_used(self) -> int | None:
        """How many pairs of dictionaries the fit used; None where its report does not tell."""
        counts = self.report.pairs.values()
        return sum(each.used for each in counts) if counts else None

    def cost(self) -> dict[str, Any]:
        """Return what every row tells of the fit: its time and memory, or why it failed."""
        return {
            "fit_seconds": self.fit_seconds,
            "peak_memory_mb": None if self.peak_bytes is None else self.peak_bytes / 1e6,
            "error": self.error,
        }

    def groups(self) -> Iterator[tuple[str, str, list[Evaluation]]]:
        """Go through (pair, retrieval, evaluations): each pair, then the average of several."""
        for evaluation in self.evaluations:
            yield "-".join(evaluation.pair), evaluation.retrieval, [evaluation]
        by_retrieval: dict[str, list[Evaluation]] = {}
        for evaluation in self.evaluations:
            by_retrieval.setdefault(evaluation.retrieval, []).append(evaluation)
        for retrieval, several in by_retrieval.items():
            if len(several) > 1:
                yield AVERAGE, retrieval, several


def measure(work: Callable[[], object]) -> tuple[float, int]:
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
    if seconds < RETIMED_SECONDS and not tracing:
        start = time.perf_counter()
        work()
        seconds = time.perf_counter() - start
    return seconds, peak


def run_all(
    calls: Sequence[Call],
    jobs: int | None,
    on_run: Callable[[Run], object] | None = None,
    cluster: Cluster | None = None,
) -> list[Run]:
    """Run every call; return the runs in the order given.

    Parameters
    ----------
    jobs
        How many at the same time; -1: one for each core.
    on_run
        Called with each run as soon as it is there.
    cluster
        A scheduler's address, a Dask Client or an Executor that runs them instead.
    """
    runs: dict[int, Run] = {}
    start = time.perf_counter()
    with progress.task("Comparing", total=len(calls)) as advance:
        for number, run in _runs(calls, jobs, cluster):
            runs[number] = run
            progress.logger.info(
                "%s: %s, %d of %d, %.1f s since the start",
                printable(run.label),
                "compared" if run.error is None else "failed",
                len(runs),
                len(calls),
                time.perf_counter() - start,
            )
            if on_run is not None:
                on_run(run)
            advance(1, note=run.label)
    return [runs[number] for number in range(len(calls))]


def _runs(
    calls: Sequence[Call], jobs: int | None, cluster: Cluster | None
) -> Iterator[tuple[int, Run]]:
    """Yield (number of the call, run), each as soon as it is there."""
    if cluster is None and can_fork():
        yield from _run_in_children(calls, job_count(jobs))
        return
    threads = threads_each(min(job_count(jobs), len(calls)))
    with open_workers(jobs, cluster, blas_threads=threads, attempts=1) as workers:
        shared = {id(function): workers.share(function) for function, _, _ in calls}
        tasks = [
            Task(label, _call, (shared[id(function)], label, mapper))
            for function, label, mapper in calls
        ]
        for number, run in workers.as_completed(tasks):
            yield number, run if isinstance(run, Run) else _failed(calls[number], run)


def _call(function: Callable[[str, Mapper], Run], label: str, mapper: Mapper) -> Run:
    return function(label, mapper)


def _run_in_children(calls: Sequence[Call], jobs: int) -> Iterator[tuple[int, Run]]:
    from multiprocessing.connection import wait

    threads = threads_each(min(jobs, len(calls)))
    openmp = openmp_libraries()
    running: dict[object, tuple[int, ForkedChild]] = {}
    waiting = list(enumerate(calls))[::-1]
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                number, call = waiting.pop()
                child = ForkedChild.start(partial(_in_child, openmp, threads, *call))
                running[child.answers] = number, child
            for answers in wait([child.answers for _, child in running.values()]):
                number, child = running.pop(answers)
                yield number, _as_run(child, calls[number])
    finally:
        for _, child in running.values():
            child.end()


def _in_child(
    openmp: Any, threads: int, function: Callable[[str, Mapper], Run], label: str, mapper: Mapper
) -> Run:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(threads), openmp.limit(limits=1):
        return function(label, mapper)


def _as_run(child: ForkedChild, call: Call) -> Run:
    """Return what a child found, or how its process ended."""
    answer, failure = child.result()
    if failure is None:
        assert isinstance(answer, Run)
        return answer
    return _failed(call, failure)


def _failed(call: Call, reason: object) -> Run:
    _, label, mapper = call
    return Run(label, mapper.get_params(), None, None, str(reason), ())
