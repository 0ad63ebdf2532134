"""[evaluate] Mappers against each other on the same data: who wins, and whether by luck."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from geomm_plugin import registry
from geomm_plugin.dictionary import (
    CheckedDictionaries,
    Dictionaries,
    Dictionary,
    as_dictionaries,
    oriented,
    warn_if_swapped,
)
from geomm_plugin.embeddings import Embeddings, as_embeddings
from geomm_plugin.errors import LanguagesError, ParameterError, did_you_mean
from geomm_plugin.evaluation.breakdown import By, check_by
from geomm_plugin.evaluation.contestants import label_mappers
from geomm_plugin.evaluation.metrics import P_AT_1
from geomm_plugin.evaluation.outcome import Comparison
from geomm_plugin.evaluation.provenance import provenance_of
from geomm_plugin.evaluation.runs import AVERAGE, Run, measure, run_all
from geomm_plugin.evaluation.task import Task as SpaceTask
from geomm_plugin.evaluation.task import TaskScore, check_tasks
from geomm_plugin.evaluation.translation import (
    Evaluation,
    UnknownWords,
    chosen_metrics,
    evaluate,
)
from geomm_plugin.fit_report import FitReport, report_of
from geomm_plugin.fitting.reranking import learn_reranking
from geomm_plugin.mapper import Mapper
from geomm_plugin.registry import as_retrieval
from geomm_plugin.registry.parameters import check_parameters
from geomm_plugin.retrieval import Reranked, Retrieval
from geomm_plugin.shared_space import Reranking, SharedSpace
from geomm_plugin.work import Cluster, job_count


def compare(
    mappers: str | Mapper | Iterable[str | Mapper],
    embeddings: Mapping[str, object],
    dictionaries: Dictionaries,
    tests: Dictionaries,
    *,
    retrievals: str | Retrieval | Iterable[str | Retrieval] = ("csls",),
    metrics: str | Iterable[str] | None = None,
    baseline: str | None = None,
    each_pair: bool = False,
    by: By | None = None,
    tasks: SpaceTask | Iterable[SpaceTask] = (),
    oov: UnknownWords = "skip",
    answers: int = 3,
    jobs: int | None = None,
    cluster: Cluster | None = None,
    seed: int = 0,
    on_run: Callable[[Run], object] | None = None,
) -> Comparison:
    """Fit every mapper on the same data and score it on the same test words.

    A mapper that fails is a row with its reason, also one whose process ends: each runs in another
    process, which maps the vectors into memory.

    Parameters
    ----------
    mappers
        Registered names ("all": every one), texts such as "geomm:regularization=100", or mappers
        with parameters of their own; they are left as they are.
    dictionaries, tests
        By pair of languages: what mappers learn from, and what they are scored on.
    metrics
        Registered names, by default all; P@1 is always among them. See evaluate() for what "mrr"
        costs.
    baseline
        The label of the mapper that the others are tested against; by default the first.
    each_pair
        Fit every tested pair of languages alone, as papers do; by default all languages are fitted
        together, into one space.
    by
        "spelling", "frequency" or "translations": P@1 of each such group of words is told, too.
    tasks
        What else the space of each mapper is scored on, e.g. Sentences(texts); see `task_rows`.
    answers
        How many of the best target words are kept for each test word.
    jobs
        How many mappers are fitted at the same time, each in its own process; -1 is one for each
        core.
    cluster
        The address of a Dask scheduler, a Dask Client, or an Executor of `concurrent.futures` that
        fits the mappers instead of this machine.
    on_run
        Called with each mapper's Run as soon as it is there.
    """
    chosen = label_mappers(mappers)
    if baseline is not None and baseline not in chosen:
        raise ParameterError(
            f"The baseline {baseline!r} is not among the mappers compared."
            f"{did_you_mean(baseline, chosen)} They are: {', '.join(chosen)}."
        )
    job_count(jobs)  # an impossible number is an error
    ranked = [retrievals] if isinstance(retrievals, str | Retrieval) else retrievals
    scores = (as_retrieval(retrieval) for retrieval in ranked)
    task = Task(
        {language: as_embeddings(value) for language, value in embeddings.items()},
        as_dictionaries(dictionaries),
        as_dictionaries(tests),
        tuple({score.label: score for score in scores}.values()),
        tuple(dict.fromkeys([P_AT_1.name, *chosen_metrics(metrics)])),
        oov,
        answers,
        each_pair,
        by,
        check_tasks(tasks),
    )
    task.check()
    return Comparison(
        tuple(run_all(task.run, chosen, jobs, on_run, cluster)),
        baseline or next(iter(chosen)),
        seed,
        task.asked(),
        task.metrics,
        provenance_of(task.embeddings, task.dictionaries.items(), task.tests.items()),
        each_pair,
        tuple(task.embeddings),
        by,
    )


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
    each_pair: bool = False
    by: By | None = None
    tasks: tuple[SpaceTask, ...] = ()

    def check(self) -> None:
        """Find what would make every mapper fail, before the first one is fitted."""
        check_by(self.by)
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
                        f"The test dictionary {'-'.join(pair)} names the language {language!r}, "
                        f"which has no embeddings; there are {', '.join(self.embeddings)}."
                    )
        parts = [part for task in self.fits() for part in task.tasks]
        if self.tasks and not parts:
            raise ParameterError(
                "None of the pairs that are fitted alone has the texts of the tasks. Give those of "
                "both languages of a pair, or leave each_pair out."
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

    def fits(self) -> list[Task]:
        """Return what is fitted at a time: everything, or each tested pair of languages alone."""
        if not self.each_pair:
            return [self]
        tasks: dict[frozenset[str], Task] = {}
        for pair, test in self.tests.items():
            two = frozenset(pair)
            alone = replace(
                self,
                embeddings={name: v for name, v in self.embeddings.items() if name in two},
                dictionaries={key: d for key, d in self.dictionaries.items() if two == set(key)},
                tests={pair: test},
                tasks=tuple(part for task in self.tasks if (part := task.among(two)) is not None),
            )
            known = tasks.get(two, alone)  # both directions of a pair need one fit
            tasks[two] = replace(known, tests=known.tests | {pair: test})
        return list(tasks.values())

    def run(self, label: str, mapper: Mapper) -> Run:
        """Fit a mapper and score it on every test dictionary."""
        evaluations: list[Evaluation] = []
        reports: list[FitReport] = []
        costs: list[tuple[float, int]] = []
        scores: list[TaskScore] = []
        error = None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                for task in self.fits():
                    fresh = mapper.clone()
                    given = task.dictionaries if fresh.needs_dictionary else {}
                    fit = partial(fresh.fit, task.embeddings, given)
                    costs.append(measure(fit))
                    reports.append(report_of(fresh))
                    space = fresh.map(task.embeddings)
                    evaluations += task.evaluations(space, task.learnt(fresh))
                    scores += task.task_scores(space)
            except (Exception, SystemExit) as failure:  # whatever it raises, the others go on
                evaluations.clear()
                scores.clear()
                error = f"{type(failure).__name__}: {failure}"
        return Run(
            label,
            mapper.get_params(),
            sum(seconds for seconds, _ in costs) if costs else None,
            max((peak for _, peak in costs), default=None),
            error,
            tuple(evaluations),
            _joined(reports),
            tuple(dict.fromkeys(str(warning.message) for warning in caught)),
            tuple(scores),
        )

    def task_scores(self, space: SharedSpace) -> Iterator[TaskScore]:
        """Score a space on every task; one that fails costs no other score."""
        for task in self.tasks:
            try:
                yield from task.score(space)
            except Exception as failure:
                yield TaskScore(task.name, {}, {}, error=f"{type(failure).__name__}: {failure}")

    def learnt(self, mapper: Mapper) -> dict[str, Reranking]:
        """Return the weights of each re-ranking that asks for learnt ones, by its label."""
        return {
            retrieval.label: learn_reranking(
                mapper.clone(), self.embeddings, self.dictionaries, retrieval=retrieval
            )
            for retrieval in self.retrievals
            if isinstance(retrieval, Reranked) and retrieval.weights == "learnt"
        }

    def evaluations(
        self, space: SharedSpace, learnt: Mapping[str, Reranking]
    ) -> Iterator[Evaluation]:
        """Score a fitted mapper's space on every test dictionary by every retrieval."""
        for (source, target), dictionary in self.tests.items():
            for retrieval in self.retrievals:
                space.reranking = learnt.get(retrieval.label, {})
                yield evaluate(
                    space,
                    source,
                    target,
                    dictionary,
                    retrieval,
                    metrics=self.metrics,
                    oov=self.oov,
                    answers=self.answers,
                    by=self.by,
                )


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


def warn_of_overlap(train: CheckedDictionaries, tests: CheckedDictionaries) -> None:
    """Say how many test words the mappers learn by heart."""
    for (source, target), test in tests.items():
        words = {word for word, _ in test}
        known = words & {word for word, _ in oriented(train, source, target)}
        if known:
            warnings.warn(
                f"{len(known)} of the {len(words)} test words of {source}-{target} are in its "
                f"training dictionary, too, e.g. {min(known)!r}: what is learnt by heart is no "
                "translation. Take them out of one of the two.",
                stacklevel=2,
            )
