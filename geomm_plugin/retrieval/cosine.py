"""The nearest neighbour by cosine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from geomm_plugin.registry.parameters import check_parameters
from geomm_plugin.retrieval.exact.bias import POLICY, KnownBias, SearchPolicy
from geomm_plugin.retrieval.exact.biased_index import BiasedIndex
from geomm_plugin.retrieval.interface import Index, Retrieval
from geomm_plugin.retrieval.unit_rows import Rows, as_unit_rows


@dataclass(frozen=True, kw_only=True)
class Cosine(Retrieval):
    """cos(x, z): the nearest neighbour, hubs and all."""

    name: ClassVar[str] = "cosine"

    def index(self, source: Rows, target: Rows, *, policy: SearchPolicy = POLICY) -> Index:
        """Prepare to search; the source words play no part."""
        check_parameters(self)
        target = as_unit_rows(target, "target")
        return BiasedIndex(target, KnownBias(target, np.zeros(len(target)), policy))
