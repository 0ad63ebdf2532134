"""[retrieve] Which target words are nearest to a source word: cosine, CSLS, inverted softmax.

These three rank targets by cos(x, z) - bias(z), and share one exact search (`BiasedIndex`).
`reranked` adds letters to any of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from geomm_plugin.lazy import names_of
from geomm_plugin.registry.hookspecs import hookimpl

if TYPE_CHECKING:
    from geomm_plugin.retrieval.both_ways import best_neighbors, mutual_neighbors
    from geomm_plugin.retrieval.csls import CSLS, Cosine
    from geomm_plugin.retrieval.exact.bias import KnownBias
    from geomm_plugin.retrieval.exact.biased_index import BiasedIndex
    from geomm_plugin.retrieval.interface import (
        BestNeighbors,
        Index,
        Neighbors,
        PairBonus,
        Retrieval,
    )
    from geomm_plugin.retrieval.inverted_softmax import InvertedSoftmax
    from geomm_plugin.retrieval.rerank.feature import Feature
    from geomm_plugin.retrieval.rerank.reranked import Reranked
    from geomm_plugin.retrieval.unit_rows import AnyRows, LanguageRows, UnitRows, as_unit_rows

__all__ = [
    "CSLS",
    "AnyRows",
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
    "UnitRows",
    "as_unit_rows",
    "best_neighbors",
    "mutual_neighbors",
]

__getattr__ = names_of(
    __name__,
    {
        "both_ways": ("best_neighbors", "mutual_neighbors"),
        "csls": ("CSLS", "Cosine"),
        "exact.bias": ("KnownBias",),
        "exact.biased_index": ("BiasedIndex",),
        "interface": ("BestNeighbors", "Index", "Neighbors", "PairBonus", "Retrieval"),
        "inverted_softmax": ("InvertedSoftmax",),
        "unit_rows": ("AnyRows", "LanguageRows", "UnitRows", "as_unit_rows"),
        "rerank.feature": ("Feature",),
        "rerank.reranked": ("Reranked",),
    },
)


@hookimpl
def register_retrievals() -> Iterable[type[Retrieval]]:
    """The built-in retrievals, loaded when one is asked for."""
    from geomm_plugin.retrieval.csls import CSLS, Cosine
    from geomm_plugin.retrieval.inverted_softmax import InvertedSoftmax
    from geomm_plugin.retrieval.rerank.reranked import Reranked

    return [CSLS, Cosine, InvertedSoftmax, Reranked]


@hookimpl
def register_features() -> Iterable[type[Feature]]:
    """The built-in features, loaded when one is asked for."""
    from geomm_plugin.retrieval.rerank import letters, meaning

    return [
        *(letters.Letters, letters.Identical, letters.EditSimilarity, letters.Length),
        *(letters.LearntLetters, letters.Endings),
        *(meaning.Residual, meaning.Known, meaning.Frequency),
    ]
