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
)
from geomm_plugin.errors import missing_extra
from geomm_plugin.retrieval.exact.bias import KnownBias
from geomm_plugin.retrieval.exact.biased_index import BiasedIndex
from geomm_plugin.retrieval.exact.dots import as_unit_rows
from geomm_plugin.retrieval.interface import Index, Neighbors

LINKS = 32  # of each word in the graph
BREADTH = 128  # words that a search keeps in sight
CANDIDATES = 64  # at least so many of the nearest targets are scored
SAMPLE = 200  # queries on which the recall is measured


class HnswIndex(Index):
    """Ranks a query's candidates by cosine, or by CSLS over k neighbours; the rest is not seen.

    A gold target that is no candidate gets the rank after the last one.
    """

    def __init__(self, source: Matrix, target: Matrix, k: int | None):
        self.source = source
        self.target = target
        self.k = k
        self.recall: float | None = None  # of the true nearest targets, once something was searched
        self._means = np.full(len(target), np.nan, np.float32)

    def search(self, queries: Matrix, k: int) -> Neighbors:
        """Return the k best of each query's candidates."""
        candidates, scores = self._candidates(queries, k)
        order = np.lexsort((candidates, -scores), axis=1)[:, :k]
        return Neighbors(
            np.take_along_axis(candidates, order, axis=1), np.take_along_axis(scores, order, axis=1)
        )

    def ranks(
        self, queries: Matrix, gold: Sequence[RowIndices], depth: int | None = None
    ) -> RowIndices:
        """Return the rank of each query's best gold target among the candidates."""
        candidates, scores = self._candidates(queries, depth or 1)
        ranks = np.empty(len(queries), np.intp)
        for number, correct in enumerate(gold):
            right = np.isin(candidates[number], correct)
            best = scores[number][right].max(initial=-np.inf)
            ranks[number] = 1 + np.count_nonzero(scores[number][~right] >= best)
        return ranks if depth is None else np.minimum(ranks, depth + 1)

    def _candidates(self, queries: Matrix, k: int) -> tuple[RowIndices, Matrix]:
        """Return candidates and their scores."""
        if not len(queries):
            return np.empty((0, k), np.intp), np.empty((0, k))
        queries = as_unit_rows(queries, "query")
        count = min(max(4 * k, CANDIDATES, self.k or 0), len(self.target))
        cosines, found = nearest(self._target_graph, self.target, queries, count)
        if self.recall is None:
            self.recall = self._measure(queries, found)
        if self.k is None:
            return found, cosines
        near = cosines[:, : min(self.k, count)].mean(axis=1, keepdims=True)
        return found, 2 * cosines - near - self._mean(found)

    def _mean(self, rows: RowIndices) -> Vector:
        """Return r_S of some targets, from the graph of the source words; kept."""
        missing = np.unique(rows[np.isnan(self._means[rows])])
        for start in range(0, len(missing), BLOCK_ROWS):
            part = missing[start : start + BLOCK_ROWS]
            k = min(self.k or 1, len(self.source))
            cosines, _ = nearest(self._source_graph, self.source, self.target[part], k)
            self._means[part] = cosines.mean(axis=1)
        return self._means[rows]

    def _measure(self, queries: Matrix, found: RowIndices) -> float:
        chosen = np.linspace(0, len(queries) - 1, min(SAMPLE, len(queries))).astype(np.intp)
        k = min(10, found.shape[1])
        true = compare_all(self.target, queries[chosen], k).indices
        hits = [np.isin(true[i], found[row, :k]).mean() for i, row in enumerate(chosen)]
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
    graph = faiss.IndexHNSWFlat(vectors.shape[1], LINKS, faiss.METRIC_INNER_PRODUCT)
    graph.hnsw.efSearch = BREADTH
    graph.add(np.ascontiguousarray(vectors))
    return graph


def nearest(graph: Any, vectors: Matrix, queries: Matrix, count: int) -> tuple[Matrix, RowIndices]:
    """Return cosines and rows of the nearest of the graph's vectors, best first."""
    graph.hnsw.efSearch = max(BREADTH, 2 * count)
    cosines, rows = graph.search(np.ascontiguousarray(queries), count)
    rows = rows.astype(np.intp)
    short = np.flatnonzero((rows < 0).any(axis=1))
    if len(short):
        found = compare_all(vectors, queries[short], count)
        cosines[short], rows[short] = found.scores, found.indices
    return cosines, rows


def compare_all(vectors: Matrix, queries: Matrix, count: int) -> Neighbors:
    """Return the truly nearest vectors."""
    exact = BiasedIndex(vectors, KnownBias(vectors, np.zeros(len(vectors))))
    return exact.search(queries, count)
