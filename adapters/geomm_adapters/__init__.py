"""Adapters: other libraries' files and objects, as Embeddings and back; no mathematics here."""

from collections.abc import Iterable

from geomm_adapters.fasttext_bin import FastTextBin
from geomm_adapters.fasttext_vec import FastTextVec
from geomm_adapters.gensim_vectors import (
    align_keyedvectors,
    from_keyedvectors,
    is_keyedvectors,
    to_keyedvectors,
)
from geomm_adapters.safetensors_file import SafetensorsFile
from geomm_adapters.translation_matrix import TranslationMatrix
from geomm_adapters.word2vec_bin import Word2VecBin
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.formats import Format
from geomm_plugin.hookspecs import hookimpl

__all__ = [
    "FastTextBin",
    "FastTextVec",
    "SafetensorsFile",
    "TranslationMatrix",
    "Word2VecBin",
    "align_keyedvectors",
    "from_keyedvectors",
    "to_keyedvectors",
]


@hookimpl
def register_formats() -> Iterable[type[Format]]:
    """The file formats of this package."""
    return [FastTextVec, SafetensorsFile, FastTextBin, Word2VecBin]


@hookimpl
def to_embeddings(source: object) -> Embeddings | None:
    """Convert gensim's KeyedVectors."""
    return from_keyedvectors(source) if is_keyedvectors(source) else None
