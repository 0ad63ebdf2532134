"""Re-ranking: features of pairs of words, and a retrieval that adds them to another's score."""

from __future__ import annotations

from geomm_plugin.retrieval.rerank.edit import EditSimilarity
from geomm_plugin.retrieval.rerank.feature import Base, Feature, Proposals
from geomm_plugin.retrieval.rerank.frequency import Frequency
from geomm_plugin.retrieval.rerank.letters import Letters
from geomm_plugin.retrieval.rerank.reranked import Reranked
from geomm_plugin.retrieval.rerank.reranked_index import RerankedIndex
from geomm_plugin.retrieval.rerank.reverse import Reverse

__all__ = [
    "Base",
    "EditSimilarity",
    "Feature",
    "Frequency",
    "Letters",
    "Proposals",
    "Reranked",
    "RerankedIndex",
    "Reverse",
]
