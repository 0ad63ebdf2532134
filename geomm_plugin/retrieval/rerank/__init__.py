"""Re-ranking: features of pairs of words, and a retrieval that adds them to another's score."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geomm_plugin.lazy import names_of

if TYPE_CHECKING:
    from geomm_plugin.retrieval.rerank.feature import Base, Feature, Proposals, SparseFeature
    from geomm_plugin.retrieval.rerank.letters import (
        EditSimilarity,
        Endings,
        Identical,
        LearntLetters,
        Length,
        Letters,
    )
    from geomm_plugin.retrieval.rerank.meaning import Frequency, Known, Residual
    from geomm_plugin.retrieval.rerank.reranked import Reranked, RerankedIndex

__all__ = [
    "Base",
    "EditSimilarity",
    "Endings",
    "Feature",
    "Frequency",
    "Identical",
    "Known",
    "LearntLetters",
    "Length",
    "Letters",
    "Proposals",
    "Reranked",
    "RerankedIndex",
    "Residual",
    "SparseFeature",
]

__getattr__ = names_of(
    __name__,
    {
        "feature": ("Base", "Feature", "Proposals", "SparseFeature"),
        "letters": (
            *("EditSimilarity", "Endings", "Identical", "LearntLetters", "Length", "Letters"),
        ),
        "meaning": ("Frequency", "Known", "Residual"),
        "reranked": ("Reranked", "RerankedIndex"),
    },
)
