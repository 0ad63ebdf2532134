"""[evaluate] Mappers against each other on the same data: who wins, and whether by luck."""

from __future__ import annotations

import os
import re
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from geomm_plugin import progress, registry
from geomm_plugin.dictionary import (
    Dictionaries,
    Dictionary,
    as_dictionaries,
    warn_if_swapped,
)
from geomm_plugin.embeddings import Embeddings, as_embeddings
from geomm_plugin.errors import LanguagesError, ParameterError, did_you_mean
from geomm_plugin.evaluation.metrics import P_AT_1
from geomm_plugin.evaluation.outcome import AVERAGE, Comparison, Run
from geomm_plugin.evaluation.provenance import provenance_of
from geomm_plugin.evaluation.translation import (
    Evaluation,
    UnknownWords,
    chosen_metrics,
    evaluate,
)
from geomm_plugin.fitting.fit_report import report_of
from geomm_plugin.mapper import Mapper
from geomm_plugin.parameters import changed_parameters, check_parameters
from geomm_plugin.registry import as_mapper, as_retrieval
from geomm_plugin.retrieval import Retrieval

Call: TypeAlias = "tuple[Callable[[str, Mapper], Run], str, Mapper]"


def compare(
    mappers: str | Mapper | Iterable[str | Mapper],
    embeddings: Mapping[str, object],
    dictionaries: Dictionaries,
    tests: Dictionaries,
    *,
    retrievals: str | Retrieval | Iterable[str | Retrieval] = ("csls",),
    metrics: str | Iterable[str] | None = None,
    baseline: str | None = None,
    oov: UnknownWords = "skip",
    answers: int = 3,
    engine: str | None = None,
    jobs: int | None = None,
    seed: int = 0,
) -> Comparison:
    """Fit every mapper on the same data and score it on the same test words.

    A mapper that fails is a row with its reason, also one whose process ends where there are
    several jobs. Vectors are read once; with several jobs they are shared between processes by
    memory map.

    Parameters
    ----------
    mappers
        Registered names, or mappers with parameters of their own; they are left as they are.
    dictionaries, tests
        By pair of languages: what mappers learn from, and what they are scored on.
    metrics
        Registered names, by default all; P@1 is always among them. See evaluate() for what "mrr"
        costs.
    baseline
        The label of the mapper that the others are tested against; by default the first.
    answers
        How many of the best target words are kept for each test word.
    engine
        "hnsw" searches approximately, for millions of words; the recall is then a column.
    jobs
        How many mappers are fitted at the same time, each in its own process (joblib). By default
        what an enclosing joblib.parallel_config says, and otherwise 1.
    """
    chosen = label_mappers(mappers)
    if baseline is not None and baseline not in chosen:
        raise ParameterError(
            f"The baseline {baseline!r} is not among the mappers compared."
            f"{did_you_mean(baseline, chosen)} They are: {', '.join(chosen)}."
        )
    if jobs == 0 or isinstance(jobs, bool) or not isinstance(jobs, int | None):
        raise ParameterError(f"jobs is a number of processes, or -1 for all cores; it is {jobs!r}.")
    ranked = [retrievals] if isinstance(retrievals, str | Retrieval) else retrievals
    scores = (as_retrieval(retrieval, engine=engine) for retrieval in ranked)
    task = Task(
        {language: as_embeddings(value) for language, value in embeddings.items()},
        as_dictionaries(dictionaries),
        as_dictionaries(tests),
        tuple({score.label: score for score in scores}.values()),
        tuple(dict.fromkeys([P_AT_1.name, *chosen_metrics(metrics)])),
        oov,
        answers,
    )
    task.check()
    runs = run_all([(task.run, label, mapper) for label, mapper in chosen.items()], jobs)
    return Comparison(
        tuple(runs),
        baseline or next(iter(chosen)),
        seed,
        task.asked(),
        task.metrics,
        provenance_of(task.embeddings, task.dictionaries, task.tests),
    )


def label_mappers(mappers: str | Mapper | Iterable[str | Mapper]) -> dict[str, Mapper]:
    """Give each mapper a label: its name, and the parameters that are not the default."""
    found: dict[str, Mapper] = {}
    for choice in [mappers] if isinstance(mappers, str | Mapper) else mappers:
        mapper = as_mapper(choice)
        changed = [
            f"{name}={value:g}" if isinstance(value, float) else f"{name}={value!r}"
            for name, value in changed_parameters(mapper).items()
        ]
        label = f"{mapper.name}({', '.join(changed)})" if changed else mapper.name
        if label in found:
            raise ParameterError(f"The mapper {label} is given twice. Leave one out.")
        found[label] = mapper
    if not found:
        raise ParameterError("There is no mapper to compare. Name at least one.")
    return found


@dataclass(frozen=True)
class Task:
    """What every mapper is put through."""

    embeddings: dict[str, Embeddings]
    dictionaries: dict[tuple[str, str], Dictionary]
    tests: dict[tuple[str, str], Dictionary]
    retrievals: tuple[Retrieval, ...]
    metrics: tuple[str, ...]
    oov: UnknownWords
    answers: int

    def check(self) -> None:
        """Find what would make every mapper fail, before the first one is fitted."""
        if not self.tests:
            raise ParameterError("There is no test dictionary. Give one, e.g. {('en', 'es'): ...}.")
        for metric in self.metrics:
            registry.metrics[metric]  # an unknown name is an error
        if not self.retrievals:
            raise ParameterError("There is no retrieval to score with. Name one, e.g. 'csls'.")
        for retrieval in self.retrievals:
            check_parameters(retrieval)
        for pair in self.tests:
            for language in pair:
                if language not in self.embeddings:
                    raise LanguagesError(
                        f"The test dictionary {pair} names the language {language!r}, which has no "
                        f"embeddings; there are {', '.join(self.embeddings)}."
                    )
        for pair, dictionary in [*self.dictionaries.items(), *self.tests.items()]:
            if all(language in self.embeddings for language in pair):
                warn_if_swapped(dictionary, *pair, self.embeddings)

    def asked(self) -> tuple[tuple[str, str], ...]:
        """Return each (pair, retrieval) that a mapper is scored on, and the averages."""
        pairs = ["-".join(pair) for pair in self.tests]
        labels = [retrieval.label for retrieval in self.retrievals]
        averages = [(AVERAGE, label) for label in labels if len(pairs) > 1]
        return (*((pair, label) for pair in pairs for label in labels), *averages)

    def run(self, label: str, mapper: Mapper) -> Run:
        """Fit a mapper and score it on every test dictionary."""
        mapper = mapper.clone()
        evaluations: list[Evaluation] = []
        seconds, peak, error = None, None, None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                seconds, peak = measure(lambda: mapper.fit(self.embeddings, self.dictionaries))
                space = mapper.map(self.embeddings)
                for (source, target), dictionary in self.tests.items():
                    for retrieval in self.retrievals:
                        evaluations.append(
                            evaluate(
                                space,
                                source,
                                target,
                                dictionary,
                                retrieval,
                                metrics=self.metrics,
                                oov=self.oov,
                                answers=self.answers,
                            )
                        )
            except (Exception, SystemExit) as failure:  # whatever it raises, the others go on
                evaluations.clear()
                error = f"{type(failure).__name__}: {failure}"
        return Run(
            label,
            mapper.get_params(),
            seconds,
            peak,
            error,
            tuple(evaluations),
            report_of(mapper),
            tuple(dict.fromkeys(str(warning.message) for warning in caught)),
        )


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


def run_all(calls: Sequence[Call], jobs: int | None) -> list[Run]:
    """Run every call, in this process or through joblib's back end, in the order given."""
    runs: list[Run] = []
    with progress.task("Comparing", total=len(calls)) as advance:
        for run in _run_here(calls) if jobs == 1 else _run_in_processes(calls, jobs):
            runs.append(run)
            advance(1, note=run.label)
    return runs


def _run_here(calls: Sequence[Call]) -> Iterator[Run]:
    for function, label, mapper in calls:
        yield function(label, mapper)


def _run_in_processes(calls: Sequence[Call], jobs: int | None) -> Iterator[Run]:
    """Yield the runs in order; after a process has died, each in a process of its own.

    One process that ends takes all others down, with their results: only alone it is seen whose it
    was.
    """
    from concurrent.futures.process import BrokenProcessPool  # slow to import, as joblib is

    from joblib import Parallel, delayed, effective_n_jobs

    parallel = Parallel(n_jobs=jobs, return_as="generator", max_nbytes="1M", mmap_mode="r")
    workers = max(1, effective_n_jobs(jobs))
    threads = max(1, (os.cpu_count() or 1) // min(workers, len(calls)))
    done = 0
    try:
        for run in parallel(delayed(_with_threads)(threads, *call) for call in calls):
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
        (run,) = parallel([delayed(_with_threads)(threads, *call)])
    except BrokenProcessPool as failure:
        error = f"its process ended{_exit_code(failure)}; it may have run out of memory."
        return Run(label, mapper.get_params(), None, None, error, ())
    assert isinstance(run, Run)
    return run


def _exit_code(failure: Exception) -> str:
    """Return how a process ended, which joblib tells among much else."""
    found = re.search(r"\{(.+)\}", str(failure))
    return f" ({found[1]})" if found else ""


def _with_threads(
    threads: int, function: Callable[[str, Mapper], Run], label: str, mapper: Mapper
) -> Run:
    """Run one call with few BLAS threads, so that jobs do not fight for the cores."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(threads):
        return function(label, mapper)
