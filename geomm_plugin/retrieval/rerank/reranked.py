"""Vectors propose, letters decide: candidates of a retrieval and of features, by one score.

    score(x, z) = S(x, z) + sum of weight * number(x, z)

with S the score of the base. Candidates of a query are its 40 best targets by S, and those of its
10 best by S + what a feature adds (g / 2 for letters) that S alone would miss. The other targets
follow in the order of S.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from geomm_plugin import registry
from geomm_plugin.arrays import Mask, Matrix, RowIndices, Vector, slices
from geomm_plugin.errors import ParameterError, did_you_mean
from geomm_plugin.registry import as_retrieval
from geomm_plugin.registry.parameters import check_parameters
from geomm_plugin.retrieval.exact.biased_index import gold_pairs
from geomm_plugin.retrieval.interface import Index, Neighbors, Retrieval
from geomm_plugin.retrieval.rerank.feature import (
    NO_PAIRS,
    Base,
    Feature,
    SparseFeature,
)
from geomm_plugin.retrieval.rerank.learnt import (
    Belief,
    Learnt,
    as_learnt,
    belief_of_fixed,
    rows_by_word,
)
from geomm_plugin.retrieval.unit_rows import AnyRows, UnitRows, as_unit_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array

BEST_BY_BASE = 40
BEST_BY_PROPOSAL = 10
QUERIES_AT_A_TIME = 2048


@dataclass(frozen=True, kw_only=True)
class Reranked(Retrieval):
    """CSLS + 0.2 g + 0.3 sqrt(g), g how alike two words are spelt; or with learnt weights.

    The score of the base plus weighted numbers of the features, for the best candidates of both.
    It reads words, so that it needs a SharedSpace, or UnitRows with words.
    """

    name: ClassVar[str] = "reranked"
    base: str | Retrieval = "csls"
    features: tuple[str, ...] = ()  # none: letters where weights are fixed, all where learnt
    weights: Literal["auto", "fixed", "learnt"] | dict[str, float] | Learnt = (
        "auto"  # or "learnt": those that the space carries, and fixed ones where it has none
    )

    def index(self, source: AnyRows, target: AnyRows) -> RerankedIndex:
        """Prepare to search; n-grams are counted when they are needed."""
        check_parameters(self)
        source, target = as_unit_rows(source, "source"), as_unit_rows(target, "target")
        retrieval = as_retrieval(self.base)
        if isinstance(retrieval, Reranked):
            raise ParameterError(
                "The base of a re-ranking is another retrieval: csls, cosine, ..., not reranked."
            )
        learnt = self.weights if isinstance(self.weights, Learnt) else Learnt({})
        pairs = learnt.rows(source.words or (), target.words or ()) if learnt.pairs else NO_PAIRS
        base = Base(retrieval, retrieval.index(source, target), pairs)
        features = [kind(source, target, base) for kind in self.feature_classes()]
        for feature in features:
            if isinstance(feature, SparseFeature) and feature.name in learnt.columns:
                feature.learn(learnt.columns[feature.name], learnt.is_reversed)
        belief = learnt.belief or belief_of_fixed()
        return RerankedIndex(base.index, source, target, features, self.all_weights(), belief)

    def feature_classes(self) -> list[type[Feature]]:
        """Return the classes of the features, each once."""
        return [registry.features[name] for name in dict.fromkeys(self.features or ("letters",))]

    def fixed_weights(self) -> dict[str, float]:
        """Return the weight of each number where none are learnt."""
        return {
            name: weight
            for feature in self.feature_classes()
            for name, weight in feature.fixed_weights.items()
        }

    def all_weights(self) -> dict[str, float]:
        """Return the weight of each number; those that are given win over the fixed ones."""
        fixed = self.fixed_weights()
        given = {} if isinstance(self.weights, str) else self.weights
        for name in given:
            if name not in fixed:
                raise ParameterError(
                    f"No feature of this re-ranking has a number {name!r}."
                    f"{did_you_mean(name, fixed)} There are: {', '.join(fixed)}."
                )
        return fixed | {name: float(weight) for name, weight in given.items()}

    def with_weights(self, weights: Literal["fixed"] | Mapping[str, float]) -> Reranked:
        """Return the same re-ranking with other weights, and the features that they are of."""
        if isinstance(weights, str):
            return replace(self, weights=weights)
        names = {name: kind for kind in registry.features.values() for name in kind.fixed_weights}
        features: dict[str, Any] = {names[name].name: None for name in weights if name in names}
        return replace(self, features=tuple(features), weights=as_learnt(weights))

    @property
    def learns(self) -> bool:
        """Whether weights that were learnt for two languages are used."""
        return isinstance(self.weights, str) and self.weights != "fixed"

    def with_learnt(self, weights: Mapping[str, float] | None) -> Retrieval:
        """Take weights that were learnt for two languages, unless others were asked for."""
        return self.with_weights(weights) if weights and self.learns else self


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of some queries, a row for each; places without one are marked."""

    columns: RowIndices  # targets; -1 where there is none
    base: Matrix  # their scores by the base; -inf where there is none
    numbers: Matrix  # (queries, candidates, numbers of all features)

    @property
    def is_there(self) -> Mask:
        """Where there is a candidate."""
        mask: Mask = self.columns >= 0
        return mask


class RerankedIndex(Index):
    """Re-ranks what an index finds; of equal targets the lower row comes first."""

    def __init__(
        self,
        base: Index,
        source: UnitRows,
        target: UnitRows,
        features: Sequence[Feature],
        weights: Mapping[str, float],
        belief: Belief,
    ):
        self.base = base
        self.features = features
        self.weights = dict(weights)
        self.belief = belief
        self._source = source
        self._targets = len(target)

    def search(self, queries: AnyRows, k: int) -> Neighbors:
        """Return the k best targets of each query (all of them, if there are fewer)."""
        if k < 1:
            raise ParameterError(f"A search is for at least 1 target; k is {k}.")
        return self.search_with_probabilities(queries, k)[0]

    def search_with_probabilities(self, queries: AnyRows, k: int) -> tuple[Neighbors, Matrix]:
        """Return the k best targets of each query, and the probability that each is right.

        Those of a query add up to 1 with that of "none of these"; what is no candidate has 0.
        """
        k = min(k, self._targets)
        none = np.empty((0, k), np.intp), np.empty((0, k)), np.empty((0, k))
        parts = [none, *(self._ordered(block, k) for _, block in _blocks(queries))]
        columns, scores, probabilities = map(np.concatenate, zip(*parts, strict=True))
        return Neighbors(columns, scores), probabilities

    def log_ranks(self, queries: UnitRows) -> Vector:
        """Return log of the frequency rank of each query; a new word is rarer than all others."""
        last = len(self._source) - 1
        rows = [self._row_of.get(word, last) for word in queries.words or ()]
        return np.log(np.array(rows, np.float64) + 1)

    @cached_property
    def _row_of(self) -> dict[str, int]:
        return rows_by_word(self._source.words or ())

    def ranks(
        self, queries: AnyRows, gold: Sequence[RowIndices], depth: int | None = None
    ) -> RowIndices:
        """Return the rank of each query's best gold target."""
        ranks = np.empty(len(queries), np.intp)
        gold_pairs(gold, len(queries), self._targets)
        for part, block in _blocks(queries):
            ranks[part] = self._rank(block, gold[part], depth)
        return ranks

    def pair_scores(
        self, queries: AnyRows, rows: RowIndices, columns: RowIndices, least: Vector | None = None
    ) -> Vector:
        """Return S + weights * numbers of pairs, candidates or not."""
        every = as_unit_rows(queries, "query")
        scores = self.base.pair_scores(every, rows, columns)
        for part in slices(len(rows), BEST_BY_BASE * QUERIES_AT_A_TIME):
            numbers = self._numbers(every.select(rows[part]), columns[part, None])[:, 0]
            scores[part] += numbers @ self._weights()
        return scores

    def shares(self, query: UnitRows, targets: RowIndices) -> dict[str, Vector]:
        """Say why: what the base and each feature add to the scores of one query's targets.

        Parameters
        ----------
        query
            One word: `space.queries([word], source)`.
        targets
            Rows of the answers, as `search` gives them: `search(query, k).indices[0]`.

        Returns
        -------
            By name: "base" is S, and a feature's share is the sum of its weights * numbers. Each
            holds a value for every target; together they make up the score.
        """
        rows = np.zeros(len(targets), np.intp)
        shares = {"base": self.base.pair_scores(query, rows, targets)}
        for feature in self.features:
            weights = np.array([self.weights[name] for name in feature.fixed_weights])
            shares[feature.name] = (feature.values(query, targets[None]) @ weights)[0]
        return shares

    def candidates(self, queries: UnitRows) -> Candidates:
        """Return the candidates of each query, with the numbers that their scores are made of."""
        best = self.base.search(queries, min(BEST_BY_BASE, self._targets))
        columns, base = self._with_proposals(queries, best)
        numbers = self._numbers(queries, np.maximum(columns, 0))
        return Candidates(columns, base, numbers)

    def table(self, queries: UnitRows, candidates: Candidates) -> csr_array:
        """Return the sparse numbers, a row for each query and place of a candidate."""
        from scipy.sparse import csr_array, hstack

        targets = np.maximum(candidates.columns, 0)
        tables = [f.table(queries, targets) for f in self.features if isinstance(f, SparseFeature)]
        return csr_array(hstack(tables) if tables else (targets.size, 0))

    def _with_proposals(self, queries: UnitRows, best: Neighbors) -> tuple[RowIndices, Matrix]:
        """Return the best by the base, and what features propose besides."""
        proposals = [feature.propose(queries) for feature in self.features]
        rows = np.concatenate([np.empty(0, np.intp), *(p.rows for p in proposals)])
        columns = np.concatenate([np.empty(0, np.intp), *(p.columns for p in proposals)])
        bonus = np.concatenate([np.empty(0), *(p.bonus for p in proposals)])
        keys = rows * self._targets + columns
        best_keys = np.arange(len(queries))[:, None] * self._targets + best.indices
        known = _places(best_keys.ravel(), keys)
        is_new = known < 0
        # The best by the base compete for the places, with what was proposed for them.
        raised = best.scores.copy().ravel()
        raised[known[~is_new]] += bonus[~is_new]
        rows, columns, bonus = rows[is_new], columns[is_new], bonus[is_new]
        least = np.sort(raised.reshape(best.indices.shape), axis=1)[:, -BEST_BY_PROPOSAL:][:, 0]
        scores = self.base.pair_scores(queries, rows, columns, least[rows] - bonus)
        is_chosen = _leads(
            np.concatenate([np.repeat(np.arange(len(queries)), best.indices.shape[1]), rows]),
            np.concatenate([best.indices.ravel(), columns]),
            np.concatenate([raised, scores + bonus]),
        )[best.indices.size :]
        added = _table(len(queries), rows[is_chosen], columns[is_chosen], scores[is_chosen])
        return (
            np.concatenate([best.indices, added[0]], axis=1),
            np.concatenate([best.scores, added[1]], axis=1),
        )

    def _numbers(self, queries: UnitRows, targets: RowIndices) -> Matrix:
        values = [feature.values(queries, targets) for feature in self.features]
        return np.concatenate([np.empty((*targets.shape, 0)), *values], axis=2)

    def _weights(self) -> Vector:
        names = [name for feature in self.features for name in feature.fixed_weights]
        return np.array([self.weights[name] for name in names], np.float64)

    def _scores(self, candidates: Candidates) -> Matrix:
        # Multiplied and added number by number: equal candidates then get equal scores.
        scores = candidates.base.copy()
        for number, weight in enumerate(self._weights()):
            scores += weight * candidates.numbers[:, :, number]
        scores[~candidates.is_there] = -np.inf
        return scores

    def _ordered(self, queries: UnitRows, k: int) -> tuple[RowIndices, Matrix, Matrix]:
        candidates = self.candidates(queries)
        columns, scores = candidates.columns, self._scores(candidates)
        probabilities = self.belief.probabilities(scores, self.log_ranks(queries))
        group = np.where(candidates.is_there, 0, 2)
        if k > BEST_BY_BASE:  # the others follow
            others = self.base.search(queries, k)
            first = np.arange(len(queries))[:, None] * self._targets
            is_other = ~np.isin(first + others.indices, (first + columns)[candidates.is_there])
            columns = np.concatenate([columns, others.indices], axis=1)
            scores = np.concatenate([scores, others.scores], axis=1)
            probabilities = np.pad(probabilities, [(0, 0), (0, others.indices.shape[1])])
            group = np.concatenate([group, np.where(is_other, 1, 2)], axis=1)
        order = np.lexsort((columns, -scores, group), axis=1)[:, :k]
        columns = np.take_along_axis(columns, order, axis=1)
        scores = np.minimum.accumulate(np.take_along_axis(scores, order, axis=1), axis=1)
        return columns, scores, np.take_along_axis(probabilities, order, axis=1)

    def _rank(self, queries: UnitRows, gold: Sequence[RowIndices], depth: int | None) -> RowIndices:
        rows, columns = gold_pairs(gold, len(queries), self._targets)
        candidates = self.candidates(queries)
        scores = self._scores(candidates)
        keys = np.arange(len(queries))[:, None] * self._targets + candidates.columns
        is_gold = np.isin(keys, rows * self._targets + columns) & candidates.is_there
        is_wrong = candidates.is_there & ~is_gold
        best = np.where(is_gold, scores, -np.inf).max(axis=1)
        ranks: RowIndices = 1 + (is_wrong & (scores >= best[:, None])).sum(axis=1)
        absent = ~is_gold.any(axis=1)
        if depth is not None:  # ranks past the depth need not be told apart
            absent &= ranks <= depth
        if absent.any():
            numbers = np.flatnonzero(absent)
            some = queries.select(numbers)
            base = np.full(len(queries), -np.inf)
            np.maximum.at(base, rows, self.base.pair_scores(queries, rows, columns))
            below = is_wrong & (candidates.base < base[:, None])
            after = self.base.ranks(some, [gold[number] for number in numbers.tolist()], depth)
            ranks[numbers] = after + below.sum(axis=1)[numbers]
        return ranks if depth is None else np.minimum(ranks, depth + 1)


def _blocks(queries: AnyRows) -> list[tuple[slice, UnitRows]]:
    if not len(queries):
        return []
    rows = as_unit_rows(queries, "query")
    return [(part, rows.select(part)) for part in slices(len(rows), QUERIES_AT_A_TIME)]


def _places(among: RowIndices, keys: RowIndices) -> RowIndices:
    """Return where each key stands among others; -1 where it does not."""
    order = np.argsort(among, kind="stable")
    place = order[np.searchsorted(among, keys, sorter=order).clip(max=len(among) - 1)]
    return np.where(among[place] == keys, place, -1)


def _leads(rows: RowIndices, columns: RowIndices, scores: Vector) -> Mask:
    """Say which entries are among the best of their row, as many as are proposed."""
    order = np.lexsort((columns, -scores, rows))
    sorted_rows = rows[order]
    place = np.arange(len(rows)) - np.searchsorted(sorted_rows, sorted_rows)
    is_leading = np.zeros(len(rows), bool)
    is_leading[order] = place < BEST_BY_PROPOSAL
    return is_leading


def _table(
    count: int, rows: RowIndices, columns: RowIndices, scores: Vector
) -> tuple[RowIndices, Matrix]:
    """Lay entries out in rows; empty places are -1 and -inf."""
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    place = np.arange(len(rows)) - np.searchsorted(rows, rows)
    width = int(place.max(initial=-1)) + 1
    table, values = np.full((count, width), -1, np.intp), np.full((count, width), -np.inf)
    table[rows, place], values[rows, place] = columns[order], scores[order]
    return table, values
