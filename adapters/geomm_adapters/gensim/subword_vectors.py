"""A KeyedVectors for embeddings with subwords; the only module that imports gensim at its top."""

from __future__ import annotations

from typing import Any

import numpy as np
from gensim.models import KeyedVectors

from geomm_plugin.arrays import Vector
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import UnknownNameError


class SubwordKeyedVectors(KeyedVectors):  # type: ignore[misc]
    """KeyedVectors in which a word outside the vocabulary gets a vector from its subwords.

    gensim's own FastTextKeyedVectors can not hold mapped subwords: a map that starts with unit
    length does not carry the mean of n-grams over to the mean of mapped n-grams. So the word's
    vector is made in the old space, then mapped.
    """

    def __init__(self, embeddings: Embeddings, dtype: np.dtype[Any]):
        super().__init__(embeddings.dimension, dtype=dtype)
        self.embeddings = embeddings

    def __contains__(self, key: object) -> bool:
        if self.has_index_for(key):
            return True
        try:
            return isinstance(key, str) and self.embeddings.vector(key) is not None
        except UnknownNameError:
            return False

    def get_vector(self, key: Any, norm: bool = False) -> Vector:
        """Return the vector of a key, of any word that has subwords; KeyError if there is none."""
        if self.has_index_for(key) or not isinstance(key, str):
            known: Vector = super().get_vector(key, norm=norm)
            return known
        try:
            made: Vector = self.embeddings.vector(key).astype(self.vectors.dtype)
        except UnknownNameError as error:
            raise KeyError(f"Key '{key}' not present, and it has no known subword") from error
        return made / np.linalg.norm(made) if norm else made
