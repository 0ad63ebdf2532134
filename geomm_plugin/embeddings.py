"""[read] Words and their vectors, one row per word, the most frequent word first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeAlias, final

import numpy as np
import numpy.typing as npt

from geomm_plugin.arrays import BLOCK_ROWS, Matrix, Vector, as_numbers
from geomm_plugin.errors import FormatError, LanguagesError, UnknownNameError
from geomm_plugin.rows import RowFunction, Rows
from geomm_plugin.source_file import SourceFile

Subwords: TypeAlias = Callable[[str], Vector | None]

MIN_FREQUENCY_ORDER = 0.9  # share of words; below, they do not stand in the order of frequency


@final
class Embeddings:
    """Words with their vectors: `embeddings["dog"]`, `"dog" in embeddings`, `len(embeddings)`.

    Parameters
    ----------
    words
        The vocabulary. A word that repeats is found at its first row.
    vectors
        One row per word: an array, or `Rows` that are made when they are asked for. Floating types
        are kept as they are and not copied.
    attributes
        What else is known of each word, e.g. {"count": array}; carried along. Counts only show
        whether words stand in the order of frequency.
    subwords
        Makes a vector for any word outside the vocabulary, as fastText's models do, or None where
        the word has no known part. What is done to the rows is done to this vector, too.
    """

    file: SourceFile | None = None  # what read_embeddings() read them from

    def __init__(
        self,
        words: Sequence[str],
        vectors: npt.ArrayLike | Rows,
        attributes: Mapping[str, npt.NDArray[Any]] = MappingProxyType({}),
        *,
        subwords: Subwords | None = None,
    ):
        if isinstance(words, np.ndarray):
            words = words.tolist()  # ordinary texts
        self.words: Sequence[str] = words if isinstance(words, (list, tuple)) else list(words)
        _check_texts(self.words)
        self.rows = vectors if isinstance(vectors, Rows) else Rows(_as_matrix(vectors))
        if len(self.words) != len(self.rows):
            raise FormatError(
                f"Embeddings need one vector for each word; there are {len(self.words)} words and "
                f"{len(self.rows)} vectors."
            )
        self.attributes: Mapping[str, npt.NDArray[Any]] = dict(attributes)
        self.subwords = subwords

    @property
    def vectors(self) -> Matrix:
        """All vectors, one row per word; made once, if they are yet to be made."""
        return self.rows.all()

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return self.rows.shape[1]

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of each word; the first one where a word repeats."""
        rows = dict(zip(self.words, range(len(self.words)), strict=True))
        if len(rows) < len(self.words):
            for row in range(len(self.words) - 1, -1, -1):
                rows[self.words[row]] = row
        return rows

    def blocks(self, size: int = BLOCK_ROWS) -> Iterator[Matrix]:
        """Go through the vectors in order, some rows at a time."""
        return self.rows.blocks(size)

    def map(self, function: RowFunction) -> Embeddings:
        """Return the same words with mapped vectors, which are mapped when they are asked for.

        Export goes block by block without the mapped copy; `.vectors` makes that once and keeps it.
        """
        return self._with(self.words, self.rows.map(function, keep=True), self.attributes)

    def head(self, count: int) -> Embeddings:
        """Return the first (most frequent) words only; others are made from subwords, if any."""
        attributes = {name: array[:count] for name, array in self.attributes.items()}
        head = self._with(self.words[:count], self.rows.select(slice(count)), attributes)
        head.file = self.file
        return head

    def distinct(self) -> Embeddings:
        """Return these where no word repeats, else each word with its first vector."""
        if len(set(self.words)) == len(self):  # faster than row_of, which not everybody needs
            return self
        rows = np.sort(np.fromiter(self.row_of.values(), np.intp, len(self.row_of)))
        attributes = {name: array[rows] for name, array in self.attributes.items()}
        return self._with([self.words[row] for row in rows], self.rows.select(rows), attributes)

    def frequency_order(self) -> float | None:
        """Return the share of words that count no more than the word before; None if unknown."""
        counts = self.attributes.get("count")
        if counts is None or len(counts) < 2:
            return None
        return float((counts[1:] <= counts[:-1]).mean())

    def vector(self, word: str) -> Vector:
        """Return the vector of a word: its row, or one made from its subwords."""
        if word in self:
            return self[word]
        made: Vector = self.rows.on(Rows(self._unseen(word)[None]))[0]
        return made

    def with_words(self, words: Iterable[str]) -> Embeddings:
        """Add words outside the vocabulary, made from subwords, as rows; known ones are skipped."""
        added = [word for word in dict.fromkeys(words) if word not in self]
        if not added:
            return self
        raw = self.rows.raw.all()
        made = np.stack([self._unseen(word) for word in added]).astype(raw.dtype)
        grown = {
            name: np.concatenate([array, np.zeros(len(added), array.dtype)])
            for name, array in self.attributes.items()
        }
        rows = self.rows.on(Rows(np.concatenate([raw, made])))
        return Embeddings([*self.words, *added], rows, grown, subwords=self.subwords)

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.row_of

    def __getitem__(self, word: str) -> Vector:
        if word not in self.row_of:
            raise unknown_word(word, len(self))
        row: Vector = self.rows[self.row_of[word]]
        return row

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self)} words x {self.dimension}>"

    def _unseen(self, word: str) -> Vector:
        """Return the vector of a word outside the vocabulary, before anything is done to rows."""
        made = None if self.subwords is None else self.subwords(word)
        if made is None:
            also = "" if self.subwords is None else " and has no known subword"
            raise unknown_word(word, len(self), also)
        return np.asarray(made)

    def _with(
        self, words: Sequence[str], rows: Rows, attributes: Mapping[str, npt.NDArray[Any]]
    ) -> Embeddings:
        """Return others with the same subwords, of words that were checked before."""
        made = object.__new__(Embeddings)
        made.words, made.rows, made.attributes = words, rows, attributes
        made.subwords = self.subwords
        return made


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
    """Take words and vectors from a mapping; the word of an odd vector is named."""
    rows: list[Vector] = []
    for word, vector in source.items():
        try:
            rows.append(np.asarray(vector))
        except ValueError:  # lists of different lengths
            rows.append(np.empty((0, 0)))
        shape, kind = rows[-1].shape, rows[-1].dtype
        if len(shape) != 1 or shape != rows[0].shape or kind.kind not in "fiubO":
            raise FormatError(
                f"The vector of {word!r} has the shape {shape} and the type {kind}, the first one "
                f"the shape {rows[0].shape}; every word needs one row of equally many numbers. Fix "
                "it, or leave the word out."
            )
    return Embeddings(list(source), np.array(rows))


def as_embeddings(source: object) -> Embeddings:
    """Turn anything that holds words and vectors into Embeddings.

    Embeddings stay as they are; for other objects (gensim KeyedVectors, ...) the plugins are asked;
    a mapping {word: vector} and a pair (words, vectors) are understood.
    """
    if isinstance(source, Embeddings):
        return source
    from geomm_plugin import registry  # plugins are of no concern to words and vectors

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


def check_rows(language: str, embeddings: Embeddings) -> None:
    """Make sure that there are words, and that their numbers are finite."""
    if not len(embeddings):
        raise LanguagesError(
            f"The embeddings of {language} hold no words. Check the file or array that they come "
            "from."
        )
    if embeddings.rows.is_finite:
        return
    for number, block in enumerate(embeddings.blocks()):
        finite = np.isfinite(block).all(axis=1)
        if not finite.all():
            row = number * BLOCK_ROWS + int(np.argmin(finite))
            raise FormatError(
                f"The vector of {embeddings.words[row]!r} (row {row} of {language}) holds NaN or "
                "infinity. Leave the word out, or fix its vector."
            )
