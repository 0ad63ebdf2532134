"""model2vec's static models and sentence-transformers' StaticEmbedding: one vector a token.

The tokens that are whole words are the vocabulary; any other word is the mean of its tokens, as
model2vec encodes it (which takes the package `tokenizers`; without it only whole words are known).
Folders are read without either library.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from geomm_plugin.embeddings import Embeddings, Matrix, SubwordEmbeddings, Vector
from geomm_plugin.errors import FormatError
from geomm_plugin.formats import Format

_FOLDERS = ("", "0_StaticEmbedding")  # model2vec's own layout, and sentence-transformers'
_TENSORS = ("embeddings", "embedding.weight")
_WORD_BEGINS = ("▁", "Ġ")  # SentencePiece, byte-level BPE
Ids = Callable[[str], list[int]]


def is_static_model(source: object) -> bool:
    """Tell whether an object is model2vec's StaticModel."""
    modules = {kind.__module__.partition(".")[0] for kind in type(source).__mro__}
    return "model2vec" in modules and hasattr(source, "token_mapping")


def from_static_model(model: Any) -> Embeddings:
    """Take the whole words among the tokens of a model2vec model, and subwords for the others."""
    table = _Table(model.embedding, model.weights, model.token_mapping)
    description = json.loads(model.tokenizer.to_str())
    return _embeddings(table, description, _ids_of(model.tokenizer, description))


class StaticModelFolder(Format):
    """A folder with model.safetensors and tokenizer.json, of model2vec or sentence-transformers."""

    name: ClassVar[str] = "static_model"
    suffixes: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def recognizes(cls, path: Path) -> bool:
        """Look for the two files."""
        return _find(path) is not None

    def read(self, path: Path, *, max_words: int | None = None) -> Embeddings:
        """Read the tokens that are whole words."""
        from safetensors import SafetensorError, safe_open

        folder = _find(path)
        if folder is None:
            raise FormatError(f"{path} holds no model.safetensors with a tokenizer.json.")
        try:
            with safe_open(folder / "model.safetensors", "numpy") as stream:
                tensors = {name: stream.get_tensor(name) for name in stream.keys()}
            content = (folder / "tokenizer.json").read_text(encoding="utf-8")
            description = json.loads(content)
        except (SafetensorError, ValueError) as error:
            raise FormatError(f"{path}: damaged ({error}). Fetch it again.") from error
        names = [name for name in _TENSORS if name in tensors]
        if not names:
            raise FormatError(
                f"{path}: its tensors are {', '.join(tensors)}; a static model has one called "
                f"{' or '.join(_TENSORS)}. Other models have no vector a token."
            )
        table = _Table(tensors[names[0]], tensors.get("weights"), tensors.get("mapping"))
        embeddings = _embeddings(table, description, _tokenizer(content, description))
        return embeddings if max_words is None else embeddings.head(max_words)


class _Table:
    """The vector of each token; quantized models share rows and keep a weight a token."""

    def __init__(
        self,
        rows: Matrix,
        weights: npt.NDArray[Any] | None,
        mapping: npt.NDArray[Any] | None,
    ):
        self.rows = rows if rows.dtype != np.int8 else rows.astype(np.float32)
        self.weights = weights
        self.mapping = mapping

    def vectors(self, ids: list[int]) -> Matrix:
        """Return the vectors of some tokens."""
        chosen = np.asarray(ids, np.intp)
        vectors = self.rows[chosen if self.mapping is None else self.mapping[chosen]]
        if self.weights is not None:
            vectors = vectors * self.weights[chosen][:, None]
        return vectors


def _embeddings(table: _Table, description: Mapping[str, Any], ids_of: Ids | None) -> Embeddings:
    token_ids = _words(description)
    words = list(token_ids)
    vectors = table.vectors(list(token_ids.values()))
    if ids_of is None:
        return Embeddings(words, vectors)

    def subwords(word: str) -> Vector | None:
        ids = ids_of(word)
        if not ids:
            return None
        mean: Vector = table.vectors(ids).mean(axis=0)
        return mean

    return SubwordEmbeddings(words, vectors, subwords)


def _words(description: Mapping[str, Any]) -> dict[str, int]:
    """Return the tokens that are whole words with their numbers, in the order of these."""
    model = description["model"]
    vocabulary: Any = model["vocab"]
    if not isinstance(vocabulary, dict):  # Unigram: pairs of a token and its score
        vocabulary = {token: number for number, (token, _) in enumerate(vocabulary)}
    special = {added["content"] for added in description.get("added_tokens") or ()}
    special.add(model.get("unk_token"))
    tokens = sorted((number, token) for token, number in vocabulary.items() if token not in special)
    continuing = model.get("continuing_subword_prefix")
    if continuing:  # WordPiece
        return {token: number for number, token in tokens if not token.startswith(continuing)}
    marked = {token[0] for _, token in tokens if token} & set(_WORD_BEGINS)
    if not marked:  # whole words only
        return {token: number for number, token in tokens}
    return {token[1:]: n for n, token in tokens if token[:1] in marked and len(token) > 1}


def _find(path: Path) -> Path | None:
    for name in _FOLDERS:
        if all((path / name / file).is_file() for file in ("model.safetensors", "tokenizer.json")):
            return path / name
    return None


def _tokenizer(content: str, description: Mapping[str, Any]) -> Ids | None:
    try:
        from tokenizers import Tokenizer
    except ImportError:
        return None
    return _ids_of(Tokenizer.from_str(content), description)


def _ids_of(tokenizer: Any, description: Mapping[str, Any]) -> Ids:
    model = description["model"]
    unknown = tokenizer.token_to_id(model["unk_token"]) if model.get("unk_token") else None
    if unknown is None:
        unknown = model.get("unk_id")

    def ids_of(word: str) -> list[int]:
        encoded = tokenizer.encode(word, add_special_tokens=False)
        return [number for number in encoded.ids if number != unknown]

    return ids_of
