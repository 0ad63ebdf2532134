"""gensim's KeyedVectors <-> Embeddings; gensim is imported on use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import missing_extra

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


def is_keyedvectors(source: object) -> bool:
    """Tell whether an object is a KeyedVectors, or a model that holds one as `.wv`."""
    return _is_from_gensim(source) and hasattr(getattr(source, "wv", source), "index_to_key")


def from_keyedvectors(keyed_vectors: Any) -> Embeddings:
    """Take words and vectors from a KeyedVectors or a gensim model; vectors are not copied."""
    keyed_vectors = getattr(keyed_vectors, "wv", keyed_vectors)
    return Embeddings(list(keyed_vectors.index_to_key), keyed_vectors.vectors)


def to_keyedvectors(embeddings: Embeddings) -> KeyedVectors:
    """Make a KeyedVectors with the same words, in the same order, and the same vectors."""
    try:
        from gensim.models import KeyedVectors
    except ImportError:
        raise missing_extra("to_keyedvectors", "gensim") from None
    vectors = embeddings.vectors
    keyed_vectors = KeyedVectors(embeddings.dimension, dtype=vectors.dtype)
    keyed_vectors.add_vectors(list(embeddings.words), vectors)
    return keyed_vectors


def _is_from_gensim(source: object) -> bool:
    """Look at the names of the classes: asking isinstance would import gensim."""
    return any(kind.__module__.partition(".")[0] == "gensim" for kind in type(source).__mro__)
