"""Best translations by CSLS for less: few directions shortlist, all of them decide.

    x . z  ~  x P . z P,     P the first principal directions of the rows of both languages

as many as hold 95 % of the squared length of all rows. Each row lists its 30 nearest by these cheap
products. Whatever follows is told by the cosines themselves: the neighbourhood means r, and the
best by 2 cos(x, z) - r_T(x) - r_S(z) of what is listed. A latent metric puts what two languages
share into few directions.

Maps that change a little keep most of their neighbours: other rows of the same words, after a
further fit, can be ranked in the lists of the last search, for a tenth of its time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from geomm_plugin.arrays import BLOCK_ROWS, TILES, Matrix, RowIndices, Tiles, Vector, slices
from geomm_plugin.factorization import eigh
from geomm_plugin.retrieval.exact.best import MORE_THAN_ASKED
from geomm_plugin.retrieval.mutual import BestNeighbors, nearest_by_tiles
from geomm_plugin.retrieval.near_rows import near_rows
from geomm_plugin.retrieval.unit_rows import Rows, as_unit_rows
from geomm_plugin.work import compute_pool, each_part

LENGTH_SHARE = 0.95  # of the squared length of all rows, which the directions keep
LEAST_ROWS = 2000  # of either language; fewer are compared in all directions
LISTED = 30  # nearest rows by the cheap products
AVERAGED = 10  # neighbours in the means of CSLS; every list holds more
ROWS_AT_A_TIME = 64  # whose lists are multiplied at a time: 2 MB at d = 300


@dataclass(frozen=True)
class Shortlist:
    """The rows of another language that may be the best of each row, in both directions."""

    of_source: RowIndices  # -1 at empty places
    of_target: RowIndices

    @classmethod
    def search(cls, source: Rows, target: Rows, tiles: Tiles = TILES) -> Shortlist | None:
        """Return the nearest by few directions; nothing where rows are too few to need a list."""
        x, z = as_unit_rows(source, "source").all(), as_unit_rows(target, "target").all()
        if min(len(x), len(z)) < LEAST_ROWS:
            return None
        directions = principal_directions(x, z, LENGTH_SHARE)
        x, z = x @ directions, z @ directions
        if lists := near_rows(x, z, LISTED):
            return cls(*lists)
        of_source, of_target = nearest_by_tiles(x, z, LISTED - MORE_THAN_ASKED, tiles)
        return cls(of_source.columns, of_target.columns)

    def best(self, source: Rows, target: Rows) -> BestNeighbors:
        """Return the best of what is listed by CSLS, for rows of the words that were searched."""
        x, z = as_unit_rows(source, "source").all(), as_unit_rows(target, "target").all()
        forth_cosines = _listed_cosines(x, z, self.of_source)
        back_cosines = _listed_cosines(z, x, self.of_target)
        r_target, r_source = _means(forth_cosines), _means(back_cosines)
        forth, gaps = _best(self.of_source, forth_cosines, r_source)
        back, _ = _best(self.of_target, back_cosines, r_target)
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
    for part in slices(len(queries), ROWS_AT_A_TIME):
        cosines[part] = np.einsum("qd,qkd->qk", queries[part], targets[columns[part]])
    cosines[columns < 0] = -np.inf
    return cosines


def _means(cosines: Matrix) -> Vector:
    """Return the mean of the ten largest of each row."""
    largest = np.partition(cosines, -AVERAGED, axis=1)[:, -AVERAGED:]
    means: Vector = largest.mean(axis=1, dtype=np.float64)
    return means


def _best(columns: RowIndices, cosines: Matrix, hubness: Vector) -> tuple[RowIndices, Vector]:
    """Return the listed column with the largest 2 cos - r, of equal ones the lowest; and that."""
    gaps = 2.0 * cosines - hubness[columns]
    largest: Vector = gaps.max(axis=1)
    is_largest = gaps == largest[:, None]
    best: RowIndices = np.where(is_largest, columns, len(hubness)).min(axis=1)
    return best, largest
