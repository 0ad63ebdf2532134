"""model2vec's static models and sentence-transformers' StaticEmbedding: one vector per token.

The tokens that are whole words are the vocabulary; any other word is the mean of its tokens, as
model2vec encodes it (which takes the package `tokenizers`; without it only whole words are known).
Folders are read and written without either library.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from geomm_adapters.safetensors_file import write_header
from geomm_plugin.arrays import Matrix, Vector
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FormatError
from geomm_plugin.files import disk
from geomm_plugin.files.array_file import read_arrays
from geomm_plugin.files.strict_json import parse_json
from geomm_plugin.formats import Format, check_utf8, finite_blocks

_FOLDERS = ("", "0_StaticEmbedding")  # model2vec's own layout, and sentence-transformers'
_TENSORS = ("embeddings", "embedding.weight")
_WORD_BEGINS = ("▁", "Ġ")  # SentencePiece, byte-level BPE
_UNKNOWN = "[UNK]"
_CONFIG = {"model_type": "model2vec", "architectures": ["StaticModel"], "normalize": False}
_STATIC_EMBEDDING = "sentence_transformers.models.StaticEmbedding"
_MODULES = [{"idx": 0, "name": "0", "path": ".", "type": _STATIC_EMBEDDING}]
Ids = Callable[[str], list[int]]


def is_static_model(source: object) -> bool:
    """Tell whether an object is model2vec's StaticModel."""
    modules = {kind.__module__.partition(".")[0] for kind in type(source).__mro__}
    return "model2vec" in modules and hasattr(source, "token_mapping")


def from_static_model(model: Any) -> Embeddings:
    """Take the whole words among the tokens of a model2vec model, and subwords for the others."""
    table = _Table(model.embedding, model.weights, model.token_mapping)
    description = json.loads(model.tokenizer.to_str())
    return _embeddings(table, description, _tokenizer("The tokenizer", description))


class StaticModelFolder(Format):
    """A folder with model.safetensors and tokenizer.json, of model2vec or sentence-transformers."""

    name: ClassVar[str] = "static_model"
    suffixes: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def recognizes(cls, path: Path) -> bool:
        """Look for the two files."""
        return _find(path) is not None

    def files(self, path: Path) -> list[Path]:
        """Return the tensors and the tokenizer."""
        folder = _find(path) or path
        return [folder / "model.safetensors", folder / "tokenizer.json"]

    def write(self, path: Path, embeddings: Embeddings) -> None:
        """Write a model whose tokens are the words; texts are cut at spaces and punctuation.

        The last token stands for all others, at zero.
        """
        embeddings = embeddings.distinct()
        check_utf8(embeddings.words, "A static model")
        disk.make_folder(path)
        shape = (len(embeddings) + 1, embeddings.dimension)
        with disk.create(path / "model.safetensors") as stream:
            write_header(stream, {_TENSORS[0]: ("F32", shape, 4 * shape[0] * shape[1])}, {})
            for _, rows in finite_blocks(embeddings, path, "<f4"):
                stream.write(rows.data)
            stream.write(np.zeros(shape[1], "<f4").tobytes())
        files = {"tokenizer": _word_tokenizer(embeddings.words), "config": _CONFIG}
        for name, content in (files | {"modules": _MODULES}).items():
            text = json.dumps(content, ensure_ascii=False).encode()
            disk.write_file(path / f"{name}.json", text)

    def read(self, path: Path, *, max_words: int | None = None) -> Embeddings:
        """Read the tokens that are whole words."""
        folder = _find(path)
        if folder is None:
            raise FormatError(f"{path} holds no model.safetensors with a tokenizer.json.")
        _, tensors = read_arrays(folder / "model.safetensors")
        tokenizer_path = folder / "tokenizer.json"
        content = tokenizer_path.read_bytes()
        try:
            description = parse_json(content)
            _check(description)
        except ValueError as error:
            raise FormatError(f"{tokenizer_path}: damaged ({error}). Fetch it again.") from error
        names = [name for name in _TENSORS if name in tensors]
        if not names:
            raise FormatError(
                f"{path}: its tensors are {', '.join(tensors)[:200]}; a static model has one "
                f"called {' or '.join(_TENSORS)}. Other models have no vector a token."
            )
        try:
            table = _Table(tensors[names[0]], tensors.get("weights"), tensors.get("mapping"))
            table.check(max(_words(description).values(), default=0))
        except ValueError as error:
            raise FormatError(f"{path}: {error} Fetch it again.") from error
        embeddings = _embeddings(table, description, _tokenizer(tokenizer_path, description))
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

    @property
    def count(self) -> int:
        """How many tokens have a vector."""
        per_token = [part for part in (self.mapping, self.weights) if part is not None]
        return min(map(len, per_token or [self.rows]))

    def check(self, last: int) -> None:
        """Make sure that every token has a vector; a ValueError says which part does not fit."""
        rows, mapping, weights = self.rows, self.mapping, self.weights
        if rows.ndim != 2 or not rows.shape[1] or rows.dtype.kind != "f":
            raise ValueError(f"Its vectors have the shape {rows.shape} and the type {rows.dtype}.")
        if mapping is not None:
            if mapping.ndim != 1 or mapping.dtype.kind not in "iu":
                raise ValueError("Its mapping of tokens to rows is no list of whole numbers.")
            if len(mapping) and not 0 <= mapping.min() <= mapping.max() < len(rows):
                raise ValueError(f"Its mapping of tokens leads outside its {len(rows)} rows.")
        if weights is not None and (weights.ndim != 1 or weights.dtype.kind != "f"):
            raise ValueError("Its weights are no list of numbers.")
        if last >= self.count:
            raise ValueError(f"Its tokenizer has a token {last}; there are {self.count} vectors.")

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
        ids = [number for number in ids_of(word) if number < table.count]
        if not ids:
            return None
        with np.errstate(all="ignore"):  # a file may hold NaN: whoever uses the vector will see it
            mean: Vector = table.vectors(ids).mean(axis=0)
        return mean

    return Embeddings(words, vectors, subwords=subwords)


def _words(description: Mapping[str, Any]) -> dict[str, int]:
    """Return the tokens that are whole words with their numbers, in the order of these."""
    model = description["model"]
    vocabulary: Any = model["vocab"]
    if not isinstance(vocabulary, dict):  # Unigram: pairs of a token and its score
        vocabulary = {token: number for number, (token, _) in enumerate(vocabulary)}
    special = {added["content"] for added in description.get("added_tokens") or ()}
    special.add(model.get("unk_token"))
    tokens = sorted((number, token) for token, number in vocabulary.items() if token not in special)
    if model.get("type") == "WordLevel":
        return {token: number for number, token in tokens}
    continuing = model.get("continuing_subword_prefix")
    if continuing:  # WordPiece
        return {token: number for number, token in tokens if not token.startswith(continuing)}
    marked = {token[0] for _, token in tokens if token} & set(_WORD_BEGINS)
    if not marked:  # whole words only
        return {token: number for number, token in tokens}
    return {token[1:]: n for n, token in tokens if token[:1] in marked and len(token) > 1}


def _word_tokenizer(words: Sequence[str]) -> dict[str, Any]:
    """Describe a tokenizer of words as the library `tokenizers` reads it.

    Where no word has a capital letter, texts are lower-cased, too.
    """
    unknown = _UNKNOWN
    vocabulary = {word: number for number, word in enumerate(words)}
    while unknown in vocabulary:
        unknown += "_"
    lower = all(word == word.lower() for word in words)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"} if lower else None,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": vocabulary | {unknown: len(words)},
            "unk_token": unknown,
        },
    }


def _check(description: Any) -> None:
    """Make sure that a tokenizer's description is what is read below; else a ValueError."""
    model = description.get("model") if isinstance(description, dict) else None
    if not isinstance(model, dict) or not isinstance(model.get("vocab"), (dict, list)):
        raise ValueError("it describes no vocabulary")
    vocabulary = model["vocab"]
    if isinstance(vocabulary, list):
        pairs = all(isinstance(pair, list) and len(pair) == 2 for pair in vocabulary)
        whole = pairs and all(isinstance(token, str) for token, _ in vocabulary)
    else:
        numbers = list(vocabulary.values())
        whole = all(type(n) is int and n >= 0 for n in numbers) and len(set(numbers)) == len(
            numbers
        )
    if not whole:
        raise ValueError("its vocabulary is no list of tokens, or two tokens have one number")
    added = description.get("added_tokens") or []
    if not isinstance(added, list) or not all(
        isinstance(token, dict) and isinstance(token.get("content"), str) for token in added
    ):
        raise ValueError("its added tokens are no list")
    for name in ("unk_token", "continuing_subword_prefix"):
        if not isinstance(model.get(name), (str, type(None))):
            raise ValueError(f"its {name} is no text")


def _find(path: Path) -> Path | None:
    for name in _FOLDERS:
        if all((path / name / file).is_file() for file in ("model.safetensors", "tokenizer.json")):
            return path / name
    return None


def _tokenizer(what: object, description: Mapping[str, Any]) -> Ids | None:
    """Return what cuts a word into the numbers of its tokens, as model2vec does it.

    Padding and truncation are meant for texts that are encoded together, and a file may ask for
    terabytes of padding.
    """
    try:
        from tokenizers import Tokenizer
    except ImportError:
        return None
    model = description["model"]
    with _tokenizer_errors(what):
        tokenizer = Tokenizer.from_str(json.dumps(description))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        unknown = tokenizer.token_to_id(model["unk_token"]) if model.get("unk_token") else None
    if unknown is None:
        unknown = model.get("unk_id")

    def ids_of(word: str) -> list[int]:
        with _tokenizer_errors(what):
            encoded = tokenizer.encode(word, add_special_tokens=False)
        return [number for number in encoded.ids if number != unknown]

    return ids_of


@contextmanager
def _tokenizer_errors(what: object) -> Iterator[None]:
    """Turn what tokenizers raises into a sentence: it has no class of its own, and Rust panics."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        if isinstance(error, MemoryError):
            raise
        raise FormatError(
            f"{what}: tokenizers cannot use it ({error}). Fetch it again, or update tokenizers."
        ) from error
