"""[retrieve] Which target words are nearest to a source word: cosine, CSLS, inverted softmax.

All three rank targets by cos(x, z) - bias(z), and share one exact search (`BiasedIndex`).
"""

from __future__ import annotations

from collections.abc import Iterable

from geomm_plugin import registry
from geomm_plugin.errors import ParameterError
from geomm_plugin.hookspecs import hookimpl
from geomm_plugin.parameters import parameters_of
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
    "as_retrieval",
    "best_neighbors",
    "mutual_neighbors",
]


def as_retrieval(choice: str | Retrieval, engine: str | None = None) -> Retrieval:
    """Return a retrieval itself, or the one registered under a name with its defaults.

    Parameters
    ----------
    engine
        "exact" or "hnsw", for retrievals that have both; by default the retrieval's own.
    """
    retrieval = choice if isinstance(choice, Retrieval) else registry.retrievals[choice]()
    if engine is None:
        return retrieval
    if "engine" not in parameters_of(type(retrieval)):
        raise ParameterError(f"{retrieval.name} has one engine only; leave {engine!r} out.")
    params = {name: getattr(retrieval, name) for name in parameters_of(type(retrieval))}
    return type(retrieval)(**params | {"engine": engine})


@hookimpl
def register_retrievals() -> Iterable[type[Retrieval]]:
    """The built-in retrievals."""
    return [CSLS, Cosine, InvertedSoftmax]
