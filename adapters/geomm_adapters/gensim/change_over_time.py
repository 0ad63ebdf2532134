"""The two functions that scripts for change over time paste, for today's gensim, with any mapper.

    def smart_procrustes_align_gensim(base_embed, other_embed, words=None): ...    # before, pasted
    from geomm_adapters import smart_procrustes_align_gensim                       # after

Names, arguments and answers are those of the scripts, which change the models that they are given:
both are cut to their common words, and the other one is turned. Give `copy.deepcopy(model)` to keep
a model as it is. With x a vector of the other model, as long as it is there,

    x  ->  x A_other A_base^+,    A learnt from the common words, each at length 1

and nothing is centred, since the base keeps its vectors. By Procrustes, this is a rotation.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, TypeVar

import numpy as np

from geomm_adapters.gensim.keyed_vectors import keyed_vectors_of
from geomm_plugin.arrays import Matrix
from geomm_plugin.errors import DictionaryError, FormatError, ParameterError
from geomm_plugin.factorization import solve
from geomm_plugin.mapper import LinearMapper, Mapper
from geomm_plugin.registry import as_mapper

One = TypeVar("One")
Other = TypeVar("Other")

BASE, OTHER = "base", "other"
A_ROW_EACH_WORD = ("vectors", "vectors_vocab")  # the second one in fastText's models
TURNED = (*A_ROW_EACH_WORD, "vectors_ngrams")


def smart_procrustes_align_gensim(
    base_embed: Any,
    other_embed: Other,
    words: Iterable[str] | None = None,
    mapper: str | Mapper = "procrustes",
) -> Other:
    """Return other_embed, aligned to base_embed on the words that both have.

    Both models are changed in place, as by the scripts: afterwards they hold the common words, in
    one order, so that row n is the same word in both; vectors of base_embed keep their numbers,
    those of other_embed are aligned, and other_embed itself is what is returned. Where the mapper
    fails, both stay as they were. Neither can be trained further.

    Parameters
    ----------
    base_embed, other_embed
        Word2Vec or FastText models, or KeyedVectors. Of FastText, unseen words are aligned, too.
    words
        Use these words only; those that a model does not know are skipped.
    mapper
        The name of any linear mapper, or one with your own parameters, of which a copy is fitted;
        its normalization is unit length.
    """
    base, other = _keyed_vectors(base_embed), _keyed_vectors(other_embed)
    common = _common_words(base, other, words)
    learnt = as_mapper(mapper).clone()
    if not isinstance(learnt, LinearMapper):
        raise ParameterError(f"{learnt.name} is not linear. Choose a linear mapper.")
    learnt.set_params(normalize=("unit",))
    learnt.fit(
        {
            name: (common, kv.vectors[_rows(kv, common)])
            for name, kv in ((BASE, base), (OTHER, other))
        },
        {(OTHER, BASE): [(word, word) for word in common]},
    )
    _keep_words(base, common)
    _keep_words(other, common)
    to_base = learnt.matrices_[BASE]
    _turn(other, learnt.matrices_[OTHER] @ solve(to_base, np.eye(len(to_base))))
    return other_embed


def intersection_align_gensim(
    m1: One, m2: Other, words: Iterable[str] | None = None
) -> tuple[One, Other]:
    """Cut two models to the words that both have, and return them.

    Both are changed in place, as by the scripts. The words stand in the same order in both: by the
    sum of their two counts, the most frequent first, then as in m1. Counts and other attributes go
    with their words. Where KeyedVectors have no counts, the first word counts as many as there are
    words, the last one 1, as in files that gensim reads.

    Parameters
    ----------
    m1, m2
        Word2Vec or FastText models, or KeyedVectors.
    words
        Keep these words only; those that a model does not know are skipped.
    """
    one, other = _keyed_vectors(m1), _keyed_vectors(m2)
    common = _common_words(one, other, words)
    _keep_words(one, common)
    _keep_words(other, common)
    return m1, m2


def _keyed_vectors(model: Any) -> Any:
    keyed_vectors = keyed_vectors_of(model)
    if keyed_vectors is None:
        raise FormatError(
            f"A {type(model).__name__} is no model of gensim. Give a Word2Vec or FastText model, "
            "or KeyedVectors; to_keyedvectors() makes them of Embeddings."
        )
    return keyed_vectors


def _common_words(one: Any, other: Any, words: Iterable[str] | None) -> list[str]:
    """Return the words of both, by the sum of their counts."""
    chosen = one.key_to_index.keys() & other.key_to_index.keys()
    if words is not None:
        chosen &= set(words)
    if not chosen:
        raise DictionaryError(
            f"No word is in both models ({len(one)} and {len(other)} words)"
            f"{'' if words is None else ' and among the words given'}. Check that both are of one "
            "language and letter case."
        )
    common = [word for word in one.index_to_key if word in chosen]
    counts = sum(_counts(kv)[_rows(kv, common)] for kv in (one, other))
    return [common[at] for at in np.argsort(-counts, kind="stable").tolist()]


def _counts(keyed_vectors: Any) -> Any:
    unknown = np.arange(len(keyed_vectors), 0, -1)
    return np.asarray(keyed_vectors.expandos.get("count", unknown)).astype(np.int64)


def _rows(keyed_vectors: Any, words: list[str]) -> list[int]:
    return [keyed_vectors.key_to_index[word] for word in words]


def _keep_words(keyed_vectors: Any, words: list[str]) -> None:
    """Cut a KeyedVectors to some of its words, in their order."""
    rows = _rows(keyed_vectors, words)
    for name in A_ROW_EACH_WORD:
        if hasattr(keyed_vectors, name):
            setattr(keyed_vectors, name, getattr(keyed_vectors, name)[rows])
    for name, values in keyed_vectors.expandos.items():
        keyed_vectors.expandos[name] = values[rows]
    keyed_vectors.index_to_key = list(words)
    keyed_vectors.key_to_index = {word: row for row, word in enumerate(words)}
    keyed_vectors.next_index = len(words)
    keyed_vectors.norms = None


def _turn(keyed_vectors: Any, matrix: Matrix) -> None:
    """Multiply all vectors by a matrix, in place; linear, so that subwords' means follow."""
    for name in TURNED:
        if hasattr(keyed_vectors, name):
            setattr(keyed_vectors, name, _times(matrix, getattr(keyed_vectors, name)))
    if hasattr(keyed_vectors, "embeddings"):  # what to_keyedvectors makes unseen words from
        keyed_vectors.embeddings = keyed_vectors.embeddings.map(partial(_times, matrix))
    keyed_vectors.vector_size = matrix.shape[1]
    keyed_vectors.norms = None


def _times(matrix: Matrix, vectors: Matrix) -> Matrix:
    product: Matrix = (vectors @ matrix).astype(vectors.dtype)
    return product
