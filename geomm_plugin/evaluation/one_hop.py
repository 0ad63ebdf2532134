"""[evaluate] One-hop translation: from source to target through a pivot, with no direct dictionary.

- composition: a mapper for two languages maps source, pivot and target into one space, and words
  are compared there. Where both pairs have a metric of their own (`geomm`), the pivot's words have
  one metric G for both: x and z meet as x W_1 G^-1 W_2 z'.
- pivot_space: the paper's own composition. Each pair is fitted alone, words of source and target
  move into the pivot's space, and are compared there: x W_1 W_2 z'. The same as composition for
  rotations.
- pipeline: a source word is translated to a pivot word, and that word to the target.
- joint: one method learns the space of all three languages at once.

Jawanpuria, Balgovind, Kunchukuttan, Mishra: "Learning Multilingual Word Embeddings in Latent Metric
Space: A Geometric Approach", TACL 2019, section "Indirect translation".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from geomm_plugin import progress, registry
from geomm_plugin.arrays import Matrix, RowIndices
from geomm_plugin.dictionary import (
    Dictionaries,
    Dictionary,
    as_dictionaries,
    oriented,
    shuffled,
)
from geomm_plugin.embeddings import Embeddings, as_embeddings
from geomm_plugin.errors import DictionaryError, LanguagesError, ParameterError, did_you_mean
from geomm_plugin.evaluation.mapper_choice import label_mappers
from geomm_plugin.evaluation.metrics import depth_of
from geomm_plugin.evaluation.outcome import Scores
from geomm_plugin.evaluation.provenance import mapper_columns, provenance_of
from geomm_plugin.evaluation.table import Cell, Cells, crossed, places
from geomm_plugin.evaluation.task import WordScore
from geomm_plugin.evaluation.translation import evaluate, gold_rows
from geomm_plugin.fit_report import report_of
from geomm_plugin.language_graph import neighbors
from geomm_plugin.mapper import LinearMapper, Mapper
from geomm_plugin.registry import as_retrieval
from geomm_plugin.retrieval import Retrieval
from geomm_plugin.shared_space import SharedSpace

MAPPERS = ("procrustes", "msf", "geomm", "geomm_multi")  # those of the paper's table
METHODS = ("composition", "pivot_space", "pipeline", "joint")
DEFAULT_METHODS = ("composition", "pipeline", "joint")
TASK = "one_hop"


class OneHopTable(Scores):
    """Ways to translate through a pivot, side by side: a row for each method, mapper and path.

    After the numbers comes where they are from: parameters and chosen lambda, retrieval, seed,
    versions of packages, and the SHA-256 of every file.
    """

    def cells(self) -> Cells:
        """Return header and rows as texts: P@1 by path, grouped by method as in the paper."""
        rows = self.rows
        best = places([row["p@1"] for row in rows], [row["path"] for row in rows])
        entries = [
            (
                (row["method"], row["mapper"]),
                f"{row['path']}, P@1 (coverage {row['coverage']:.2f})",
                Cell(f"{row['p@1']:.3f}", place, number=True),
            )
            for row, place in zip(rows, best, strict=True)
        ]
        entries.sort(key=lambda entry: METHODS.index(entry[0][0]))
        return crossed(("method", "mapper"), entries)


def one_hop(
    embeddings: Mapping[str, object],
    dictionaries: Dictionaries,
    tests: Dictionaries,
    *,
    mappers: str | Mapper | Iterable[str | Mapper] = MAPPERS,
    pivot: str | None = None,
    retrieval: str | Retrieval = "csls",
    disjoint: bool = False,
    seed: int = 0,
    methods: Iterable[str] = DEFAULT_METHODS,
) -> OneHopTable:
    """Translate through a pivot in every way, and score each on the same test words.

    Parameters
    ----------
    dictionaries
        What mappers learn from, by pair of languages in either direction; only the two that lead
        through the pivot are used.
    tests
        Test dictionaries, by pair (source, target).
    pivot
        The language in between; by default the only one with dictionaries to both.
    disjoint
        Let the two training dictionaries share no pivot word, as the paper did.
    methods
        Mappers that learn all languages at once are scored as they are ("joint"), all others by
        "composition", by "pivot_space" (the paper's composition) and as a "pipeline".
    """
    chosen = label_mappers(mappers)
    methods = list(methods)
    for method in methods:
        if method not in METHODS:
            raise ParameterError(
                f"There is no way {method!r} through a pivot.{did_you_mean(method, METHODS)} There "
                f"are: {', '.join(METHODS)}."
            )
    retrieval = as_retrieval(retrieval)
    given, asked = as_dictionaries(dictionaries), as_dictionaries(tests)
    languages = {language: as_embeddings(value) for language, value in embeddings.items()}
    about = {"retrieval": retrieval.label, "disjoint_pivot": disjoint, "seed": seed}
    scores: list[WordScore] = []
    with progress.task("One hop", len(asked) * len(chosen), "runs") as advance:
        for (source, target), test in asked.items():
            path = (source, find_pivot(source, target, given, pivot), target)
            for language in path:
                if language not in languages:
                    raise LanguagesError(
                        f"The way from {source} through {path[1]} to {target} needs embeddings of "
                        f"{language!r}; there are {', '.join(languages)}."
                    )
            first, second = (oriented(given, *leg) for leg in pairwise(path))
            if disjoint:
                first, second = disjoint_pivot(first, second, seed)
            three = {language: languages[language] for language in path}
            trip = _Trip(three, path, {path[:2]: first, path[1:]: second}, test, retrieval)
            for label, mapper in chosen.items():
                for score in trip.scores(label, mapper, methods):
                    scores.append(replace(score, details={**score.details, **about}))
                advance(1, note=label)
    if not scores:
        raise ParameterError(
            f"None of {', '.join(chosen)} goes by {' or '.join(methods)}: mappers of several "
            "languages at once are joint, and no other ones. Choose another method or mapper."
        )
    provenance = provenance_of(languages, given.items(), asked.items())
    return OneHopTable(tuple(scores), provenance=provenance)


@dataclass(frozen=True)
class _Trip:
    """A path through a pivot, with its data."""

    embeddings: Mapping[str, Embeddings]
    path: tuple[str, str, str]
    legs: Mapping[tuple[str, str], Dictionary]
    test: Dictionary
    retrieval: Retrieval

    def scores(self, label: str, mapper: Mapper, methods: Iterable[str]) -> Iterator[WordScore]:
        """Score a mapper in the ways that it allows."""
        alone: list[Mapper] = []
        for method in methods:
            if mapper.joint is not (method == "joint"):
                continue
            if method in ("composition", "joint"):
                fitted = [self._fit(mapper, self.path[1], self.legs)]
                ranks, coverage = self._ranks(fitted[0].map(self.embeddings))
            else:
                alone = alone or [self._fit(mapper, None, {leg: d}) for leg, d in self.legs.items()]
                fitted = alone
                through = self._pipeline if method == "pipeline" else self._in_pivot
                ranks, coverage = through(*alone)
            metrics = list(registry.metrics.values())
            yield WordScore(
                TASK,
                {"method": method, "mapper": label, "path": "-".join(self.path)},
                {metric.name: metric(ranks) for metric in metrics},
                metrics[0].score(ranks),
                {"coverage": coverage, "n_words": len(ranks)}
                | mapper_columns(fitted[0].get_params(), *map(report_of, fitted)),
            )

    def _fit(
        self, mapper: Mapper, hub: str | None, legs: Mapping[tuple[str, str], Dictionary]
    ) -> Mapper:
        """Fit a mapper with the same parameters, but for the hub, if it has hubs."""
        fresh = mapper.clone()
        if "hub" in fresh.get_params():
            fresh.set_params(hub=hub)
        languages = dict.fromkeys(language for leg in legs for language in leg)
        return fresh.fit({language: self.embeddings[language] for language in languages}, legs)

    def _ranks(self, space: SharedSpace) -> tuple[RowIndices, float]:
        source, _, target = self.path
        found = evaluate(space, source, target, self.test, self.retrieval)
        return found.ranks, found.coverage

    def _in_pivot(self, first: Mapper, second: Mapper) -> tuple[RowIndices, float]:
        """Rank source and target words in the pivot's own space: x W_1 and z W_2'."""
        source, pivot, target = self.path
        moved = {}
        for language, mapper in ((source, first), (target, second)):
            if not isinstance(mapper, LinearMapper):
                raise ParameterError(
                    f"{mapper.name} has no matrix that moves words into the pivot's space. Leave "
                    "pivot_space out."
                )
            mapped = mapper.map({language: self.embeddings[language]})[language]
            moved[language] = mapped.map(partial(_multiply, matrix=mapper.matrices_[pivot].T))
        return self._ranks(SharedSpace(moved))

    def _pipeline(self, first: Mapper, second: Mapper) -> tuple[RowIndices, float]:
        """Rank target words for the pivot word that is nearest to each source word."""
        source, pivot, target = self.path
        near, far = (
            fitted.map({language: self.embeddings[language] for language in leg})
            for fitted, leg in ((first, (source, pivot)), (second, (pivot, target)))
        )
        gold, missing = gold_rows(SharedSpace(self.embeddings), source, target, self.test)
        index = near.index(source, pivot, self.retrieval)
        step = index.search(near.queries(list(gold), source), 1).indices[:, 0]
        ranks = far.index(pivot, target, self.retrieval).ranks(
            far.unit_rows(pivot).select(step),
            [np.array(rows) for rows in gold.values()],
            depth_of(registry.metrics.values()),
        )
        return ranks, len(gold) / (len(gold) + len(missing))


def _multiply(rows: Matrix, matrix: Matrix) -> Matrix:
    product: Matrix = rows @ matrix
    return product


def find_pivot(source: str, target: str, dictionaries: Dictionaries, pivot: str | None) -> str:
    """Return the language that has dictionaries with both."""
    linked = neighbors(dictionaries)
    common = sorted(set(linked.get(source, [])) & set(linked.get(target, [])))
    if pivot in common:
        return pivot
    if pivot is None and len(common) == 1:
        return common[0]
    given = ", ".join("-".join(pair) for pair in dictionaries) or "none"
    if pivot is not None:
        raise LanguagesError(
            f"The pivot {pivot!r} needs dictionaries with {source} and with {target}; there are "
            f"{given}."
        )
    if common:
        raise LanguagesError(
            f"From {source} to {target} one can go through {' or '.join(common)}. Name the pivot."
        )
    raise LanguagesError(
        f"No language has dictionaries with both {source} and {target}; there are {given}. Add the "
        "one that is missing."
    )


def disjoint_pivot(
    first: Dictionary, second: Dictionary, seed: int = 0
) -> tuple[Dictionary, Dictionary]:
    """Leave out pairs until no pivot word is in both (source, pivot) and (pivot, target).

    Of the words that both have, a random half stays in each.
    """
    shared = shuffled({word for _, word in first} & {word for word, _ in second}, seed)
    here, there = set(shared[: len(shared) // 2]), set(shared[len(shared) // 2 :])
    first = Dictionary(pair for pair in first if pair[1] not in there)
    second = Dictionary(pair for pair in second if pair[0] not in here)
    if not first or not second:
        raise DictionaryError(
            "Without shared pivot words nothing is left of a training dictionary; both need more "
            "pairs, or leave the pivot words shared."
        )
    return first, second
