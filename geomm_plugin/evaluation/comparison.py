"""[evaluate] Mappers against each other on the same data: who wins, and whether by chance."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from geomm_plugin.dictionary import (
    CheckedDictionaries,
    Dictionaries,
    Dictionary,
    DictionaryLike,
    as_dictionaries,
    as_dictionary,
    oriented,
    shuffled,
)
from geomm_plugin.embeddings import as_embeddings
from geomm_plugin.errors import ParameterError, did_you_mean
from geomm_plugin.evaluation.mapper_choice import label_mappers
from geomm_plugin.evaluation.metrics import P_AT_1
from geomm_plugin.evaluation.outcome import Comparison
from geomm_plugin.evaluation.provenance import provenance_of
from geomm_plugin.evaluation.runs import Experiment, Run
from geomm_plugin.evaluation.task import Task, as_retrievals, check_tasks
from geomm_plugin.evaluation.translation import (
    By,
    Translation,
    UnknownWords,
    chosen_metrics,
)
from geomm_plugin.mapper import Mapper
from geomm_plugin.retrieval import Retrieval
from geomm_plugin.work import Cluster, job_count

SIZES = (25, 50, 100, 200, 500, 1000, 2000, 5000)  # of the parts of a learning curve


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
    tasks: Task | Iterable[Task] = (),
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
        By pair of languages: what mappers learn from, and what they are scored on. With tasks,
        there need not be tests of words.
    metrics
        Registered names, by default all; P@1 is always among them. See evaluate() for what "mrr"
        costs.
    baseline
        The label of the mapper that the others are tested against; by default the first.
    each_pair
        Fit every tested pair of languages alone, as papers do; by default all languages are fitted
        together, into one space.
    by
        "spelling", "frequency" or "translations": P@1 of each such group of words, too.
    tasks
        What else the space of each mapper is scored on, e.g. Sentences(texts).
    answers
        How many of the best target words are kept for each test word.
    jobs
        How many mappers are fitted at the same time, each in its own process; -1 is one for each
        core.
    cluster
        The address of a Dask scheduler, or a Dask Client, whose workers fit the mappers instead.
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
    given = as_dictionaries(tests)
    words = Translation(
        given,
        as_retrievals(retrievals),
        tuple(dict.fromkeys([P_AT_1.name, *chosen_metrics(metrics)])),
        oov,
        answers,
        by,
    )
    experiment = Experiment(
        {language: as_embeddings(value) for language, value in embeddings.items()},
        as_dictionaries(dictionaries),
        given,
        (*([words] if given else []), *check_tasks(tasks)),
        each_pair,
    )
    experiment.check(words)
    return Comparison(
        tuple(experiment.run_each(chosen, jobs, on_run, cluster)),
        baseline or next(iter(chosen)),
        seed,
        tuple(words.expected()),
        provenance_of(experiment.embeddings, experiment.dictionaries.items(), given.items()),
        each_pair,
        tuple(experiment.embeddings),
    )


def warn_of_overlap(train: CheckedDictionaries, tests: CheckedDictionaries) -> None:
    """Warn of test words that are in the training dictionary, too."""
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


def learning_curve(
    mappers: str | Mapper | Iterable[str | Mapper],
    embeddings: Mapping[str, object],
    dictionaries: Dictionaries,
    tests: Dictionaries,
    *,
    sizes: Sequence[int] = SIZES,
    retrieval: str | Retrieval = "csls",
    jobs: int | None = None,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Compare mappers on ever larger parts of the same dictionaries.

    Returns the rows of each comparison with their "size". Sizes beyond the longest dictionary are
    replaced by all of it.

    Parameters
    ----------
    sizes
        Numbers of source words; each part holds the smaller ones.
    """
    given = as_dictionaries(dictionaries)
    longest = max((len({word for word, _ in pairs}) for pairs in given.values()), default=0)
    chosen = sorted({min(size, longest) for size in sizes})
    if not chosen or chosen[0] < 1:
        raise ParameterError(
            f"Sizes are numbers of words from 1 on; they are {', '.join(map(str, sizes))}."
        )
    mappers = list(label_mappers(mappers).values())
    rows: list[dict[str, Any]] = []
    for size in chosen:
        parts = {pair: part_of(pairs, size, seed) for pair, pairs in given.items()}
        comparison = compare(
            mappers, embeddings, parts, tests, retrievals=[retrieval], answers=0, jobs=jobs
        )
        rows += [row | {"size": size} for row in comparison.rows]
    return rows


def part_of(dictionary: DictionaryLike, size: int, seed: int = 0) -> Dictionary:
    """Return all pairs of so many source words, drawn so that a larger part holds a smaller one.

    The order of the lines does not matter to which words are drawn.
    """
    pairs = as_dictionary(dictionary)
    drawn = set(shuffled((source for source, _ in pairs), seed)[:size])
    return Dictionary((pair for pair in pairs if pair[0] in drawn), pairs.files)
