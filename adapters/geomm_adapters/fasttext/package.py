"""Models of the package `fasttext`, as it loads or trains them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import Vector
from geomm_plugin.embeddings import Embeddings


@dataclass(frozen=True)
class FastTextObject:
    """Makes the vectors of words by a model of that package."""

    model: Any

    def __call__(self, word: str) -> Vector | None:
        """Make the vector of any word; None where it has no known part."""
        vector: Vector = self.model.get_word_vector(word.encode("utf-8", "surrogateescape"))
        return vector if vector.any() else None


def is_fasttext(source: object) -> bool:
    """Tell whether an object is a model of the package `fasttext`, without importing it."""
    modules = {kind.__module__.partition(".")[0] for kind in type(source).__mro__}
    return "fasttext" in modules and hasattr(source, "get_word_vector")


def from_fasttext(model: Any, max_words: int | None = None) -> Embeddings:
    """Take the words of a model, most frequent first; any other word is made from its subwords."""
    words, counts = model.get_words(include_freq=True, on_unicode_error="surrogateescape")
    words = words[:max_words]
    vectors = np.empty((len(words), model.get_dimension()), np.float32)
    with progress.task(f"Making {len(words)} vectors from subwords", total=len(words)) as advance:
        for row, word in enumerate(words):
            vectors[row] = model.get_word_vector(word.encode("utf-8", "surrogateescape"))
            advance(1)
    attributes = {"count": np.asarray(counts)[: len(words)]}
    return Embeddings(words, vectors, attributes, subwords=FastTextObject(model))
