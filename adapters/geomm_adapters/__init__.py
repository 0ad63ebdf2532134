"""Adapters: other libraries' files and objects, as Embeddings and back; no mathematics here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from geomm_plugin.lazy import names_of
from geomm_plugin.registry.hookspecs import hookimpl

if TYPE_CHECKING:
    from geomm_adapters.arrow_tables import ArrowFile, ParquetFile
    from geomm_adapters.fasttext.model_file import FastTextBin, from_fasttext
    from geomm_adapters.gensim.change_over_time import (
        intersection_align_gensim,
        smart_procrustes_align_gensim,
    )
    from geomm_adapters.gensim.keyed_vectors import (
        align_keyedvectors,
        from_keyedvectors,
        to_keyedvectors,
    )
    from geomm_adapters.gensim.translation_matrix import TranslationMatrix
    from geomm_adapters.npy_vectors import NpyVectors
    from geomm_adapters.safetensors_file import SafetensorsFile
    from geomm_adapters.spacy_vectors import SpacyModel, from_spacy, to_spacy
    from geomm_adapters.static_model import StaticModelFolder, from_static_model
    from geomm_adapters.text.fasttext_vec import FastTextVec, GloveText
    from geomm_adapters.text.multilingual_text import MultilingualText
    from geomm_adapters.word2vec_bin import Word2VecBin
    from geomm_plugin.embeddings import Embeddings
    from geomm_plugin.formats import Format

__all__ = [
    "ArrowFile",
    "FastTextBin",
    "FastTextVec",
    "GloveText",
    "MultilingualText",
    "NpyVectors",
    "ParquetFile",
    "SafetensorsFile",
    "SpacyModel",
    "StaticModelFolder",
    "TranslationMatrix",
    "Word2VecBin",
    "align_keyedvectors",
    "from_fasttext",
    "from_keyedvectors",
    "from_spacy",
    "from_static_model",
    "intersection_align_gensim",
    "smart_procrustes_align_gensim",
    "to_keyedvectors",
    "to_spacy",
]

__getattr__ = names_of(
    __name__,
    {
        "arrow_tables": ("ArrowFile", "ParquetFile"),
        "fasttext.model_file": ("FastTextBin", "from_fasttext"),
        "gensim.change_over_time": ("intersection_align_gensim", "smart_procrustes_align_gensim"),
        "gensim.keyed_vectors": ("align_keyedvectors", "from_keyedvectors", "to_keyedvectors"),
        "gensim.translation_matrix": ("TranslationMatrix",),
        "npy_vectors": ("NpyVectors",),
        "safetensors_file": ("SafetensorsFile",),
        "spacy_vectors": ("SpacyModel", "from_spacy", "to_spacy"),
        "static_model": ("StaticModelFolder", "from_static_model"),
        "text.fasttext_vec": ("FastTextVec", "GloveText"),
        "text.multilingual_text": ("MultilingualText",),
        "word2vec_bin": ("Word2VecBin",),
    },
)


_FORMATS = (
    *("MultilingualText", "FastTextVec", "SafetensorsFile", "FastTextBin", "Word2VecBin"),
    *("GloveText", "NpyVectors", "SpacyModel", "StaticModelFolder", "ParquetFile", "ArrowFile"),
)
_CONVERTERS = {  # library: attributes, one of which its objects with vectors have; a function
    "gensim": (("wv", "index_to_key"), "from_keyedvectors"),
    "fasttext": (("get_word_vector",), "from_fasttext"),
    "spacy": (("vocab", "vectors", "key2row"), "from_spacy"),
    "model2vec": (("token_mapping",), "from_static_model"),
}


@hookimpl
def register_formats() -> Iterable[type[Format]]:
    """The file formats of this package, loaded when one is asked for."""
    return [__getattr__(name) for name in _FORMATS]


@hookimpl
def to_embeddings(source: object) -> Embeddings | None:
    """Convert the objects of gensim, fasttext, spaCy and model2vec, none of which is imported."""
    libraries = {kind.__module__.partition(".")[0] for kind in type(source).__mro__}
    for library, (attributes, name) in _CONVERTERS.items():
        if library in libraries and any(hasattr(source, known) for known in attributes):
            converted: Embeddings = __getattr__(name)(source)
            return converted
    return None
