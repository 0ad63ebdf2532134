"""Hubness penalty of each target: a lower bound for all, the exact value on request."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from geomm_plugin.arrays import BLOCK_ROWS, TILES, Matrix, RowIndices, Tiles, Vector
from geomm_plugin.retrieval.exact.dots import representatives
from geomm_plugin.retrieval.unit_rows import AnyRows, as_unit_rows

FLOAT32_LOSS = 1e-6  # more than a bias loses as a float32
MAX_BOUND_COST_SHARE = 0.7  # of the work that the bias of all targets takes
MAX_QUESTIONS_PER_TARGET = 2  # where more are expected, nearly every target needs its bias


@dataclass(frozen=True, kw_only=True)
class SearchPolicy:
    """What a search does to compute less; its answers are the same to the bit for any policy.

    A device is used where it promises to pay (None), always (True) or never (False).
    """

    bounds: bool | None = None  # cells of source words bound the bias of every target
    near: bool | None = None  # for few queries, the neighbours of leading targets bound the others
    sketch: bool | None = None  # few directions rule most pairs of words out
    near_targets: int = 32  # how many targets lead, for each query
    directions: tuple[int, ...] = (32, 64, 96, 128, 192)  # numbers of them that a sketch tries
    tiles: Tiles = TILES


POLICY = SearchPolicy()


class Bias(ABC):
    """Hubness penalty of each target: a lower bound for all, the exact value on request.

    A score ranks targets by cos(x, z) - bias(z).

    A subclass writes `compute` and `bound`. `lower[z] <= bias(z)` always holds; what was computed
    exactly is kept. Equal targets have equal biases.
    """

    neighbors = 0  # how many nearest targets of a query its score is made with
    is_exact = False  # whether compute() gives equal targets equal values, wherever they stand

    def __init__(self, source: AnyRows, target: AnyRows, policy: SearchPolicy = POLICY):
        self.policy = policy
        self.source = as_unit_rows(source, "source").all()
        self.target = as_unit_rows(target, "target").all()
        self.lower = np.full(len(target), -np.inf, np.float32)
        self._values = np.full(len(target), np.nan)
        self._bounded = False

    @abstractmethod
    def compute(self, rows: RowIndices) -> Vector:
        """Return the exact bias of some targets, in float64."""

    @abstractmethod
    def bound(self) -> Vector:
        """Return a lower bound of the bias of every target, at a small part of the cost."""

    @abstractmethod
    def cost_of_bound(self) -> float:
        """Return how many dot products bound() takes."""

    @cached_property
    def _first_equal(self) -> RowIndices:
        """The first target that is equal to each target."""
        return representatives(self.target)

    @property
    def is_known(self) -> bool:
        """Whether the exact bias of every target is there."""
        return not np.isnan(self._values).any()

    def prepare(self, questions: int, queries: Matrix | None = None) -> None:
        """Get ready for the bias of about `questions` targets: bound them, or compute all.

        Parameters
        ----------
        queries
            Whose best targets are looked for; a bias may bound those near them alone.
        """
        missing = np.flatnonzero(np.isnan(self._values))
        if not len(missing) or not questions:
            return
        is_cheap = self.policy.bounds
        if is_cheap is None:
            cost = 0.0 if self._bounded else self.cost_of_bound()
            is_cheap = cost <= MAX_BOUND_COST_SHARE * len(missing) * len(
                self.source
            ) and questions <= MAX_QUESTIONS_PER_TARGET * len(missing)
        if not is_cheap:
            self.exact(missing)
        elif not self._bounded:
            self.lower = np.fmax(self.lower, self.bound().astype(np.float32))
            self._bounded = True

    def exact(self, rows: RowIndices) -> Vector:
        """Return the exact bias of some targets."""
        missing = np.unique(rows[np.isnan(self._values[rows])])
        if len(missing):
            self._compute_once(missing)
        values: Vector = self._values[rows]
        self.lower[rows] = values - FLOAT32_LOSS
        return values

    def _compute_once(self, rows: RowIndices) -> None:
        """Compute the bias of some targets; equal ones are computed once."""
        if self.is_exact and len(rows) <= BLOCK_ROWS:
            first = rows[representatives(self.target[rows])]
        else:
            first = self._first_equal[rows]
        missing = np.unique(first[np.isnan(self._values[first])])
        if len(missing):
            self._values[missing] = self.compute(missing)
        self._values[rows] = self._values[first]

    def scores(self, gaps: Matrix, nearest: Vector) -> Matrix:
        """Turn cos(x, z) - bias(z) into the score as its paper defines it.

        Parameters
        ----------
        nearest
            The mean cosine of each query with its `neighbors` nearest targets.
        """
        return gaps


class KnownBias(Bias):
    """A bias that is known for all targets, such as zero."""

    is_exact = True

    def __init__(self, target: AnyRows, values: Vector, policy: SearchPolicy = POLICY):
        target = as_unit_rows(target, "target")
        super().__init__(target, target, policy)
        self._values[:] = values
        self.lower[:] = values - FLOAT32_LOSS

    def compute(self, rows: RowIndices) -> Vector:
        """Return what is known."""
        return self._values[rows]

    def bound(self) -> Vector:
        """Return what is known."""
        return self._values

    def cost_of_bound(self) -> float:
        """Return zero."""
        return 0
