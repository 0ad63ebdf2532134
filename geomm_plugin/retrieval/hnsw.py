"""Approximate search in graphs of neighbours (Malkov and Yashunin, 2018), for millions of words.

faiss builds one graph of the target words and, for CSLS, one of the source words. A query's nearest
targets are candidates; their r_S comes from the other graph. How many of the true nearest targets
are found is measured on a sample of the first queries: `recall`. Many equal vectors may leave no
way through a graph to others; where it finds too few, all are compared.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from geomm_plugin.arrays import (
    BLOCK_ROWS,
    Matrix,
    RowIndices,
    Vector,
    slices,
)
from geomm_plugin.errors import missing_extra
from geomm_plugin.retrieval.exact.bias import KnownBias
from geomm_plugin.retrieval.exact.biased_index import BiasedIndex
from geomm_plugin.retrieval.exact.dots import exact_dots
from geomm_plugin.retrieval.interface import Index, Neighbors
from geomm_plugin.retrieval.unit_rows import Rows, UnitRows, as_unit_rows

LINKS_PER_WORD = 32  # in the graph
SEARCH_BREADTH = 128  # words that a search keeps in sight
MIN_CANDIDATES = 64  # at least so many of the nearest targets are scored
RECALL_QUERIES = 200  # queries on which the recall is measured


class HnswIndex(Index):
    """Ranks a query's candidates by cosine, or by CSLS over k neighbours; the rest is not seen.

    A gold target that is no candidate gets the rank after the last one.
    """

    def __init__(self, source: Rows, target: Rows, k: int | None):
        self.source = as_unit_rows(source, "source").all()
        self.target = as_unit_rows(target, "target").all()
        self.k = k
        self.recall: float | None = None  # of the true nearest targets, once something was searched
        self._means = np.full(len(target), np.nan, np.float32)

    def search(self, queries: Rows, k: int) -> Neighbors:
        """Return the k best of each query's candidates."""
        candidates, scores = self._candidates(queries, k)
        order = np.lexsort((candidates, -scores), axis=1)[:, :k]
        return Neighbors(
            np.take_along_axis(candidates, order, axis=1), np.take_along_axis(scores, order, axis=1)
        )

    def ranks(
        self, queries: Rows, gold: Sequence[RowIndices], depth: int | None = None
    ) -> RowIndices:
        """Return the rank of each query's best gold target among the candidates."""
        candidates, scores = self._candidates(queries, depth or 1)
        ranks = np.empty(len(queries), np.intp)
        for number, correct in enumerate(gold):
            is_correct = np.isin(candidates[number], correct)
            best = scores[number][is_correct].max(initial=-np.inf)
            ranks[number] = 1 + np.count_nonzero(scores[number][~is_correct] >= best)
        return ranks if depth is None else np.minimum(ranks, depth + 1)

    def pair_scores(
        self, queries: Rows, rows: RowIndices, columns: RowIndices, least: Vector | None = None
    ) -> Vector:
        """Return the scores of pairs (query, target)."""
        vectors = as_unit_rows(queries, "query").all()
        cosines = exact_dots(vectors, rows, self.target, columns)
        if self.k is None:
            return cosines
        near, _ = nearest(self._target_graph, self.target, vectors, min(self.k, len(self.target)))
        scores: Vector = 2 * cosines - near.mean(axis=1)[rows] - self._mean(columns)
        return scores

    def _candidates(self, queries: Rows, k: int) -> tuple[RowIndices, Matrix]:
        """Return candidates and their scores."""
        if not len(queries):
            return np.empty((0, k), np.intp), np.empty((0, k))
        vectors = as_unit_rows(queries, "query").all()
        count = min(max(4 * k, MIN_CANDIDATES, self.k or 0), len(self.target))
        cosines, rows = nearest(self._target_graph, self.target, vectors, count)
        if self.recall is None:
            self.recall = self._measure(vectors, rows)
        if self.k is None:
            return rows, cosines
        near = cosines[:, : min(self.k, count)].mean(axis=1, keepdims=True)
        return rows, 2 * cosines - near - self._mean(rows)

    def _mean(self, rows: RowIndices) -> Vector:
        """Return r_S of some targets, from the graph of the source words; kept."""
        missing = np.unique(rows[np.isnan(self._means[rows])])
        k = min(self.k or 1, len(self.source))
        for part in slices(len(missing), BLOCK_ROWS):
            targets = missing[part]
            cosines, _ = nearest(self._source_graph, self.source, self.target[targets], k)
            self._means[targets] = cosines.mean(axis=1)
        return self._means[rows]

    def _measure(self, queries: Matrix, neighbors: RowIndices) -> float:
        chosen = np.linspace(0, len(queries) - 1, min(RECALL_QUERIES, len(queries))).astype(np.intp)
        k = min(10, neighbors.shape[1])
        true = compare_all(self.target, queries[chosen], k).indices
        hits = [np.isin(true[i], neighbors[row, :k]).mean() for i, row in enumerate(chosen)]
        return float(np.mean(hits))

    @cached_property
    def _target_graph(self) -> Any:
        return build_graph(self.target)

    @cached_property
    def _source_graph(self) -> Any:
        return build_graph(self.source)


def build_graph(vectors: Matrix) -> Any:
    """Return faiss's graph over unit rows."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its generated code
            import faiss
    except ImportError:
        raise missing_extra("The hnsw engine", "faiss") from None
    graph = faiss.IndexHNSWFlat(vectors.shape[1], LINKS_PER_WORD, faiss.METRIC_INNER_PRODUCT)
    graph.hnsw.efSearch = SEARCH_BREADTH
    graph.add(np.ascontiguousarray(vectors))
    return graph


def nearest(graph: Any, vectors: Matrix, queries: Matrix, count: int) -> tuple[Matrix, RowIndices]:
    """Return cosines and rows of the nearest of the graph's vectors, best first."""
    graph.hnsw.efSearch = max(SEARCH_BREADTH, 2 * count)
    cosines, rows = graph.search(np.ascontiguousarray(queries), count)
    rows = rows.astype(np.intp)
    short = np.flatnonzero((rows < 0).any(axis=1))
    if len(short):
        neighbors = compare_all(vectors, queries[short], count)
        cosines[short], rows[short] = neighbors.scores, neighbors.indices
    return cosines, rows


def compare_all(vectors: Matrix, queries: Matrix, count: int) -> Neighbors:
    """Return the truly nearest vectors."""
    known = UnitRows(vectors)
    exact = BiasedIndex(known, KnownBias(known, np.zeros(len(known))))
    return exact.search(UnitRows(queries), count)
