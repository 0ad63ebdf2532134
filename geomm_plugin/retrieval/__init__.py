"""[retrieve] Which target words are nearest to a source word: Cosine, CSLS, InvertedSoftmax."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from geomm_plugin import registry
from geomm_plugin.embeddings import Matrix, RowIndices, Vector
from geomm_plugin.hookspecs import hookimpl

TILE_ROWS = 512


@dataclass(frozen=True)
class Neighbors:
    """For each query its best targets, best first."""

    indices: RowIndices
    scores: Matrix


class Index(ABC):
    """Answers queries over one target vocabulary."""

    @abstractmethod
    def search(self, queries: Matrix, k: int) -> Neighbors:
        """Return the k best targets of each query."""

    @abstractmethod
    def ranks(self, queries: Matrix, gold: Sequence[RowIndices]) -> RowIndices:
        """Return the rank of each query's best gold target: 1 + wrong targets that score >= it."""


@dataclass(frozen=True, kw_only=True)
class Retrieval(ABC):
    """A score that ranks target words; its fields are its parameters."""

    name: ClassVar[str]

    @abstractmethod
    def index(self, source: Matrix, target: Matrix) -> Index:
        """Prepare to search among target rows (of unit length) for source rows."""


class BiasIndex(Index):
    """Ranks targets by cos(x, z) - bias(z)."""

    def __init__(self, target: Matrix, bias: Vector):
        self.target = target
        self.bias = bias

    def search(self, queries: Matrix, k: int) -> Neighbors:
        """Return the k best targets of each query."""
        indices = np.empty((len(queries), k), np.intp)
        scores = np.empty((len(queries), k), np.float32)
        for start in range(0, len(queries), TILE_ROWS):
            tile = queries[start : start + TILE_ROWS] @ self.target.T - self.bias
            best = np.argpartition(-tile, k - 1, axis=1)[:, :k]
            order = np.lexsort((best, -np.take_along_axis(tile, best, 1)), axis=1)
            best = np.take_along_axis(best, order, 1)
            indices[start : start + TILE_ROWS] = best
            scores[start : start + TILE_ROWS] = np.take_along_axis(tile, best, 1)
        return Neighbors(indices, scores)

    def ranks(self, queries: Matrix, gold: Sequence[RowIndices]) -> RowIndices:
        """Return the rank of each query's best gold target."""
        ranks = np.empty(len(queries), np.intp)
        for row in range(len(queries)):
            scores = self.target @ queries[row] - self.bias
            best = scores[gold[row]].max()
            scores[gold[row]] = -np.inf
            ranks[row] = 1 + np.count_nonzero(scores >= best)
        return ranks


@dataclass(frozen=True, kw_only=True)
class Cosine(Retrieval):
    """cos(x, z): the nearest neighbour."""

    name: ClassVar[str] = "cosine"

    def index(self, source: Matrix, target: Matrix) -> Index:
        """Prepare to search."""
        return BiasIndex(target, np.zeros(len(target), np.float32))


@dataclass(frozen=True, kw_only=True)
class CSLS(Retrieval):
    """2 cos(x, z) - r_T(x) - r_S(z): neighbours of everything (hubs) are held back."""

    name: ClassVar[str] = "csls"
    k: int = 10

    def index(self, source: Matrix, target: Matrix) -> Index:
        """Prepare to search."""
        k = min(self.k, len(source))
        means = np.empty(len(target), np.float32)
        for start in range(0, len(target), TILE_ROWS):
            tile = target[start : start + TILE_ROWS] @ source.T
            means[start : start + TILE_ROWS] = np.partition(tile, -k, axis=1)[:, -k:].mean(axis=1)
        return BiasIndex(target, means / 2)


def as_retrieval(choice: str | Retrieval) -> Retrieval:
    """Return a retrieval itself, or the one registered under a name with its defaults."""
    return choice if isinstance(choice, Retrieval) else registry.retrievals[choice]()


@hookimpl
def register_retrievals() -> Iterable[type[Retrieval]]:
    """The built-in retrievals."""
    return [CSLS, Cosine]
