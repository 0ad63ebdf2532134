"""[read] Words and their vectors, one row per word, the most frequent word first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from geomm_plugin import registry
from geomm_plugin.arrays import BLOCK_ROWS, Matrix, RowIndices, Vector, as_numbers
from geomm_plugin.errors import FormatError, UnknownNameError
from geomm_plugin.source_file import SourceFile

MIN_FREQUENCY_ORDER = 0.9  # share of words; below, they do not stand in the order of frequency


class Embeddings:
    """Words with their vectors: `embeddings["dog"]`, `"dog" in embeddings`, `len(embeddings)`.

    Parameters
    ----------
    words
        The vocabulary. A word that repeats is found at its first row.
    vectors
        One row per word. Floating types are kept as they are and not copied.
    attributes
        What else is known of each word, e.g. {"count": array}; carried along. Counts only tell
        whether words stand in the order of frequency.
    """

    attributes: Mapping[str, npt.NDArray[Any]] = MappingProxyType({})
    file: SourceFile | None = None  # what read_embeddings() read them from
    is_finite = False  # whether every number is known to be finite

    def __init__(
        self,
        words: Sequence[str],
        vectors: npt.ArrayLike,
        attributes: Mapping[str, npt.NDArray[Any]] = MappingProxyType({}),
    ):
        if isinstance(words, np.ndarray):
            words = words.tolist()  # ordinary texts
        self.words: Sequence[str] = words if isinstance(words, (list, tuple)) else list(words)
        _check_texts(self.words)
        self._vectors = _as_matrix(vectors)
        if len(self.words) != len(self._vectors):
            raise FormatError(
                f"Embeddings need one vector for each word; there are {len(self.words)} words and "
                f"{len(self._vectors)} vectors."
            )
        self.attributes = dict(attributes)

    @property
    def vectors(self) -> Matrix:
        """All vectors, one row per word."""
        return self._vectors

    @property
    def stored(self) -> Matrix | None:
        """All vectors where they are, in memory or in a file; None if they are yet to be made."""
        stored: Matrix | None = self.__dict__.get("_vectors")  # subclasses may make theirs
        return stored

    @property
    def stored_rows(self) -> Any:
        """The vectors as they are stored: an array, or a table on disk that is asked for rows."""
        return self.vectors

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return int(self._vectors.shape[1])

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of each word; the first one where a word repeats."""
        rows = dict(zip(self.words, range(len(self.words)), strict=True))
        if len(rows) < len(self.words):
            for row in range(len(self.words) - 1, -1, -1):
                rows[self.words[row]] = row
        return rows

    def rows(self, rows: RowIndices | slice) -> Matrix:
        """Return the vectors of some rows."""
        return self._vectors[rows]

    def blocks(self, size: int = BLOCK_ROWS) -> Iterator[Matrix]:
        """Go through the vectors in order, some rows at a time."""
        for start in range(0, len(self), size):
            yield self.rows(slice(start, start + size))

    def head(self, count: int) -> Embeddings:
        """Return the first (most frequent) words only."""
        head = Embeddings(self.words[:count], self.vectors[:count], self._head_attributes(count))
        head.file = self.file
        return head

    def distinct(self) -> Embeddings:
        """Return these where no word repeats, else each word with its first vector."""
        if len(set(self.words)) == len(self):  # faster than row_of, which not everybody needs
            return self
        rows = np.sort(np.fromiter(self.row_of.values(), np.intp, len(self.row_of)))
        attributes = {name: array[rows] for name, array in self.attributes.items()}
        return Embeddings([self.words[row] for row in rows], self.rows(rows), attributes)

    def frequency_order(self) -> float | None:
        """Return the share of words that count no more than the word before; None if unknown."""
        counts = self.attributes.get("count")
        if counts is None or len(counts) < 2:
            return None
        return float((counts[1:] <= counts[:-1]).mean())

    def vector(self, word: str) -> Vector:
        """Return the vector of a word, also of one outside the vocabulary where subwords tell."""
        return self[word]

    def with_words(self, words: Iterable[str]) -> Embeddings:
        """Add words outside the vocabulary, whose vectors subwords tell; known ones are skipped."""
        added = [word for word in dict.fromkeys(words) if word not in self]
        if not added:
            return self
        rows = np.stack([self.vector(word) for word in added]).astype(self.vectors.dtype)
        grown = {
            name: np.concatenate([array, np.zeros(len(added), array.dtype)])
            for name, array in self.attributes.items()
        }
        return Embeddings([*self.words, *added], np.concatenate([self.vectors, rows]), grown)

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.row_of

    def __getitem__(self, word: str) -> Vector:
        if word not in self.row_of:
            raise unknown_word(word, len(self))
        row: Vector = self.rows(np.array([self.row_of[word]]))[0]
        return row

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} words x {self.dimension}>"

    def _head_attributes(self, count: int) -> dict[str, npt.NDArray[Any]]:
        return {name: array[:count] for name, array in self.attributes.items()}


class SubwordEmbeddings(Embeddings):
    """Embeddings that make vectors for words outside the vocabulary, as fastText's models do.

    Parameters
    ----------
    subwords
        Makes a vector for any word, or None where the word has no known part.
    """

    def __init__(
        self,
        words: Sequence[str],
        vectors: npt.ArrayLike,
        subwords: Callable[[str], Vector | None],
        attributes: Mapping[str, npt.NDArray[Any]] = MappingProxyType({}),
    ):
        super().__init__(words, vectors, attributes)
        self.subwords = subwords

    def head(self, count: int) -> SubwordEmbeddings:
        """Return the first (most frequent) words only; the others are made from subwords."""
        head = SubwordEmbeddings(
            self.words[:count], self.vectors[:count], self.subwords, self._head_attributes(count)
        )
        head.file = self.file
        return head

    def distinct(self) -> SubwordEmbeddings:
        """Return these where no word repeats, else each word with its first vector."""
        distinct = super().distinct()
        if distinct is self:
            return self
        return SubwordEmbeddings(
            distinct.words, distinct.vectors, self.subwords, distinct.attributes
        )

    def vector(self, word: str) -> Vector:
        """Return the vector of a word: its row, or one made from its subwords."""
        if word in self:
            return self[word]
        made = self.subwords(word)
        if made is None:
            raise unknown_word(word, len(self), " and has no known subword")
        return made

    def with_words(self, words: Iterable[str]) -> SubwordEmbeddings:
        """Add words outside the vocabulary as rows; known ones are skipped."""
        grown = super().with_words(words)
        return SubwordEmbeddings(grown.words, grown.vectors, self.subwords, grown.attributes)


def unknown_word(word: object, count: int, also: str = "") -> UnknownNameError:
    """Say that a word has no vector."""
    return UnknownNameError(
        f"The word {word!r} is not among these {count} words{also}. "
        "Check its spelling and letter case."
    )


def _check_texts(words: Sequence[object]) -> None:
    """Refuse words that are not text: as bytes or numbers they would be found under no spelling."""
    if all(issubclass(kind, str) for kind in set(map(type, words))):
        return
    row = next(row for row, word in enumerate(words) if not isinstance(word, str))
    raise FormatError(
        f"Words are texts; the word of row {row} is {words[row]!r}, of the type "
        f"{type(words[row]).__name__}. Give str(word), or word.decode() of bytes."
    )


def _as_matrix(vectors: npt.ArrayLike) -> Matrix:
    array = as_numbers(vectors)
    if array.ndim != 2:
        raise FormatError(
            f"Vectors must be a table, one row per word; these have the shape {array.shape}."
        )
    return array


def _from_mapping(source: Mapping[str, npt.ArrayLike]) -> Embeddings:
    try:
        return Embeddings(list(source), np.array(list(source.values())))
    except (TypeError, ValueError) as error:
        raise FormatError(_odd_vector(source) or str(error)) from error


def _odd_vector(source: Mapping[str, npt.ArrayLike]) -> str:
    """Say which word has no vector of as many numbers as the first one."""
    first: tuple[int, ...] | None = None
    for word, vector in source.items():
        try:
            shape = np.asarray(vector, np.float64).shape
        except (TypeError, ValueError) as error:
            return f"The vector of {word!r} is no list of numbers ({error}). Fix it."
        first = shape if first is None else first
        if len(shape) != 1 or shape != first:
            return (
                f"The vector of {word!r} has the shape {shape}, the first one {first}; every word "
                "needs one row of equally many numbers. Fix it, or leave the word out."
            )
    return ""


def as_embeddings(source: object) -> Embeddings:
    """Turn anything that holds words and vectors into Embeddings.

    Embeddings stay as they are; for other objects (gensim KeyedVectors, ...) the plugins are asked;
    a mapping {word: vector} and a pair (words, vectors) are understood.
    """
    if isinstance(source, Embeddings):
        return source
    converted = registry.plugins.convert(source, Embeddings)
    if converted is not None:
        return converted
    if isinstance(source, Mapping):
        return _from_mapping(source)
    if isinstance(source, tuple) and len(source) == 2:
        return Embeddings(*source)
    hint = "; read a file with read_embeddings(path)" if isinstance(source, str) else ""
    raise FormatError(
        f"Cannot read words and vectors from a {type(source).__name__}{hint}. Give Embeddings, a "
        "gensim KeyedVectors, a mapping of words to vectors, or a pair (words, vectors)."
    )
