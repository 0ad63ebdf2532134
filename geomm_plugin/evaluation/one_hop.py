"""[evaluate] One-hop translation: from source to target through a pivot, with no direct dictionary.

- composition: a bilingual mapper moves source and target words to the pivot's space, and they are
  compared there: W = W_1 W_2.
- pipeline: a source word is translated to a pivot word, and that word to the target.
- joint: one method learns the space of all three languages at once.

Jawanpuria, Balgovind, Kunchukuttan, Mishra: "Learning Multilingual Word Embeddings in Latent Metric
Space: A Geometric Approach", TACL 2019, section "Indirect translation".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from geomm_plugin import progress, registry
from geomm_plugin.dictionary import (
    Dictionaries,
    Dictionary,
    as_dictionaries,
    oriented,
)
from geomm_plugin.embeddings import as_embeddings
from geomm_plugin.errors import DictionaryError, LanguagesError
from geomm_plugin.evaluation.mapper_choice import label_mappers
from geomm_plugin.evaluation.metrics import depth_of
from geomm_plugin.evaluation.provenance import Provenance, mapper_columns, provenance_of
from geomm_plugin.evaluation.table import Cell, Table, places
from geomm_plugin.evaluation.translation import evaluate, gold_rows, scores_of
from geomm_plugin.fit_report import report_of
from geomm_plugin.language_graph import neighbors
from geomm_plugin.mapper import Mapper
from geomm_plugin.registry import as_retrieval
from geomm_plugin.retrieval import Retrieval
from geomm_plugin.shared_space import SharedSpace
from geomm_plugin.text import html_table

MAPPERS = ("procrustes", "msf", "geomm", "geomm_multi")  # those of the paper's table
METHODS = ("composition", "pipeline", "joint")


@dataclass(frozen=True)
class OneHop:
    """One way to translate through a pivot, and its scores."""

    method: str  # composition, pipeline or joint
    mapper: str
    path: tuple[str, str, str]  # source, pivot, target
    scores: dict[str, float]  # by metric
    coverage: float
    n_words: int
    fit: Mapping[str, Any] = field(default_factory=dict)  # parameters, and lambda by dictionary

    def row(self) -> dict[str, Any]:
        """Return the numbers as one JSON object, then what was fitted."""
        return {
            "method": self.method,
            "mapper": self.mapper,
            "path": "-".join(self.path),
            **self.scores,
            "coverage": self.coverage,
            "n_words": self.n_words,
            **self.fit,
        }

    def _repr_html_(self) -> str:
        numbers = {name: value for name, value in self.row().items() if name not in self.fit}
        cells = [f"{v:.3f}" if isinstance(v, float) else str(v) for v in numbers.values()]
        return html_table(list(numbers), [cells])


@dataclass(frozen=True)
class OneHopTable(Table):
    """Ways to translate through a pivot, side by side."""

    results: tuple[OneHop, ...]
    retrieval: str = ""
    disjoint: bool = False  # whether the training dictionaries share no pivot word
    seed: int = 0  # of the words that are then left out
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """All numbers, one JSON-like object for each method, mapper and path.

        After the numbers comes where they are from: parameters and chosen lambda, retrieval, seed,
        versions of packages, and the SHA-256 of every file.
        """
        about = {"retrieval": self.retrieval, "disjoint_pivot": self.disjoint, "seed": self.seed}
        about |= self.provenance.columns()
        return [result.row() | about for result in self.results]

    def cells(self) -> list[list[Cell]]:
        """Return header and rows as texts: P@1 by path, grouped by method as in the paper."""
        paths = list(dict.fromkeys(result.path for result in self.results))
        best = {path: self._best(path) for path in paths}
        lines: dict[tuple[str, str], dict[tuple[str, str, str], Cell]] = {}
        for method in METHODS:
            for result in self.results:
                if result.method == method:
                    score = result.scores["p@1"]
                    cell = Cell(f"{score:.3f}", best[result.path].get(score), number=True)
                    lines.setdefault((method, result.mapper), {})[result.path] = cell
        covered = {result.path: f"{result.coverage:.2f}" for result in self.results}
        titles = (f"{'-'.join(path)}, P@1 (coverage {covered[path]})" for path in paths)
        empty = Cell("", number=True)
        return [[Cell(title) for title in ("method", "mapper", *titles)]] + [
            [Cell(key[0]), Cell(key[1]), *(line.get(path, empty) for path in paths)]
            for key, line in lines.items()
        ]

    def _best(self, path: tuple[str, str, str]) -> dict[float, int | None]:
        """Return the place of the best and the second best P@1 of a path."""
        scores = [result.scores["p@1"] for result in self.results if result.path == path]
        return dict(zip(scores, places(scores), strict=True))


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
) -> OneHopTable:
    """Translate through a pivot in every way, and score each on the same test words.

    Bilingual mappers are scored by composition and as a pipeline, joint ones as they are.

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
    """
    chosen = label_mappers(mappers)
    retrieval = as_retrieval(retrieval)
    given = as_dictionaries(dictionaries)
    languages = {language: as_embeddings(value) for language, value in embeddings.items()}
    results = []
    with progress.task("One hop", len(tests) * len(chosen), "runs") as advance:
        for (source, target), test in as_dictionaries(tests).items():
            between = find_pivot(source, target, given, pivot)
            for language in (source, between, target):
                if language not in languages:
                    raise LanguagesError(
                        f"The way from {source} through {between} to {target} needs embeddings of "
                        f"{language!r}; there are {', '.join(languages)}."
                    )
            first = oriented(given, source, between)
            second = oriented(given, between, target)
            if disjoint:
                first, second = disjoint_pivot(first, second, seed)
            trip = _Trip(
                {language: languages[language] for language in (source, between, target)},
                (source, between, target),
                first,
                second,
                test,
                retrieval,
            )
            for label, mapper in chosen.items():
                results += trip.results(label, mapper)
                advance(1, note=label)
    provenance = provenance_of(languages, given.items(), as_dictionaries(tests).items())
    return OneHopTable(tuple(results), retrieval.label, disjoint, seed, provenance)


@dataclass(frozen=True)
class _Trip:
    """A path through a pivot, with its data."""

    embeddings: Mapping[str, object]
    path: tuple[str, str, str]
    first: Dictionary
    second: Dictionary
    test: Dictionary
    retrieval: Retrieval

    def results(self, label: str, mapper: Mapper) -> list[OneHop]:
        """Score a mapper in the ways that it allows."""
        if mapper.joint:
            return [self._together("joint", label, mapper)]
        return [self._together("composition", label, mapper), self._pipeline(label, mapper)]

    def _together(self, method: str, label: str, mapper: Mapper) -> OneHop:
        source, pivot, target = self.path
        fitted = _copy(mapper, pivot).fit(
            self.embeddings, {(source, pivot): self.first, (pivot, target): self.second}
        )
        space = fitted.map(self.embeddings)
        result = evaluate(space, source, target, self.test, self.retrieval)
        fit = mapper_columns(fitted.get_params(), report_of(fitted))
        return OneHop(
            method, label, self.path, dict(result.scores), result.coverage, result.n_words, fit
        )

    def _pipeline(self, label: str, mapper: Mapper) -> OneHop:
        source, pivot, target = self.path
        first, near = self._two(mapper, source, pivot, self.first)
        second, far = self._two(mapper, pivot, target, self.second)
        gold, missing = gold_rows(SharedSpace(self.embeddings), source, target, self.test)
        index = near.index(source, pivot, self.retrieval)
        step = index.search(near.queries(list(gold), source), 1).indices[:, 0]
        metrics = list(registry.metrics.values())
        ranks = far.index(pivot, target, self.retrieval).ranks(
            far.unit_rows(pivot).take(step),
            [np.array(rows) for rows in gold.values()],
            depth_of(metrics),
        )
        coverage = len(gold) / (len(gold) + len(missing))
        scores = scores_of(metrics, ranks)
        fit = mapper_columns(first.get_params(), report_of(first), report_of(second))
        return OneHop("pipeline", label, self.path, scores, coverage, len(gold), fit)

    def _two(
        self, mapper: Mapper, one: str, other: str, dictionary: Dictionary
    ) -> tuple[Mapper, SharedSpace]:
        two = {one: self.embeddings[one], other: self.embeddings[other]}
        fitted = _copy(mapper, None).fit(two, {(one, other): dictionary})
        return fitted, fitted.map(two)


def _copy(mapper: Mapper, hub: str | None) -> Mapper:
    """Return a mapper with the same parameters, not fitted, and with this hub if it has hubs."""
    fresh = mapper.clone()
    return fresh.set_params(hub=hub) if "hub" in fresh.get_params() else fresh


def find_pivot(source: str, target: str, dictionaries: Dictionaries, pivot: str | None) -> str:
    """Return the language that has dictionaries with both."""
    linked = neighbors(dictionaries)
    common = sorted(set(linked.get(source, [])) & set(linked.get(target, [])))
    if pivot is not None:
        if pivot in common:
            return pivot
        raise LanguagesError(
            f"The pivot {pivot!r} needs dictionaries with {source} and with {target}; there are "
            f"{_listed(dictionaries)}."
        )
    if len(common) == 1:
        return common[0]
    if common:
        raise LanguagesError(
            f"From {source} to {target} one can go through {' or '.join(common)}. Name the pivot."
        )
    raise LanguagesError(
        f"No language has dictionaries with both {source} and {target}; there are "
        f"{_listed(dictionaries)}. Add the one that is missing."
    )


def _listed(dictionaries: Dictionaries) -> str:
    return ", ".join("-".join(pair) for pair in dictionaries) or "none"


def disjoint_pivot(
    first: Dictionary, second: Dictionary, seed: int = 0
) -> tuple[Dictionary, Dictionary]:
    """Leave out pairs until no pivot word is in both (source, pivot) and (pivot, target).

    Of the words that both have, a random half stays in each.
    """
    shared = sorted({word for _, word in first} & {word for word, _ in second})
    order = np.random.default_rng(seed).permutation(len(shared))
    here = {shared[number] for number in order[: len(shared) // 2]}
    there = set(shared) - here
    first = Dictionary(pair for pair in first if pair[1] not in there)
    second = Dictionary(pair for pair in second if pair[0] not in here)
    if not first or not second:
        raise DictionaryError(
            "Without shared pivot words nothing is left of a training dictionary; both need more "
            "pairs, or leave the pivot words shared."
        )
    return first, second
