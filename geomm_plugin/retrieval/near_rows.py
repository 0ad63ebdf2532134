"""The nearest rows of every row of two languages, both ways, from one look at their products.

    floor_i = the 12th largest of x_i . z_j over every eighth j, less what rounding may change
    near_i  = {j: x_i . z_j > floor_i},   of which the nearest are listed;   so for each z_j, too

A row has about a hundred near ones. With floors known beforehand nothing has to be sorted while
products are made: tiles are small enough to be compared while they are in the cache, and most of
the time goes into the products themselves. Tiles and their order do not depend on who shares the
work, so that the lists are the same to the bit for any pool.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from geomm_plugin.arrays import Mask, Matrix, RowIndices, Tiles, Vector, slices
from geomm_plugin.factorization import few_threads
from geomm_plugin.retrieval.exact.dots import rounding
from geomm_plugin.work import compute_pool, each_part

SAMPLED = 8  # one of so many rows tells the floors
LEAST_NEAR = 12  # rows of the sample that reach a floor: so many are near, more than CSLS averages
CROWDED = 8  # times as many near rows as expected: many are equal
COLUMNS_A_PART = 2048
ROWS_AT_A_TIME = 1024  # of a sample's products, and of lists that are made
IN_CACHE = Tiles(256, 1024)  # 1 MB of float32

Numbers: TypeAlias = npt.NDArray[np.int32]  # of rows: there are some millions of them at a time
Near: TypeAlias = "tuple[Numbers, Numbers, Vector]"  # rows, columns, products


def near_rows(source: Matrix, target: Matrix, size: int) -> tuple[RowIndices, RowIndices] | None:
    """List the nearest targets of each source row, and the nearest sources of each target row.

    Lists are in no order, and -1 at empty places; few are shorter than `size`. Where many rows are
    equal, so that no floor keeps them apart, there are no lists.

    Parameters
    ----------
    source, target
        Rows of length 1 at most, in float32.
    """
    parts = list(slices(len(target), COLUMNS_A_PART))
    with compute_pool(), few_threads():
        floors = _floors(source, target), _floors(target, source)
        found = list(each_part("Comparing", _near_part, (source, target, *floors, size), parts))
    if any(part is None for part in found):
        return None
    of_target = np.concatenate([part[1] for part in found if part is not None])
    near = _joined([part[0] for part in found if part is not None])
    del found
    return _nearest(near, len(source), size), of_target


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
    columns: slice,
) -> tuple[Near, RowIndices] | None:
    """Return what is near among some targets, and their lists; nothing if it is too much."""
    count = columns.stop - columns.start
    most = CROWDED * LEAST_NEAR * SAMPLED * count * (1 + len(source) / len(target))
    forth: list[Near] = []
    back: list[Near] = []
    floors = source_floors, target_floors[columns]
    for row, column, product, is_forth, is_back in _near(source, target[columns], *floors):
        most -= len(row)
        if most < 0:
            return None
        start = np.int32(columns.start)
        forth.append((row[is_forth], column[is_forth] + start, product[is_forth]))
        back.append((column[is_back], row[is_back], product[is_back]))
    return _joined(forth), _nearest(_joined(back), count, size)


def _near(
    source: Matrix, target: Matrix, source_floors: Vector, target_floors: Vector
) -> Iterator[tuple[Numbers, Numbers, Vector, Mask, Mask]]:
    """Yield rows and columns whose products are above a floor, and above which: tile by tile."""
    tile = IN_CACHE.rows * IN_CACHE.columns
    products, above, also = np.empty(tile, np.float32), np.empty(tile, bool), np.empty(tile, bool)
    for columns in IN_CACHE.of_columns(len(target)):
        for rows in IN_CACHE.of_rows(len(source)):
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


def _joined(parts: list[Near]) -> Near:
    row, column, product = map(np.concatenate, zip(*parts, strict=True))
    return row, column, product


def _nearest(near: Near, count: int, size: int) -> RowIndices:
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
