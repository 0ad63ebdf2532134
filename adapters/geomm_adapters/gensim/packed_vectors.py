"""Words and vectors as named arrays and a description, to be saved without pickle.

KeyedVectors come back as KeyedVectors, fastText's with their subwords; all else as Embeddings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from geomm_adapters.fasttext.subword_hashes import LONGEST_NGRAM
from geomm_adapters.gensim.keyed_vectors import to_keyedvectors
from geomm_plugin.embeddings import Embeddings, as_embeddings
from geomm_plugin.errors import FormatError, missing_extra
from geomm_plugin.files.trust import parse_json

Arrays = dict[str, npt.NDArray[Any]]
SUBWORDS = ("min_n", "max_n", "bucket")  # fastText's KeyedVectors need them beside their arrays


def pack(source: Any) -> tuple[dict[str, Any], Arrays]:
    """Return a JSON-able description and named arrays."""
    embeddings = as_embeddings(source)
    arrays: Arrays = {
        "words": np.frombuffer(json.dumps(list(embeddings.words)).encode(), np.uint8),
        "vectors": np.ascontiguousarray(embeddings.vectors),
    }
    for name, values in embeddings.attributes.items():
        if values.dtype != object:  # an array file cannot hold texts and other objects
            arrays[f"attributes/{name}"] = np.ascontiguousarray(values)
    description: dict[str, Any] = {"kind": "embeddings"}
    keyed_vectors = getattr(source, "wv", source)
    if hasattr(keyed_vectors, "key_to_index"):
        description["kind"] = "keyed_vectors"
        if hasattr(keyed_vectors, "vectors_ngrams"):
            description["subwords"] = {name: getattr(keyed_vectors, name) for name in SUBWORDS}
            arrays["vectors_vocab"] = np.ascontiguousarray(keyed_vectors.vectors_vocab)
            arrays["vectors_ngrams"] = np.ascontiguousarray(keyed_vectors.vectors_ngrams)
    return description, arrays


def unpack(description: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Any:
    """Make the object that pack() was given."""
    words = parse_json(arrays["words"].tobytes())
    if not isinstance(words, list) or not all(type(word) is str for word in words):
        raise FormatError("The words are not a list of texts.")
    attributes = {
        name.removeprefix("attributes/"): values
        for name, values in arrays.items()
        if name.startswith("attributes/")
    }
    embeddings = Embeddings(words, arrays["vectors"], attributes)
    if description["kind"] == "embeddings":
        return embeddings
    if description["kind"] != "keyed_vectors":
        raise FormatError("The vectors are of no known kind.")
    if "subwords" not in description:
        return to_keyedvectors(embeddings)
    return _fasttext(embeddings, description["subwords"], arrays)


def _fasttext(
    embeddings: Embeddings, subwords: Mapping[str, int], arrays: Mapping[str, npt.NDArray[Any]]
) -> Any:
    try:
        from gensim.models.fasttext import FastTextKeyedVectors
    except ImportError:
        raise missing_extra("fastText's KeyedVectors", "gensim") from None
    from geomm_adapters.gensim.subword_vectors import fill

    shortest, longest, buckets = (subwords[name] for name in SUBWORDS)
    rows = len(arrays["vectors_ngrams"])
    if not (longest <= LONGEST_NGRAM and buckets == rows):
        raise FormatError(
            f"There are {rows} rows for {buckets} buckets of n-grams of {shortest} to {longest} "
            "characters."
        )
    keyed_vectors = FastTextKeyedVectors(embeddings.dimension, **subwords)
    fill(keyed_vectors, embeddings, embeddings.vectors.dtype)
    keyed_vectors.vectors_vocab = arrays["vectors_vocab"]
    keyed_vectors.vectors_ngrams = arrays["vectors_ngrams"]
    keyed_vectors.recalc_char_ngram_buckets()
    return keyed_vectors
