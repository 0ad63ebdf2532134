"""Adapters: other libraries' files and objects, as Embeddings and back; no mathematics here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from geomm_plugin.lazy import names_of
from geomm_plugin.registry.hookspecs import hookimpl

if TYPE_CHECKING:
    from geomm_adapters.arrow.tables import ArrowFile, ParquetFile
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
        "arrow.tables": ("ArrowFile", "ParquetFile"),
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


@hookimpl
def register_formats() -> Iterable[type[Format]]:
    """The file formats of this package, loaded when one is asked for."""
    from geomm_adapters.arrow.tables import ArrowFile, ParquetFile
    from geomm_adapters.fasttext.model_file import FastTextBin
    from geomm_adapters.npy_vectors import NpyVectors
    from geomm_adapters.safetensors_file import SafetensorsFile
    from geomm_adapters.spacy_vectors import SpacyModel
    from geomm_adapters.static_model import StaticModelFolder
    from geomm_adapters.text.fasttext_vec import FastTextVec, GloveText
    from geomm_adapters.text.multilingual_text import MultilingualText
    from geomm_adapters.word2vec_bin import Word2VecBin

    return [
        *(MultilingualText, FastTextVec, SafetensorsFile, FastTextBin, Word2VecBin, GloveText),
        *(NpyVectors, SpacyModel, StaticModelFolder, ParquetFile, ArrowFile),
    ]


@hookimpl
def to_embeddings(source: object) -> Embeddings | None:
    """Convert the objects of gensim, fasttext, spaCy and model2vec."""
    from geomm_adapters.fasttext.model_file import from_fasttext, is_fasttext
    from geomm_adapters.gensim.keyed_vectors import from_keyedvectors, is_keyedvectors
    from geomm_adapters.spacy_vectors import from_spacy, is_spacy
    from geomm_adapters.static_model import from_static_model, is_static_model

    if is_keyedvectors(source):
        return from_keyedvectors(source)
    if is_fasttext(source):
        return from_fasttext(source)
    if is_spacy(source):
        return from_spacy(source)
    return from_static_model(source) if is_static_model(source) else None
