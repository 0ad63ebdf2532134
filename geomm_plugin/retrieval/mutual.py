"""Words that are each other's best translation by CSLS: a dictionary from the space itself."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from geomm_plugin.embeddings import Matrix, RowIndices, Vector
from geomm_plugin.factorization import all_threads
from geomm_plugin.retrieval.best import SPARE, Best, best_means
from geomm_plugin.retrieval.bias import KnownBias
from geomm_plugin.retrieval.biased_index import BiasedIndex
from geomm_plugin.retrieval.dots import as_unit_rows, column_tiles

ROWS = 2048  # source and target words that are compared in one matrix product: 32 MB
COLUMNS = 4096
KEPT = 4  # of the best by CSLS: more than rounding may confuse


@dataclass(frozen=True)
class BestNeighbors:
    """The best target of each source row and the best source of each target row, by CSLS."""

    forth: RowIndices
    forth_scores: Vector
    back: RowIndices
    back_scores: Vector

    def mutual(self) -> tuple[RowIndices, RowIndices, Vector]:
        """Return the pairs that are each other's best: source rows, target rows, CSLS."""
        source = np.flatnonzero(self.back[self.forth] == np.arange(len(self.forth)))
        return source, self.forth[source], self.forth_scores[source]


def mutual_neighbors(
    source: Matrix, target: Matrix, k: int = 10
) -> tuple[RowIndices, RowIndices, Vector]:
    """Return the pairs of unit rows that are each other's best by CSLS, in the source's order.

    Returns source rows, target rows and their CSLS.
    """
    return best_neighbors(source, target, k).mutual()


def best_neighbors(source: Matrix, target: Matrix, k: int = 10) -> BestNeighbors:
    """Return the best translations by CSLS of all rows, in both directions."""
    source, target = as_unit_rows(source, "source"), as_unit_rows(target, "target")
    r_target, r_source = neighborhoods(source, target, k)
    there = BiasedIndex(target, KnownBias(target, r_source / 2))
    here = BiasedIndex(source, KnownBias(source, r_target / 2))
    forth = Best(len(source), min(KEPT, len(target)))
    back = Best(len(target), min(KEPT, len(source)))
    for columns in column_tiles(len(target), COLUMNS):
        for rows in column_tiles(len(source), ROWS):
            cosines = _all_products(source[rows], target[columns])
            forth.part(rows).update(cosines - there.bias.lower[columns], columns.start)
            cosines -= here.bias.lower[rows, None]
            back.part(columns).update(cosines.T, rows.start)
    forth_rows, forth_gaps = there.decide(source, forth, 1)
    back_rows, back_gaps = here.decide(target, back, 1)
    return BestNeighbors(
        forth_rows[:, 0],
        2 * forth_gaps[:, 0] - r_target,
        back_rows[:, 0],
        2 * back_gaps[:, 0] - r_source,
    )


def neighborhoods(source: Matrix, target: Matrix, k: int = 10) -> tuple[Vector, Vector]:
    """Return r_T(x) of each source row and r_S(z) of each target row, from one pass of products."""
    in_target, in_source = min(k, len(target)), min(k, len(source))
    of_source = Best(len(source), min(in_target + SPARE, len(target)))
    of_target = Best(len(target), min(in_source + SPARE, len(source)))
    for columns in column_tiles(len(target), COLUMNS):
        for rows in column_tiles(len(source), ROWS):
            cosines = _all_products(source[rows], target[columns])
            of_source.part(rows).update(cosines, columns.start)
            of_target.part(columns).update(cosines.T, rows.start)
    return (
        best_means(of_source, source, target, in_target),
        best_means(of_target, target, source, in_source),
    )


def _all_products(left: Matrix, right: Matrix) -> Matrix:
    with all_threads():  # this runs inside fits, which have few
        products: Matrix = left @ right.T
    return products
