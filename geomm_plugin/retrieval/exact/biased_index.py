"""Exact search by cos(x, z) - bias(z), without the bias of targets that cannot win.

A lower bound of a target's bias gives an upper bound of its score. Targets are shortlisted by these
bounds; the exact bias is computed only for those whose bound reaches the k-th best exact score (or
the score of the gold word). What is found is exactly what comparing everything would find.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import Mask, Matrix, RowIndices, Vector, slices
from geomm_plugin.errors import ParameterError
from geomm_plugin.retrieval.exact.bias import Bias
from geomm_plugin.retrieval.exact.dots import exact_dots, rounding
from geomm_plugin.retrieval.exact.top_k import MORE_THAN_ASKED, TopK, best_means
from geomm_plugin.retrieval.interface import Index, Neighbors
from geomm_plugin.retrieval.unit_rows import AnyRows, as_unit_rows
from geomm_plugin.work import each_part, pool_size


class BiasedIndex(Index):
    """Ranks targets by cos(x, z) - bias(z); of equal ones the lower row comes first."""

    def __init__(self, target: AnyRows, bias: Bias):
        self.target = as_unit_rows(target, "target").all()
        self.bias = bias
        self.tiles = bias.policy.tiles
        self.margin = rounding(self.target.shape[1])
        self._last: tuple[Matrix, Vector] | None = None  # queries, and the means of their nearest

    def search(self, queries: AnyRows, k: int) -> Neighbors:
        """Return the k best targets of each query (all of them, if there are fewer)."""
        vectors = self._check_queries(queries)
        if k < 1:
            raise ParameterError(f"A search is for at least 1 target; k is {k}.")
        k = min(k, len(self.target))
        with progress.task("Comparing neighbourhoods"):
            self.bias.prepare(len(vectors) * (k + 2), vectors)
        indices = np.empty((len(vectors), k), np.intp)
        gaps = np.empty((len(vectors), k))
        nearest = np.zeros(len(vectors))

        def find(part: slice) -> None:
            block = vectors[part]
            best, means = self._shortlist(block, max(2 * k, k + 32), nearest=True)
            indices[part], gaps[part] = self.decide(block, best, k)
            nearest[part] = means

        self._for_each_part(len(vectors), find)
        self._last = vectors, nearest
        return Neighbors(indices, self.bias.scores(gaps, nearest))

    def pair_scores(
        self, queries: AnyRows, rows: RowIndices, columns: RowIndices, least: Vector | None = None
    ) -> Vector:
        """Return the scores of pairs (query, target), as search returns them.

        Pairs whose bound shows that they have less than `least` come back as -inf.
        """
        scores = np.full(len(rows), -np.inf)
        if not len(rows):
            return scores
        vectors = self._check_queries(queries)
        nearest = self._nearest_means(vectors)
        if least is None:
            wanted = np.arange(len(rows))
        else:
            gaps = exact_dots(vectors, rows, self.target, columns) - self.bias.lower[columns]
            wanted = np.flatnonzero(self.bias.scores(gaps[:, None], nearest[rows])[:, 0] >= least)
        gaps = self._scores(vectors, rows[wanted], columns[wanted])
        scores[wanted] = self.bias.scores(gaps[:, None], nearest[rows[wanted]])[:, 0]
        return scores

    def _nearest_means(self, queries: Matrix) -> Vector:
        """Return the mean cosine of each query with its nearest targets; the last ones are kept."""
        if self._last is None or self._last[0] is not queries:
            means = np.zeros(len(queries))
            for part in self.tiles.of_rows(len(queries)):
                _, means[part] = self._shortlist(queries[part], 1, nearest=True)
            self._last = queries, means
        return self._last[1]

    def ranks(
        self, queries: AnyRows, gold: Sequence[RowIndices], depth: int | None = None
    ) -> RowIndices:
        """Return the rank of each query's best gold target."""
        vectors = self._check_queries(queries)
        rows, columns = gold_pairs(gold, len(vectors), len(self.target))
        with progress.task("Comparing neighbourhoods"):
            self.bias.prepare(len(vectors) * min(depth or len(self.target), len(self.target)))
        ranks = np.empty(len(vectors), np.intp)

        def find(part: slice) -> None:
            own = (rows >= part.start) & (rows < part.stop)
            ranks[part] = self._rank(vectors[part], rows[own] - part.start, columns[own], depth)

        self._for_each_part(len(vectors), find)
        return ranks

    def _for_each_part(self, count: int, find: Callable[[slice], None]) -> None:
        """Go through the queries; a pool divides them, once there is no bias left to learn."""
        parts = list(self.tiles.of_rows(count))
        if not self.bias.is_known:
            for part in progress.over("Retrieving", parts, "blocks"):
                find(part)
            return
        if (size := pool_size(in_memory=True)) > 1:
            parts = list(slices(count, max(1, min(self.tiles.rows, -(-count // (2 * size))))))
        found = each_part("Retrieving", find, (), parts, in_memory=True)
        for _ in progress.over("Retrieving", parts, "blocks"):
            next(found)

    def _rank(
        self, queries: Matrix, rows: RowIndices, columns: RowIndices, depth: int | None
    ) -> RowIndices:
        scores = self._scores(queries, rows, columns)
        score = np.full(len(queries), -np.inf)
        np.maximum.at(score, rows, scores)
        own = np.bincount(rows[scores >= score[rows]], minlength=len(queries))
        if depth is None or depth >= len(self.target):
            return 1 + self._count(queries, score) - own
        # Of the shortlist, no more has to be decided than shows that the gold word is too deep.
        enough = depth + int(own.max())
        best, _ = self._shortlist(queries, enough + MORE_THAN_ASKED, nearest=False)
        candidates = Candidates(best, len(self.target))
        candidates.decide(self, queries, candidates.bounds >= score[:, None] - self.margin, enough)
        beaten = (candidates.scores >= score[:, None]).sum(axis=1)
        candidates.decide(
            self,
            queries,
            (candidates.bounds >= score[:, None] - self.margin) & (beaten < depth + own)[:, None],
        )
        beaten = (candidates.scores >= score[:, None]).sum(axis=1)
        unknown = np.flatnonzero(
            (beaten < depth + own) & (best.floor >= score - self.margin) & candidates.cut
        )
        if len(unknown):
            beaten[unknown] = self._count(queries[unknown], score[unknown])
        ranks: RowIndices = np.minimum(1 + beaten - own, depth + 1)
        return ranks

    def _count(self, queries: Matrix, score: Vector) -> RowIndices:
        """Count the targets whose score reaches one given for each query."""
        count = np.zeros(len(queries), np.intp)
        for tile in slices(len(self.target), max(1, self.tiles.columns // 4)):  # float64, too
            cosines = queries @ self.target[tile].T
            bounds = cosines - self.bias.lower[tile]
            reaching = bounds >= (score - self.margin).astype(np.float32)[:, None]
            wanted = np.flatnonzero(reaching.any(axis=0))
            if not len(wanted):
                continue
            bias = self.bias.exact(wanted + tile.start)
            above = cosines[:, wanted] - bias - score[:, None]
            count += (above > self.margin).sum(axis=1)
            row, column = np.nonzero(np.abs(above) <= self.margin)
            exact = self._scores(queries, row, wanted[column] + tile.start)
            count += np.bincount(row[exact >= score[row]], minlength=len(queries))
        return count

    def _shortlist(self, queries: Matrix, size: int, nearest: bool) -> tuple[TopK, Vector]:
        """Return the targets with the highest bounds, and the mean cosine of the nearest ones."""
        best = TopK(len(queries), min(size, len(self.target)))
        neighbors = min(self.bias.neighbors, len(self.target)) if nearest else 0
        closest = TopK(len(queries), min(neighbors + MORE_THAN_ASKED, len(self.target)))
        for tile in self.tiles.of_columns(len(self.target)):
            values = queries @ self.target[tile].T
            if neighbors:
                closest.update(values, tile.start)
            values -= self.bias.lower[tile]
            best.update(values, tile.start)
        if not neighbors:
            return best, np.zeros(len(queries))
        return best, best_means(closest, queries, self.target, neighbors, self.tiles)

    def decide(self, queries: Matrix, best: TopK, k: int) -> tuple[RowIndices, Matrix]:
        """Return the k best targets and their cos - bias."""
        candidates = Candidates(best, len(self.target))
        candidates.decide(self, queries, candidates.bounds > -np.inf, k)
        least = candidates.kth(k) - self.margin
        candidates.decide(self, queries, candidates.bounds >= least[:, None])
        columns, scores = candidates.first(k)
        least = candidates.kth(k) - self.margin
        for row in np.flatnonzero((best.floor >= least) & candidates.cut):
            columns[row], scores[row] = self._search_all(queries[row], least[row], k)
        return columns, scores

    def _search_all(self, query: Vector, least: float, k: int) -> tuple[RowIndices, Vector]:
        """Return the k best targets of a query among all whose bound is high enough."""
        bounds = self.target @ query - self.bias.lower
        columns = np.flatnonzero(bounds >= least - self.margin)
        scores = self._scores(query[None], np.zeros(len(columns), np.intp), columns)
        order = np.lexsort((columns, -scores))[:k]
        return columns[order], scores[order]

    def _scores(self, queries: Matrix, rows: RowIndices, columns: RowIndices) -> Vector:
        """Return the exact cos - bias of pairs of a query and a target."""
        return exact_dots(queries, rows, self.target, columns) - self.bias.exact(columns)

    def _check_queries(self, queries: AnyRows) -> Matrix:
        vectors = as_unit_rows(queries, "query").all() if len(queries) else np.asarray(queries)
        if vectors.shape[1] != self.target.shape[1]:
            raise ParameterError(
                f"Queries and targets must share a space; queries have {vectors.shape[1]} "
                f"dimensions, targets {self.target.shape[1]}."
            )
        return vectors


class Candidates:
    """A shortlist in the order of its bounds, and the exact scores of those already decided."""

    def __init__(self, best: TopK, targets: int):
        order = np.argsort(-best.values, axis=1, kind="stable")
        self.bounds = np.take_along_axis(best.values, order, axis=1)
        self.columns = np.take_along_axis(best.columns, order, axis=1)
        self.scores = np.full(self.bounds.shape, -np.inf)
        self.cut = (self.columns[:, -1] >= 0) & (self.columns.shape[1] < targets)  # may be more

    def decide(
        self, index: BiasedIndex, queries: Matrix, wanted: Mask, first: int | None = None
    ) -> None:
        """Compute the exact scores of the wanted ones (among the first ones of the order)."""
        open_ = wanted & (self.scores == -np.inf) & (self.columns >= 0)
        if first is not None:
            open_[:, first:] = False
        row, place = np.nonzero(open_)
        self.scores[row, place] = index._scores(queries, row, self.columns[row, place])

    def kth(self, k: int) -> Vector:
        """Return the k-th best exact score of each query."""
        scores: Vector = np.partition(self.scores, -k, axis=1)[:, -k]
        return scores

    def first(self, k: int) -> tuple[RowIndices, Matrix]:
        """Return the k best by exact score; of equal ones the lower row first."""
        order = np.lexsort((self.columns, -self.scores), axis=1)[:, :k]
        return (
            np.take_along_axis(self.columns, order, axis=1),
            np.take_along_axis(self.scores, order, axis=1),
        )


def gold_pairs(
    gold: Sequence[RowIndices], queries: int, targets: int
) -> tuple[RowIndices, RowIndices]:
    """Return all (query, gold target), each once, after a check of both."""
    sets = [np.unique(np.asarray(rows, np.intp)) for rows in gold]
    if len(sets) != queries or not all(len(rows) for rows in sets):
        raise ParameterError(
            f"Each query needs its gold targets, at least one; {queries} queries have "
            f"{sum(len(rows) > 0 for rows in sets)} sets of gold targets that are not empty."
        )
    columns = np.concatenate([np.empty(0, np.intp), *sets])
    if len(columns) and not 0 <= columns.min() <= columns.max() < targets:
        raise ParameterError(
            f"Gold targets are rows from 0 to {targets - 1}; there is one from {columns.min()} to "
            f"{columns.max()}."
        )
    return np.repeat(np.arange(len(sets)), [len(rows) for rows in sets]), columns
