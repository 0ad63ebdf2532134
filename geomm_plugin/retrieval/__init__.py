"""[retrieve] Which target words are nearest to a source word: cosine, CSLS, inverted softmax.

These three rank targets by cos(x, z) - bias(z), and share one exact search (`BiasedIndex`).
`reranked` adds what letters tell to any of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from geomm_plugin.registry.hookspecs import hookimpl
from geomm_plugin.retrieval.both_ways import (
    BestNeighbors,
    PairBonus,
    best_neighbors,
    mutual_neighbors,
)
from geomm_plugin.retrieval.csls import CSLS, Cosine
from geomm_plugin.retrieval.exact.bias import KnownBias
from geomm_plugin.retrieval.exact.biased_index import BiasedIndex
from geomm_plugin.retrieval.interface import Index, Neighbors, Retrieval
from geomm_plugin.retrieval.inverted_softmax import InvertedSoftmax
from geomm_plugin.retrieval.rerank import (
    EditSimilarity,
    Endings,
    Feature,
    Frequency,
    Identical,
    Known,
    LearntLetters,
    Length,
    Letters,
    Reranked,
    Residual,
    Reverse,
)
from geomm_plugin.retrieval.unit_rows import LanguageRows, Rows, UnitRows, as_unit_rows

__all__ = [
    "CSLS",
    "BestNeighbors",
    "BiasedIndex",
    "Cosine",
    "Feature",
    "Index",
    "InvertedSoftmax",
    "KnownBias",
    "LanguageRows",
    "Neighbors",
    "PairBonus",
    "Reranked",
    "Retrieval",
    "Rows",
    "UnitRows",
    "as_unit_rows",
    "best_neighbors",
    "mutual_neighbors",
]


@hookimpl
def register_retrievals() -> Iterable[type[Retrieval]]:
    """The built-in retrievals."""
    return [CSLS, Cosine, InvertedSoftmax, Reranked]


@hookimpl
def register_features() -> Iterable[type[Feature]]:
    """The built-in features."""
    return [
        *(Letters, Identical, EditSimilarity, Length, LearntLetters, Endings),
        *(Residual, Known, Frequency, Reverse),
    ]
