"""[evaluate] Runs of mappers, each in a process of its own, so that none can take others down.

On Linux a run is a forked child of this process (evaluation.child): vectors are shared as they are,
nothing is copied or put into shared memory, and a child ends with its parent. Elsewhere, and where
an enclosing joblib.parallel_config names another backend (Dask, ...), joblib does it.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from geomm_plugin import progress
from geomm_plugin.evaluation.child import Child, can_fork, openmp_libraries
from geomm_plugin.evaluation.task import TaskScore
from geomm_plugin.evaluation.translation import Evaluation
from geomm_plugin.fitting.fit_report import FitReport
from geomm_plugin.mapper import Mapper

AVERAGE = "average"  # the pair of a row that is the mean over all pairs
PARENT_CHECKED_EVERY = 0.5  # seconds

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
    """Do some work; return its seconds, and the bytes that Python and numpy held at its peak."""
    tracing = tracemalloc.is_tracing()
    if not tracing:
        tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    start = time.perf_counter()
    try:
        work()
        return time.perf_counter() - start, tracemalloc.get_traced_memory()[1] - before
    finally:
        if not tracing:
            tracemalloc.stop()


def run_all(
    calls: Sequence[Call], jobs: int | None, on_run: Callable[[Run], object] | None = None
) -> list[Run]:
    """Run every call; return the runs in the order given.

    Parameters
    ----------
    jobs
        How many at the same time; None: what an enclosing joblib.parallel_config says, else 1.
    on_run
        Called with each run as soon as it is there.
    """
    runs: dict[int, Run] = {}
    with progress.task("Comparing", total=len(calls)) as advance:
        for number, run in _runs(calls, jobs):
            runs[number] = run
            if on_run is not None:
                on_run(run)
            advance(1, note=run.label)
    return [runs[number] for number in range(len(calls))]


def _runs(calls: Sequence[Call], jobs: int | None) -> Iterator[tuple[int, Run]]:
    """Yield (number of the call, run), each as soon as it is there."""
    if _joblib_is_configured(jobs) or (not can_fork() and jobs != 1):
        yield from enumerate(_run_by_joblib(calls, jobs))
    elif can_fork():
        yield from _run_in_children(calls, _count(jobs or 1))
    else:
        for number, (function, label, mapper) in enumerate(calls):
            yield number, function(label, mapper)


def _count(jobs: int) -> int:
    """Return how many processes a number of jobs means: -1 is one for each core."""
    return jobs if jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + jobs)


def _run_in_children(calls: Sequence[Call], jobs: int) -> Iterator[tuple[int, Run]]:
    from multiprocessing.connection import wait

    threads = max(1, (os.cpu_count() or 1) // min(jobs, len(calls)))
    openmp = openmp_libraries()
    running: dict[object, tuple[int, Child]] = {}
    waiting = list(enumerate(calls))[::-1]
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                number, call = waiting.pop()
                child = Child.start(partial(_in_child, openmp, threads, *call))
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


def _as_run(child: Child, call: Call) -> Run:
    """Return what a child found, or how its process ended."""
    _, label, mapper = call
    answer, failure = child.result()
    if failure is None:
        assert isinstance(answer, Run)
        return answer
    return Run(label, mapper.get_params(), None, None, failure, ())


def _joblib_is_configured(jobs: int | None) -> bool:
    """Tell whether a joblib.parallel_config around us asks for more than joblib does by itself."""
    if "joblib" not in sys.modules:  # nobody can have configured it
        return False
    from joblib.parallel import LokyBackend, get_active_backend

    backend, count = get_active_backend()
    return not isinstance(backend, LokyBackend) or (jobs is None and count not in (None, 1))


def _run_by_joblib(calls: Sequence[Call], jobs: int | None) -> Iterator[Run]:
    """Yield the runs in order; after a process has died, each in a process of its own.

    A process that ends takes all others of joblib down, with their results: rerun the rest one per
    process, to name the mapper that crashed.
    """
    from concurrent.futures.process import BrokenProcessPool  # slow to import, as joblib is

    from joblib import Parallel, delayed, effective_n_jobs

    parallel = Parallel(n_jobs=jobs, return_as="generator", max_nbytes="1M", mmap_mode="r")
    workers = max(1, effective_n_jobs(jobs))
    threads = max(1, (os.cpu_count() or 1) // min(workers, len(calls)))
    parent = os.getpid()
    done = 0
    try:
        for run in parallel(delayed(_in_worker)(parent, threads, *call) for call in calls):
            done += 1
            yield run
    except BrokenProcessPool:
        for call in calls[done:]:
            yield _run_alone(call)


def _run_alone(call: Call) -> Run:
    from concurrent.futures.process import BrokenProcessPool

    from joblib import Parallel, delayed

    _, label, mapper = call
    threads = os.cpu_count() or 1
    try:
        # Two jobs, since one would run in this process.
        parallel = Parallel(n_jobs=2, max_nbytes="1M", mmap_mode="r")
        (run,) = parallel([delayed(_in_worker)(os.getpid(), threads, *call)])
    except BrokenProcessPool as failure:
        error = f"its process ended{_exit_code(failure)}; it may have run out of memory."
        return Run(label, mapper.get_params(), None, None, error, ())
    assert isinstance(run, Run)
    return run


def _exit_code(failure: Exception) -> str:
    """Return how a process ended, which joblib tells among much else."""
    code = re.search(r"\{(.+)\}", str(failure))
    return f" ({code[1]})" if code else ""


def _in_worker(
    parent: int, threads: int, function: Callable[[str, Mapper], Run], label: str, mapper: Mapper
) -> Run:
    """Run one call in a worker of joblib's, which ends where its parent was killed."""
    if os.getppid() == parent:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    return _with_threads(threads, function, label, mapper)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_CHECKED_EVERY)
    os._exit(1)


def _with_threads(
    threads: int, function: Callable[[str, Mapper], Run], label: str, mapper: Mapper
) -> Run:
    """Run one call with few BLAS threads, so that jobs do not fight for the cores."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(threads):
        return function(label, mapper)
