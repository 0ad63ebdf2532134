"""A drop-in for gensim's BackMappingTranslationMatrix: new documents into an old Doc2Vec model.

    from gensim.models import BackMappingTranslationMatrix    # before
    from geomm_adapters import BackMappingTranslationMatrix   # after

The source model is the old one, the target model was trained on more documents. From documents that
both know, a map T from target to source is learnt, and a new document's vector v becomes v T in the
old model. gensim's T is least squares, which with few documents fits them exactly; here any mapper
can learn it, by default Procrustes, which keeps angles and lengths.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from geomm_plugin.arrays import Matrix, Vector
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import DictionaryError, NotFittedError, ParameterError
from geomm_plugin.mapper import LinearMapper
from geomm_plugin.registry import as_mapper, get_mapper

SOURCE, TARGET = "source", "target"


class BackMappingTranslationMatrix:
    """Brings document vectors of a newer Doc2Vec model into the space of an older one.

    Parameters
    ----------
    source_lang_vec, target_lang_vec
        The old and the new model; whatever gives the vectors of tags as `model.dv[tags]`.
    tagged_docs
        Documents that both models know, with `tags`, to train on at once; else call train().
    random_state
        As in gensim, and as there not used.
    mapper
        A name or a linear mapper; by default Procrustes on the vectors as they are. What a mapper
        normalizes is normalized in the answer, too.
    """

    def __init__(
        self,
        source_lang_vec: Any,
        target_lang_vec: Any,
        tagged_docs: Iterable[Any] | None = None,
        random_state: Any = None,
        mapper: str | LinearMapper | None = None,
    ):
        self.tagged_docs = tagged_docs
        self.source_lang_vec = source_lang_vec
        self.target_lang_vec = target_lang_vec
        self.random_state = random_state
        self.translation_matrix: Matrix | None = None
        chosen = get_mapper("procrustes", normalize=()) if mapper is None else as_mapper(mapper)
        if not isinstance(chosen, LinearMapper):
            raise ParameterError(f"{chosen.name} is not linear. Choose a linear mapper.")
        self.mapper = chosen
        if tagged_docs is not None:
            self.train(tagged_docs)

    def train(self, tagged_docs: Iterable[Any]) -> Matrix:
        """Learn the map from documents that both models know, and return its matrix."""
        documents = list(tagged_docs)
        if not documents:
            raise DictionaryError("There is no document to learn from. Give some that both know.")
        names = [str(number) for number in range(len(documents))]
        models = {SOURCE: self.source_lang_vec, TARGET: self.target_lang_vec}
        vectors = {
            name: Embeddings(names, [np.ravel(model.dv[doc.tags]) for doc in documents])
            for name, model in models.items()
        }
        self.mapper.fit(vectors, {(SOURCE, TARGET): zip(names, names, strict=True)})
        self.translation_matrix = self.mapper.W(TARGET, SOURCE)
        return self.translation_matrix

    def infer_vector(self, target_doc_vec: npt.ArrayLike) -> Vector:
        """Return the vector that a document of the new model has in the old one."""
        if self.translation_matrix is None:
            raise NotFittedError("This matrix is not trained; call train() with documents first.")
        mapped = self.mapper.transform(TARGET, np.asarray(target_doc_vec))
        vector: Vector = mapped @ self.mapper.matrices_[SOURCE].T.astype(mapped.dtype)
        return vector
