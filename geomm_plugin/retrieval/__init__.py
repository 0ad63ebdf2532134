"""[retrieve] Which target words are nearest to a source word: cosine, CSLS, inverted softmax.

All three rank targets by cos(x, z) - bias(z), and share one exact search (`BiasedIndex`).
"""

from __future__ import annotations

from collections.abc import Iterable

from geomm_plugin.hookspecs import hookimpl
from geomm_plugin.retrieval.cosine import Cosine
from geomm_plugin.retrieval.csls import CSLS
from geomm_plugin.retrieval.interface import Index, Neighbors, Retrieval
from geomm_plugin.retrieval.inverted_softmax import InvertedSoftmax
from geomm_plugin.retrieval.mutual import BestNeighbors, best_neighbors, mutual_neighbors

__all__ = [
    "CSLS",
    "BestNeighbors",
    "Cosine",
    "Index",
    "InvertedSoftmax",
    "Neighbors",
    "Retrieval",
    "best_neighbors",
    "mutual_neighbors",
]


@hookimpl
def register_retrievals() -> Iterable[type[Retrieval]]:
    """The built-in retrievals."""
    return [CSLS, Cosine, InvertedSoftmax]
