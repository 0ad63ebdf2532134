"""Words that are each other's best translation by CSLS: a dictionary from the space itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from geomm_plugin.arrays import TILES, Matrix, RowIndices, Tiles, Vector
from geomm_plugin.factorization import all_threads, few_threads
from geomm_plugin.retrieval.exact.best import MORE_THAN_ASKED, Best, best_means
from geomm_plugin.retrieval.exact.bias import KnownBias, SearchPolicy
from geomm_plugin.retrieval.exact.biased_index import BiasedIndex
from geomm_plugin.retrieval.unit_rows import Rows, UnitRows, as_unit_rows
from geomm_plugin.work import compute_pool, each_part, pool_size

BEST_BY_CSLS = 4  # so many of the best are listed: more than rounding may confuse


@dataclass(frozen=True)
class Raised:
    """Pairs of rows that something else than vectors speaks for: `bonus` is added to their CSLS."""

    source: RowIndices
    target: RowIndices
    bonus: Vector

    def within(self, sources: int, targets: int) -> Raised:
        """Return those among the first rows."""
        inside = (self.source < sources) & (self.target < targets)
        return Raised(self.source[inside], self.target[inside], self.bonus[inside])


@dataclass(frozen=True)
class BestNeighbors:
    """The best target of each source row, with its CSLS, and the best source of each target row."""

    forth: RowIndices
    forth_scores: Vector
    back: RowIndices

    def mutual(self) -> tuple[RowIndices, RowIndices, Vector]:
        """Return the pairs that are each other's best: source rows, target rows, CSLS."""
        source = np.flatnonzero(self.back[self.forth] == np.arange(len(self.forth)))
        return source, self.forth[source], self.forth_scores[source]


def mutual_neighbors(
    source: Rows, target: Rows, k: int = 10, *, raised: Raised | None = None
) -> tuple[RowIndices, RowIndices, Vector]:
    """Return the pairs of unit rows that are each other's best by CSLS, in the source's order.

    Returns source rows, target rows and their CSLS.
    """
    return best_neighbors(source, target, k, raised=raised).mutual()


def best_neighbors(
    source: Rows,
    target: Rows,
    k: int = 10,
    *,
    raised: Raised | None = None,
    means: tuple[Vector, Vector] | None = None,
    tiles: Tiles = TILES,
) -> BestNeighbors:
    """Return the best translations by CSLS of all rows, in both directions.

    Parameters
    ----------
    raised
        Pairs that compete with more than their CSLS; what is returned is their CSLS alone.
    means
        r_T of all source rows and r_S of all target rows, where they are known.
    """
    x, z = as_unit_rows(source, "source").all(), as_unit_rows(target, "target").all()
    if means is None:
        of_source, of_target = nearest_rows(x, z, k, tiles)
        r_target, r_source = _means(x, z, of_source, of_target, k, tiles)
        forth, gaps = _best_by_gap(x, z, of_source, r_source / 2, tiles)
        back, back_gaps = _best_by_gap(z, x, of_target, r_target / 2, tiles)
    else:
        r_target, r_source = means
        to_target, to_source = _known(z, r_source / 2, tiles), _known(x, r_target / 2, tiles)
        lower = to_source.bias.lower, to_target.bias.lower
        of_source, of_target = nearest_rows(x, z, 1, tiles, lower)
        forth, gaps = _first(to_target, x, of_source)
        back, back_gaps = _first(to_source, z, of_target)
    scores: Vector = 2 * gaps - r_target
    back_scores: Vector = 2 * back_gaps - r_source
    if raised is not None and len(raised.bonus):
        own, other = raised.source, raised.target
        csls = 2 * np.einsum("ij,ij->i", x[own], z[other]) - r_target[own] - r_source[other]
        forth, scores = _best_of_raised(forth, scores, own, other, csls, raised.bonus)
        back, _ = _best_of_raised(back, back_scores, other, own, csls, raised.bonus)
    return BestNeighbors(forth, scores, back)


def _best_of_raised(
    best: RowIndices,
    scores: Vector,
    queries: RowIndices,
    targets: RowIndices,
    csls: Vector,
    bonus: Vector,
) -> tuple[RowIndices, Vector]:
    """Return the best target of each query and its CSLS, where raised pairs compete."""
    total = csls + bonus
    order = np.lexsort((total, queries))
    is_last = np.append(queries[order][1:] != queries[order][:-1], True)
    top = order[is_last]  # of each query, the raised pair that scores most
    top = top[total[top] > scores[queries[top]]]
    best, scores = best.copy(), scores.copy()
    best[queries[top]], scores[queries[top]] = targets[top], csls[top]
    return best, scores


def neighborhoods(
    source: Matrix, target: Matrix, k: int = 10, tiles: Tiles = TILES
) -> tuple[Vector, Vector]:
    """Return r_T of all source rows and r_S of all target rows, from one product of both."""
    of_source, of_target = nearest_rows(source, target, k, tiles)
    return _means(source, target, of_source, of_target, k, tiles)


def _means(
    source: Matrix, target: Matrix, of_source: Best, of_target: Best, k: int, tiles: Tiles
) -> tuple[Vector, Vector]:
    return (
        best_means(of_source, source, target, min(k, len(target)), tiles),
        best_means(of_target, target, source, min(k, len(source)), tiles),
    )


def _best_by_gap(
    queries: Matrix, targets: Matrix, nearest: Best, bias: Vector, tiles: Tiles
) -> tuple[RowIndices, Vector]:
    """Return the best target of each query by cos - bias, and that gap.

    Most are among the nearest by cosine. A target that is not has a cosine of at most the list's
    floor, so that only one with a bias below floor - gap of the best in the list can still win.
    """
    index = _known(targets, bias, tiles)
    lower = index.bias.lower
    bounds = np.where(nearest.columns < 0, -np.inf, nearest.values - lower[nearest.columns])
    floor = bounds.max(axis=1) - np.float32(4 * index.margin)  # below what can win
    reach = nearest.floor - floor
    best = Best(len(queries), nearest.values.shape[1] + BEST_BY_CSLS, floor)
    best.values[:, BEST_BY_CSLS:], best.columns[:, BEST_BY_CSLS:] = bounds, nearest.columns
    by_bias, by_reach = np.argsort(lower, kind="stable"), np.argsort(reach, kind="stable")
    for part in tiles.square.of_rows(len(queries)):
        rows = by_reach[part]
        others = by_bias[: np.searchsorted(lower, reach[rows[-1]], "right", sorter=by_bias)]
        winners = Best(len(rows), BEST_BY_CSLS, floor[rows])
        for tile in tiles.square.of_columns(len(others)):
            columns = others[tile]
            gaps = _all_products(queries[rows], targets[columns]) - lower[columns]
            winners.update(gaps, tile.start)
        best.values[rows, :BEST_BY_CSLS], best.floor[rows] = winners.values, winners.floor
        if len(others):
            best.columns[rows, :BEST_BY_CSLS] = np.where(
                winners.columns < 0, -1, others[winners.columns]
            )
    return _first(index, queries, best)


def _first(index: BiasedIndex, queries: Matrix, best: Best) -> tuple[RowIndices, Vector]:
    """Return the best target of each query, and its gap."""
    columns, gaps = index.decide(queries, best, 1)
    return columns[:, 0], gaps[:, 0]


def _known(targets: Matrix, bias: Vector, tiles: Tiles) -> BiasedIndex:
    """Return what searches by cos - bias, where all of it is known."""
    rows = UnitRows(targets)
    return BiasedIndex(rows, KnownBias(rows, bias, SearchPolicy(tiles=tiles)))


def nearest_rows(
    source: Matrix,
    target: Matrix,
    k: int,
    tiles: Tiles = TILES,
    bias: tuple[Vector, Vector] | None = None,
) -> tuple[Best, Best]:
    """Return the k nearest targets of each source row, a few more, and the other way round.

    Which of rows that are equal but for rounding are listed last depends on the pool.

    Parameters
    ----------
    bias
        Of each source row and of each target row: then nearest by cos - bias.
    """
    columns = list(tiles.square.of_columns(len(target)))
    share = -(-len(columns) // pool_size())
    ranges = [columns[first : first + share] for first in range(0, len(columns), share)]
    given = (source, target, bias, *_lengths(source, target, k), tiles.square)
    if len(ranges) == 1:
        with all_threads():  # this runs inside fits, which have few
            return nearest_in(*given, ranges[0])
    return _joined(each_part("Comparing", nearest_in, given, ranges))


def nearest_by_tiles(
    source: Matrix, target: Matrix, k: int, tiles: Tiles = TILES
) -> tuple[Best, Best]:
    """Return the same, tile by tile with one BLAS thread each: the same to the bit for any pool."""
    ranges = [[columns] for columns in tiles.square.of_columns(len(target))]
    given = (source, target, None, *_lengths(source, target, k), tiles.square)
    with compute_pool(), few_threads():
        return _joined(each_part("Comparing", nearest_in, given, ranges))


def _joined(found: Iterator[tuple[Best, Best]]) -> tuple[Best, Best]:
    """Put together what was found among one range of targets after the other."""
    of_source, of_target = next(found)
    of_targets = [of_target]
    for others, of_target in found:
        of_source.join(others)
        of_targets.append(of_target)
    return of_source, Best.stacked(of_targets)


def nearest_in(
    source: Matrix,
    target: Matrix,
    bias: tuple[Vector, Vector] | None,
    listed_targets: int,
    listed_sources: int,
    tiles: Tiles,
    ranges: Sequence[slice],
) -> tuple[Best, Best]:
    """Return the nearest targets of each source row among some of them, and the other way round."""
    first = ranges[0].start
    of_source = Best(len(source), listed_targets)
    of_target = Best(ranges[-1].stop - first, listed_sources)
    for columns in ranges:
        own = of_target.part(slice(columns.start - first, columns.stop - first))
        for rows in tiles.of_rows(len(source)):
            cosines = source[rows] @ target[columns].T
            forth, back = cosines, cosines.T
            if bias is not None:
                forth, back = cosines - bias[1][columns], (cosines - bias[0][rows, None]).T
            of_source.part(rows).update(forth, columns.start)
            own.update(back, rows.start)
    return of_source, of_target


def _lengths(source: Matrix, target: Matrix, k: int) -> tuple[int, int]:
    """Return how many are listed of each source row, and of each target row."""
    return _listed(k, len(target)), _listed(k, len(source))


def _listed(k: int, rows: int) -> int:
    """Return how many nearest rows are listed: all, where a few more would make a list of all."""
    return rows if rows <= k + MORE_THAN_ASKED + BEST_BY_CSLS else k + MORE_THAN_ASKED


def _all_products(left: Matrix, right: Matrix) -> Matrix:
    with all_threads():  # this runs inside fits, which have few
        products: Matrix = left @ right.T
    return products
