"""[evaluate] Runs of mappers, each in a process of its own, so that none can take others down.

The processes map the vectors into memory from one file, and end with this one.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from geomm_plugin import progress
from geomm_plugin.errors import WorkError
from geomm_plugin.evaluation.task import Score
from geomm_plugin.evaluation.translation import Evaluation
from geomm_plugin.fit_report import FitReport
from geomm_plugin.mapper import Mapper
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

    def cost(self) -> dict[str, Any]:
        """Return what every row has about the fit: its time and memory, or why it failed."""
        return {
            "fit_seconds": self.fit_seconds,
            "peak_memory_mb": None if self.peak_bytes is None else self.peak_bytes / 1e6,
            "error": self.error,
        }


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
    run: Callable[[str, Mapper], Run],
    mappers: Mapping[str, Mapper],
    jobs: int | None,
    on_run: Callable[[Run], object] | None = None,
    cluster: Cluster | None = None,
) -> list[Run]:
    """Run every mapper by its label; return the runs in the order given.

    Parameters
    ----------
    jobs
        How many at the same time; -1: one for each core.
    on_run
        Called with each run as soon as it is there.
    cluster
        The address of a Dask scheduler whose workers run them instead, or a Dask Client.
    """
    labels = list(mappers)
    tasks = [Job(label, _call, (label, mapper)) for label, mapper in mappers.items()]
    if jobs is not None:
        jobs = min(job_count(jobs), max(1, len(tasks)))  # each gets its share of the cores
    runs: dict[str, Run] = {}
    start = time.perf_counter()
    with (
        progress.task("Comparing", len(tasks), "mappers") as advance,
        process_pool(jobs, cluster, shared=(run,), isolated=True) as pool,
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


def _call(run: Callable[[str, Mapper], Run], label: str, mapper: Mapper) -> Run:
    return run(label, mapper)
