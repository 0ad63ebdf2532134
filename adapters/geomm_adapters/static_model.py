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

from geomm_adapters.safetensors_file import write_header
from geomm_plugin.arrays import Matrix, Vector
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FormatError
from geomm_plugin.files import disk
from geomm_plugin.files.trust import parse_json, read_arrays
from geomm_plugin.formats import Format, check_utf8, finite_blocks

_FOLDERS = ("", "0_StaticEmbedding")  # model2vec's own layout, and sentence-transformers'
_TENSORS = ("embeddings", "embedding.weight")
_WORD_BEGINS = ("▁", "Ġ")  # SentencePiece, byte-level BPE
_UNKNOWN = "[UNK]"
_CONFIG = {"model_type": "model2vec", "architectures": ["StaticModel"], "normalize": False}
_STATIC_EMBEDDING = "sentence_transformers.models.StaticEmbedding"
_MODULES = [{"idx": 0, "name": "0", "path": ".", "type": _STATIC_EMBEDDING}]
Ids = Callable[[str], list[int]]


def from_static_model(model: Any) -> Embeddings:
    """Take the whole words among the tokens of a model2vec model, and subwords for the others."""
    tensors = {
        "embeddings": model.embedding,
        "weights": model.weights,
        "mapping": model.token_mapping,
    }
    return _embeddings("The model", tensors, json.loads(model.tokenizer.to_str()))


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
        content = (folder / "tokenizer.json").read_bytes()
        try:
            embeddings = _embeddings(path, tensors, parse_json(content))
        except FormatError:
            raise
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise FormatError(
                f"{path}: damaged ({type(error).__name__}: {error}). Fetch it again."
            ) from error
        return embeddings if max_words is None else embeddings.head(max_words)


def _embeddings(
    what: object, tensors: Mapping[str, Any], description: Mapping[str, Any]
) -> Embeddings:
    """Return the tokens that are whole words, in the order of their numbers."""
    name = next((name for name in _TENSORS if name in tensors), None)
    if name is None:
        raise FormatError(
            f"{what}: its tensors are {', '.join(tensors)[:200]}; a static model has one called "
            f"{' or '.join(_TENSORS)}. Other models have no vector a token."
        )
    numbers = _numbers(description["model"]["vocab"])
    most = 1 + max(numbers.values(), default=-1)
    vectors = _vectors(tensors[name], tensors.get("weights"), tensors.get("mapping"), most)
    words = _words(description, numbers)
    if max(words.values(), default=-1) >= len(vectors):
        raise ValueError(f"its tokenizer has {most} tokens; there are {len(vectors)} vectors")
    ids_of = _tokenizer(what, description)
    found = vectors[list(words.values())]
    if ids_of is None:
        return Embeddings(list(words), found)

    def subwords(word: str) -> Vector | None:
        ids = [number for number in ids_of(word) if number < len(vectors)]
        if not ids:
            return None
        with np.errstate(all="ignore"):  # a file may hold NaN: whoever uses the vector will see it
            mean: Vector = vectors[ids].mean(axis=0)
        return mean

    return Embeddings(list(words), found, subwords=subwords)


def _numbers(vocabulary: Any) -> dict[str, int]:
    """Return the number of each token, as a tokenizer's description lists them."""
    if isinstance(vocabulary, list):  # Unigram: pairs of a token and its score
        vocabulary = {token: number for number, (token, _) in enumerate(vocabulary)}
    numbers: dict[str, int] = dict(vocabulary.items())
    known = set(numbers.values())
    if len(known) < len(numbers) or not all(type(n) is int and n >= 0 for n in known):
        raise ValueError("its tokens are not numbered")
    return numbers


def _vectors(rows: Matrix, weights: Any, mapping: Any, most: int) -> Matrix:
    """Return the vectors of `most` tokens; quantized models share rows and weigh each token."""
    rows = rows if rows.dtype != np.int8 else rows.astype(np.float32)
    if rows.ndim != 2 or not rows.shape[1] or rows.dtype.kind != "f":
        raise ValueError(f"its vectors have the shape {rows.shape} and the type {rows.dtype}")
    if mapping is not None:
        if mapping.ndim != 1 or mapping.dtype.kind not in "iu" or (mapping < 0).any():
            raise ValueError("its mapping of tokens to rows is no list of numbers of rows")
        rows = rows[mapping[:most]]
    if weights is not None:
        if weights.ndim != 1 or weights.dtype.kind != "f":
            raise ValueError("its weights are no list of numbers")
        with np.errstate(all="ignore"):
            rows = rows[: len(weights)] * weights[: len(rows), None]
    return rows


def _words(description: Mapping[str, Any], numbers: Mapping[str, int]) -> dict[str, int]:
    """Return the tokens that are whole words with their numbers, in the order of these."""
    model = description["model"]
    special = {added["content"] for added in description.get("added_tokens") or ()}
    special.add(model.get("unk_token"))
    tokens = sorted((number, token) for token, number in numbers.items() if token not in special)
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
    unknown = model.get("unk_id") if unknown is None else unknown

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
