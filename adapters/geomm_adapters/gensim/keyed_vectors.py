"""gensim's KeyedVectors <-> Embeddings, and whole sets of them aligned; gensim is imported on use.

The order of the keys, `get_vecattr` attributes (counts) and the floating type are the same after
converting there and back. fastText's KeyedVectors keep their subwords: unseen words have vectors,
also once mapped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from geomm_plugin.arrays import Vector
from geomm_plugin.dictionary import Dictionaries
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import LanguagesError, missing_extra
from geomm_plugin.mapper import Mapper
from geomm_plugin.registry import as_mapper

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


def keyed_vectors_of(source: Any) -> Any:
    """Return the KeyedVectors that an object is, or holds as `.wv`; None if it is another one."""
    keyed_vectors = getattr(source, "wv", source)
    return keyed_vectors if hasattr(keyed_vectors, "key_to_index") else None


def from_keyedvectors(keyed_vectors: Any) -> Embeddings:
    """Take words and vectors from a KeyedVectors or a gensim model; vectors are not copied."""
    keyed_vectors = getattr(keyed_vectors, "wv", keyed_vectors)
    words = list(keyed_vectors.index_to_key)
    attributes = {
        name: array for name, array in keyed_vectors.expandos.items() if len(array) == len(words)
    }
    has_subwords = hasattr(keyed_vectors, "vectors_ngrams")
    subwords = partial(_subword_vector, keyed_vectors) if has_subwords else None
    return Embeddings(words, keyed_vectors.vectors, attributes, subwords=subwords)


def to_keyedvectors(embeddings: Embeddings, dtype: npt.DTypeLike | None = None) -> KeyedVectors:
    """Make a KeyedVectors with the same words, in the same order, and a copy of the vectors.

    A word that repeats keeps its first row. Where no counts are known, they fall from the number of
    words to 1, as in files that gensim reads. Embeddings with subwords give a KeyedVectors that has
    vectors for unseen words, too.

    Parameters
    ----------
    dtype
        The type of the numbers; by default that of the embeddings, for mapped ones the type that
        they had before.
    """
    try:
        from geomm_adapters.gensim.subword_vectors import SubwordKeyedVectors
    except ImportError:
        raise missing_extra("to_keyedvectors", "gensim") from None
    from gensim.models import KeyedVectors

    embeddings = embeddings.distinct()
    kind = np.dtype(dtype or embeddings.rows.raw.dtype)
    keyed_vectors = (
        SubwordKeyedVectors(embeddings, kind)
        if embeddings.subwords is not None
        else KeyedVectors(embeddings.dimension, dtype=kind)
    )
    vectors, start = np.empty((len(embeddings), embeddings.dimension), kind), 0
    for block in embeddings.blocks():
        vectors[start : start + len(block)] = block
        start += len(block)
    keyed_vectors.index_to_key = list(embeddings.words)
    keyed_vectors.key_to_index = dict(embeddings.row_of)
    keyed_vectors.vectors = vectors
    keyed_vectors.next_index = len(embeddings)
    keyed_vectors.expandos = {"count": np.arange(len(embeddings), 0, -1)}
    for name, array in embeddings.attributes.items():
        keyed_vectors.expandos[name] = array.copy()
    return keyed_vectors


def align_keyedvectors(
    keyed_vectors: Mapping[str, Any],
    word_pairs: Iterable[tuple[str, str]] | Dictionaries,
    mapper: str | Mapper = "geomm",
) -> dict[str, KeyedVectors]:
    """Bring the KeyedVectors of several languages into one space: {"en": kv, "es": kv} in and out.

    Parameters
    ----------
    keyed_vectors
        By language; anything that Embeddings can be made from.
    word_pairs
        Pairs (word, translation) for two languages, in the order in which they are given; for more
        languages {("en", "es"): pairs, ("en", "it"): pairs}.
    mapper
        A registered name, or a mapper with your own parameters, which is fitted.
    """
    names = list(keyed_vectors)
    if isinstance(word_pairs, Mapping):
        dictionaries = cast(Dictionaries, word_pairs)
    elif len(names) == 2:
        dictionaries = {(names[0], names[1]): word_pairs}
    else:
        raise LanguagesError(
            f"A list of word pairs belongs to two languages; there are {len(names)} "
            f"({', '.join(names)}). Give a dictionary for each pair, such as "
            "{('en', 'es'): pairs}."
        )
    space = as_mapper(mapper).fit(keyed_vectors, dictionaries).map(keyed_vectors)
    return {language: to_keyedvectors(space[language]) for language in names}


def _subword_vector(keyed_vectors: Any, word: str) -> Vector | None:
    """Make fastText's vector of a word: the mean of its n-grams' vectors; None if it has none."""
    if keyed_vectors.bucket == 0:
        return None
    if word in keyed_vectors.key_to_index:  # left out of the vocabulary by head()
        known: Vector = keyed_vectors.vectors[keyed_vectors.key_to_index[word]]
        return known
    made: Vector = keyed_vectors.get_vector(word)
    return made if made.any() else None
