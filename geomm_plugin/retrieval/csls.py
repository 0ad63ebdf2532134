"""Cosine, and cross-domain similarity local scaling (Conneau et al., 2018, arXiv:1710.04087)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from geomm_plugin.registry.parameters import AtLeast, check_parameters
from geomm_plugin.retrieval.exact.bias import POLICY, KnownBias, SearchPolicy
from geomm_plugin.retrieval.exact.biased_index import BiasedIndex
from geomm_plugin.retrieval.exact.neighborhood import NeighborhoodBias
from geomm_plugin.retrieval.interface import BestNeighbors, Index, Retrieval
from geomm_plugin.retrieval.neighborhood_file import saved_means
from geomm_plugin.retrieval.unit_rows import AnyRows, UnitRows, as_unit_rows


@dataclass(frozen=True, kw_only=True)
class Cosine(Retrieval):
    """cos(x, z): the nearest neighbour, hubs and all."""

    name: ClassVar[str] = "cosine"

    def index(self, source: AnyRows, target: AnyRows, *, policy: SearchPolicy = POLICY) -> Index:
        """Prepare to search; the source words play no part."""
        check_parameters(self)
        target = as_unit_rows(target, "target")
        return BiasedIndex(target, KnownBias(target, np.zeros(len(target)), policy))


@dataclass(frozen=True, kw_only=True)
class CSLS(Retrieval):
    """2 cos(x, z) - r_T(x) - r_S(z): words that are near everything (hubs) are held back.

    r_T(x) is the mean cosine of x with its k nearest target words, r_S(z) that of z with its k
    nearest source words.
    """

    name: ClassVar[str] = "csls"
    k: Annotated[int, AtLeast(1)] = 10  # neighbours in each mean

    def index(self, source: AnyRows, target: AnyRows, *, policy: SearchPolicy = POLICY) -> Index:
        """Prepare to search; r_S is computed for the targets that may win, unless it was saved."""
        check_parameters(self)
        source, target = as_unit_rows(source, "source"), as_unit_rows(target, "target")
        means = saved_means(target, source, self.k)
        return BiasedIndex(target, NeighborhoodBias(source, target, self.k, policy, means))

    def both_ways(self, source: UnitRows, target: UnitRows, back: Retrieval) -> BestNeighbors:
        """Return the best of all rows in both directions: one product has all that it takes."""
        from geomm_plugin.retrieval.both_ways import best_neighbors  # a search does not need it

        return best_neighbors(source, target, self.k)
