"""The best translations of all words both ways, by CSLS: a dictionary from the space itself.

`best_neighbors` compares all rows, once for both directions. `Shortlist` does it for less:

    x . z  ~  x P . z P,     P the first principal directions of the rows of both languages,

as many as hold 95 % of the squared length of all rows. Each row lists its 30 nearest by these
products; the cosines of what is listed decide. Maps that change a little keep most of their
neighbours: other rows of the same words can be ranked in the lists of the last search.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from geomm_plugin.arrays import BLOCK_ROWS, TILES, Mask, Matrix, RowIndices, Tiles, Vector, slices
from geomm_plugin.factorization import all_threads, eigh, few_threads
from geomm_plugin.retrieval.exact.bias import KnownBias, SearchPolicy
from geomm_plugin.retrieval.exact.biased_index import BiasedIndex
from geomm_plugin.retrieval.exact.dots import rounding
from geomm_plugin.retrieval.exact.neighborhood import nearest_of
from geomm_plugin.retrieval.exact.top_k import MORE_THAN_ASKED, TopK, best_means
from geomm_plugin.retrieval.interface import BestNeighbors, PairBonus
from geomm_plugin.retrieval.unit_rows import AnyRows, UnitRows, as_unit_rows
from geomm_plugin.work import compute_pool, each_part, pool_size

BEST_BY_CSLS = 4  # of the best are listed: more than rounding may confuse

LENGTH_SHARE = 0.95  # of the squared length of all rows, which the directions keep
LEAST_ROWS = 2000  # of either language; fewer are compared in all directions
LISTED = 30  # nearest rows by the cheap products
AVERAGED = 10  # neighbours in the means of CSLS; every list holds more
LISTS_AT_A_TIME = 64  # that are multiplied: 2 MB at d = 300

SAMPLED = 8  # the floors are those of every 8th row
LEAST_NEAR = 12  # rows of the sample that reach a floor: more than CSLS averages
MAX_NEAR_FACTOR = 8  # times as many near rows as expected: many are equal
COLUMNS_A_PART = 2048
ROWS_AT_A_TIME = 1024  # of a sample's products, and of lists that are made
IN_CACHE = Tiles(256, 1024)  # 1 MB of float32

Numbers: TypeAlias = npt.NDArray[np.int32]  # of rows: there are some millions of them at a time
Near: TypeAlias = "tuple[Numbers, Numbers, Vector]"  # rows, columns, products


def mutual_neighbors(
    source: AnyRows, target: AnyRows, k: int = 10, *, bonus: PairBonus | None = None
) -> tuple[RowIndices, RowIndices, Vector]:
    """Return the pairs of unit rows that are each other's best by CSLS, in the source's order.

    Returns source rows, target rows and their CSLS.
    """
    return best_neighbors(source, target, k, bonus=bonus).mutual()


def best_neighbors(
    source: AnyRows,
    target: AnyRows,
    k: int = 10,
    *,
    bonus: PairBonus | None = None,
    tiles: Tiles = TILES,
) -> BestNeighbors:
    """Return the best translations by CSLS of all rows, in both directions.

    Parameters
    ----------
    bonus
        What some pairs compete with beyond their CSLS; what is returned is their CSLS alone.
    """
    x, z = as_unit_rows(source, "source").all(), as_unit_rows(target, "target").all()
    of_source, of_target = nearest_rows(x, z, k, tiles)
    r_target, r_source = _means(x, z, of_source, of_target, k, tiles)
    forth, gaps = _best_by_gap(x, z, of_source, r_source / 2, tiles)
    back, back_gaps = _best_by_gap(z, x, of_target, r_target / 2, tiles)
    scores: Vector = 2 * gaps - r_target
    back_scores: Vector = 2 * back_gaps - r_source
    if bonus is not None and len(bonus.bonus):
        own, other = bonus.source, bonus.target
        csls = 2 * np.einsum("ij,ij->i", x[own], z[other]) - r_target[own] - r_source[other]
        forth, scores = _with_bonus(forth, scores, own, other, csls, bonus.bonus)
        back, _ = _with_bonus(back, back_scores, other, own, csls, bonus.bonus)
    return BestNeighbors(forth, scores, back)


def _with_bonus(
    best: RowIndices,
    scores: Vector,
    queries: RowIndices,
    targets: RowIndices,
    csls: Vector,
    bonus: Vector,
) -> tuple[RowIndices, Vector]:
    """Return the best target of each query and its CSLS, where some pairs have a bonus."""
    total = csls + bonus
    order = np.lexsort((total, queries))
    is_last = np.append(queries[order][1:] != queries[order][:-1], True)
    top = order[is_last]  # of each query, the pair with a bonus that scores most
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
    source: Matrix, target: Matrix, of_source: TopK, of_target: TopK, k: int, tiles: Tiles
) -> tuple[Vector, Vector]:
    return (
        best_means(of_source, source, target, min(k, len(target)), tiles),
        best_means(of_target, target, source, min(k, len(source)), tiles),
    )


def _best_by_gap(
    queries: Matrix, targets: Matrix, nearest: TopK, bias: Vector, tiles: Tiles
) -> tuple[RowIndices, Vector]:
    """Return the best target of each query by cos - bias, and that gap.

    Most are among the nearest by cosine. A target that is not has a cosine of at most the list's
    floor, so that only one with a bias below floor - gap of the best in the list can still win.
    """
    known = KnownBias(UnitRows(targets), bias, SearchPolicy(tiles=tiles))
    index, lower = BiasedIndex(known.target, known), known.lower
    bounds = np.where(nearest.columns < 0, -np.inf, nearest.values - lower[nearest.columns])
    floor = bounds.max(axis=1) - np.float32(4 * index.margin)  # below what can win
    reach = nearest.floor - floor
    best = TopK(len(queries), nearest.values.shape[1] + BEST_BY_CSLS, floor)
    best.values[:, BEST_BY_CSLS:], best.columns[:, BEST_BY_CSLS:] = bounds, nearest.columns
    by_bias, by_reach = np.argsort(lower, kind="stable"), np.argsort(reach, kind="stable")
    for part in tiles.square.of_rows(len(queries)):
        rows = by_reach[part]
        others = by_bias[: np.searchsorted(lower, reach[rows[-1]], "right", sorter=by_bias)]
        winners = TopK(len(rows), BEST_BY_CSLS, floor[rows])
        for tile in tiles.square.of_columns(len(others)):
            columns = others[tile]
            gaps = _all_products(queries[rows], targets[columns]) - lower[columns]
            winners.update(gaps, tile.start)
        best.values[rows, :BEST_BY_CSLS], best.floor[rows] = winners.values, winners.floor
        if len(others):
            best.columns[rows, :BEST_BY_CSLS] = np.where(
                winners.columns < 0, -1, others[winners.columns]
            )
    first, found = index.decide(queries, best, 1)
    return first[:, 0], found[:, 0]


def nearest_rows(source: Matrix, target: Matrix, k: int, tiles: Tiles = TILES) -> tuple[TopK, TopK]:
    """Return the k nearest targets of each source row, a few more, and the other way round.

    Which of rows that are equal but for rounding are listed last depends on the pool.
    """
    columns = list(tiles.square.of_columns(len(target)))
    share = -(-len(columns) // pool_size())
    ranges = [columns[first : first + share] for first in range(0, len(columns), share)]
    given = (source, target, _listed(k, len(target)), _listed(k, len(source)), tiles.square)
    if len(ranges) == 1:
        with all_threads():  # this runs inside fits, which have few
            return nearest_in(*given, ranges[0])
    return _joined(each_part("Comparing", nearest_in, given, ranges))


def _joined(found: Iterator[tuple[TopK, TopK]]) -> tuple[TopK, TopK]:
    """Put together what was found among one range of targets after the other."""
    of_source, of_target = next(found)
    of_targets = [of_target]
    for others, of_target in found:
        of_source.join(others)
        of_targets.append(of_target)
    return of_source, TopK.stacked(of_targets)


def nearest_in(
    source: Matrix,
    target: Matrix,
    listed_targets: int,
    listed_sources: int,
    tiles: Tiles,
    ranges: Sequence[slice],
) -> tuple[TopK, TopK]:
    """Return the nearest targets of each source row among some of them, and the other way round."""
    first = ranges[0].start
    of_source = TopK(len(source), listed_targets)
    of_target = TopK(ranges[-1].stop - first, listed_sources)
    for columns in ranges:
        own = of_target.part(slice(columns.start - first, columns.stop - first))
        for rows in tiles.of_rows(len(source)):
            cosines = source[rows] @ target[columns].T
            of_source.part(rows).update(cosines, columns.start)
            own.update(cosines.T, rows.start)
    return of_source, of_target


def _listed(k: int, rows: int) -> int:
    """Return how many nearest rows are listed: all, where a few more would make a list of all."""
    return rows if rows <= k + MORE_THAN_ASKED + BEST_BY_CSLS else k + MORE_THAN_ASKED


def _all_products(left: Matrix, right: Matrix) -> Matrix:
    with all_threads():  # this runs inside fits, which have few
        products: Matrix = left @ right.T
    return products


@dataclass(frozen=True)
class Shortlist:
    """The rows of another language that may be the best of each row, in both directions."""

    of_source: RowIndices  # -1 at empty places
    of_target: RowIndices

    @classmethod
    def search(
        cls,
        source: AnyRows,
        target: AnyRows,
        *,
        listed: int = LISTED,
        least_rows: int = LEAST_ROWS,
        tiles: Tiles = TILES,
    ) -> Shortlist | None:
        """Return the nearest by few directions; nothing where rows are too few to need a list."""
        x, z = as_unit_rows(source, "source").all(), as_unit_rows(target, "target").all()
        if min(len(x), len(z)) < least_rows:
            return None
        directions = principal_directions(x, z, LENGTH_SHARE)
        x, z = x @ directions, z @ directions
        lists = near_rows(x, z, listed)
        return cls(*lists or (_nearest(x, z, listed, tiles), _nearest(z, x, listed, tiles)))

    def best(self, source: AnyRows, target: AnyRows) -> BestNeighbors:
        """Return the best of what is listed by CSLS, for rows of the words that were searched."""
        x, z = as_unit_rows(source, "source").all(), as_unit_rows(target, "target").all()
        forth_cosines = _listed_cosines(x, z, self.of_source)
        back_cosines = _listed_cosines(z, x, self.of_target)
        r_target, r_source = _listed_means(forth_cosines), _listed_means(back_cosines)
        forth, gaps = _best_listed(self.of_source, forth_cosines, r_source)
        back, _ = _best_listed(self.of_target, back_cosines, r_target)
        return BestNeighbors(forth, gaps - r_target, back)


def principal_directions(x: Matrix, z: Matrix, share: float) -> Matrix:
    """Return as columns the fewest directions that keep a share of the rows' squared length."""
    gram = np.zeros((x.shape[1], x.shape[1]))
    for rows in (x, z):
        for part in slices(len(rows), BLOCK_ROWS):
            gram += rows[part].T @ rows[part]
    values, vectors = eigh(gram)  # the smallest first
    kept = np.cumsum(values[::-1])
    count = int(np.searchsorted(kept, share * kept[-1])) + 1
    directions: Matrix = vectors[:, ::-1][:, :count].astype(np.float32)
    return directions


def _nearest(queries: Matrix, targets: Matrix, size: int, tiles: Tiles) -> RowIndices:
    """List the nearest targets of each query, where many rows are equal; -1 at empty places."""
    k = max(1, size - MORE_THAN_ASKED)
    parts = tiles.of_rows(len(queries))
    with few_threads():
        lists = [nearest_of(queries[part], targets, k, tiles=tiles).columns for part in parts]
    return np.concatenate(lists)


def _listed_cosines(queries: Matrix, targets: Matrix, columns: RowIndices) -> Matrix:
    """Return the cosines of what is listed; -inf at empty places.

    Summed by einsum, not by BLAS, whose sums depend on the number of threads.
    """
    parts = list(slices(len(queries), BLOCK_ROWS // 2))
    given = (queries, targets, columns)
    with compute_pool():
        return np.concatenate(list(each_part("Comparing", _cosines_of_rows, given, parts)))


def _cosines_of_rows(queries: Matrix, targets: Matrix, columns: RowIndices, rows: slice) -> Matrix:
    queries, columns = queries[rows], columns[rows]
    cosines = np.empty(columns.shape, np.float32)
    for part in slices(len(queries), LISTS_AT_A_TIME):
        cosines[part] = np.einsum("qd,qkd->qk", queries[part], targets[columns[part]])
    cosines[columns < 0] = -np.inf
    return cosines


def _listed_means(cosines: Matrix) -> Vector:
    """Return the mean of the ten largest of each row."""
    largest = np.partition(cosines, -AVERAGED, axis=1)[:, -AVERAGED:]
    means: Vector = largest.mean(axis=1, dtype=np.float64)
    return means


def _best_listed(
    columns: RowIndices, cosines: Matrix, hubness: Vector
) -> tuple[RowIndices, Vector]:
    """Return the listed column with the largest 2 cos - r, of equal ones the lowest; and that."""
    gaps = 2.0 * cosines - hubness[columns]
    largest: Vector = gaps.max(axis=1)
    is_largest = gaps == largest[:, None]
    best: RowIndices = np.where(is_largest, columns, len(hubness)).min(axis=1)
    return best, largest


def near_rows(
    source: Matrix,
    target: Matrix,
    size: int,
    *,
    part: int = COLUMNS_A_PART,
    tiles: Tiles = IN_CACHE,
) -> tuple[RowIndices, RowIndices] | None:
    """List the nearest targets of each source row, and the nearest sources of each target row.

        floor_i = the 12th largest of x_i . z_j over every eighth j, less what rounding may change
        near_i  = {j: x_i . z_j > floor_i},   of which the nearest are listed;   so for each z_j

    With floors known beforehand nothing is sorted while products are made, in tiles that are
    compared while they are in the cache. Lists are in no order, and -1 at empty places; few are
    shorter than `size`. They are the same to the bit for any pool. Where many rows are equal, so
    that no floor keeps them apart, there are no lists.

    Parameters
    ----------
    source, target
        Rows of length 1 at most, in float32.
    """
    parts = list(slices(len(target), part))
    with compute_pool(), few_threads():
        floors = _floors(source, target), _floors(target, source)
        given = (source, target, *floors, size, tiles)
        found = list(each_part("Comparing", _near_part, given, parts))
    if any(part is None for part in found):
        return None
    of_target = np.concatenate([part[1] for part in found if part is not None])
    near = _concatenated([part[0] for part in found if part is not None])
    del found
    return _largest(near, len(source), size), of_target


def _floors(queries: Matrix, targets: Matrix) -> Vector:
    """Return for each query what at least 12 of all targets exceed, however they are multiplied."""
    sample = np.ascontiguousarray(targets[::SAMPLED])
    parts = list(slices(len(queries), ROWS_AT_A_TIME))
    return np.concatenate(list(each_part("Comparing", _floors_part, (queries, sample), parts)))


def _floors_part(queries: Matrix, sample: Matrix, rows: slice) -> Vector:
    products = queries[rows] @ sample.T
    place = max(0, len(sample) - LEAST_NEAR)
    products.partition(place, axis=1)
    # Other blocks of a product round otherwise: many equal rows could all fall below their own.
    floors: Vector = products[:, place] - np.float32(2 * rounding(sample.shape[1]))
    return floors


def _near_part(
    source: Matrix,
    target: Matrix,
    source_floors: Vector,
    target_floors: Vector,
    size: int,
    tiles: Tiles,
    columns: slice,
) -> tuple[Near, RowIndices] | None:
    """Return what is near among some targets, and their lists; nothing if it is too much."""
    count = columns.stop - columns.start
    most = MAX_NEAR_FACTOR * LEAST_NEAR * SAMPLED * count * (1 + len(source) / len(target))
    forth: list[Near] = []
    back: list[Near] = []
    floors = source_floors, target_floors[columns]
    for row, column, product, is_forth, is_back in _near(source, target[columns], *floors, tiles):
        most -= len(row)
        if most < 0:
            return None
        start = np.int32(columns.start)
        forth.append((row[is_forth], column[is_forth] + start, product[is_forth]))
        back.append((column[is_back], row[is_back], product[is_back]))
    return _concatenated(forth), _largest(_concatenated(back), count, size)


def _near(
    source: Matrix, target: Matrix, source_floors: Vector, target_floors: Vector, tiles: Tiles
) -> Iterator[tuple[Numbers, Numbers, Vector, Mask, Mask]]:
    """Yield rows and columns whose products are above a floor, and above which: tile by tile."""
    tile = tiles.rows * tiles.columns
    products, above, also = np.empty(tile, np.float32), np.empty(tile, bool), np.empty(tile, bool)
    for columns in tiles.of_columns(len(target)):
        for rows in tiles.of_rows(len(source)):
            x, z = source[rows], target[columns]
            shape = len(x), len(z)
            x_floors, z_floors = source_floors[rows], target_floors[columns]
            product = np.matmul(x, z.T, out=_shaped(products, shape))
            is_near = np.greater(product, x_floors[:, None], out=_shaped(above, shape))
            is_near |= np.greater(product, z_floors, out=_shaped(also, shape))
            at = np.flatnonzero(is_near)
            row, column = np.divmod(at.astype(np.int32), np.int32(len(z)))
            value = product.ravel()[at]
            is_forth, is_back = value > x_floors[row], value > z_floors[column]
            row += np.int32(rows.start)
            column += np.int32(columns.start)
            yield row, column, value, is_forth, is_back


def _shaped(buffer: npt.NDArray[np.generic], shape: tuple[int, int]) -> npt.NDArray[np.generic]:
    return buffer[: shape[0] * shape[1]].reshape(shape)


def _concatenated(parts: list[Near]) -> Near:
    row, column, product = map(np.concatenate, zip(*parts, strict=True))
    return row, column, product


def _largest(near: Near, count: int, size: int) -> RowIndices:
    """Return the columns of the largest products of each row; -1 where there are no more."""
    order = np.argsort(near[0].astype(np.min_scalar_type(count)), kind="stable")  # small: fast
    row, column, product = (array[order] for array in near)
    ends = np.cumsum(np.bincount(row, minlength=count))
    listed = np.full((count, size), -1, np.intp)
    for rows in slices(count, ROWS_AT_A_TIME):
        begins = np.concatenate([[ends[rows.start - 1] if rows.start else 0], ends[rows]])
        part = slice(begins[0], begins[-1])
        at = row[part] - rows.start
        place = np.arange(part.start, part.stop) - begins[at]
        width = max(size, int(np.diff(begins).max()))
        products = np.full((len(begins) - 1, width), -np.inf, np.float32)
        columns = np.full(products.shape, -1, np.intp)
        products[at, place], columns[at, place] = product[part], column[part]
        largest = np.argpartition(products, width - size, axis=1)[:, width - size :]
        listed[rows] = np.take_along_axis(columns, largest, axis=1)
    return listed
