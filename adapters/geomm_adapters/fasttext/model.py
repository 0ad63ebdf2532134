"""fastText's model file, mapped into memory: words, counts, and vectors made from subwords.

    magic, version            793712314 and 11 or 12
    parameters                12 int32 (dimension first; buckets, minn, maxn are used here), double
    dictionary                sizes, then for each word: its bytes, 0, int64 count, int8 kind
    input matrix              a row for each word, then a row for each bucket of n-grams
    output matrix             not used here, and written without rows

Quantized models (`.ftz`) may leave buckets out; the dictionary then ends with a list of those
that are stored.

The vector of a word is the mean of its own row, if it is in the dictionary, and the rows of its
n-grams. Rows are read from disk when they are used.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from geomm_adapters.fasttext.quantized import QuantizedMatrix, read_quantized
from geomm_adapters.fasttext.subword_hashes import (
    LONGEST_NGRAM,
    ngram_hashes,
    ngram_hashes_in_pieces,
)
from geomm_plugin import progress
from geomm_plugin.arrays import Matrix, Vector
from geomm_plugin.errors import FormatError

MAGIC = 793712314
VERSIONS = (11, 12)
PARAMETERS = struct.Struct("<12id")
SIZES = struct.Struct("<3i2q")
_ENTRY_TAIL = 10  # the 0 after a word, its count (8) and its kind (1)
_END_OF_SENTENCE = b"</s>"  # has no subwords
_SUPERVISED = 3
_LONGEST_WORD = 2**24  # bytes
_WORDS_AT_ONCE, _NGRAMS_AT_ONCE = 4096, 2**18

Rows: TypeAlias = npt.NDArray[np.intp]
StoredBuckets: TypeAlias = tuple[Rows, Rows]  # sorted numbers of buckets, the row of each


def is_fasttext_model(path: Path) -> bool:
    """Tell whether a file begins as fastText's models do."""
    with path.open("rb") as stream:
        return stream.read(4) == MAGIC.to_bytes(4, "little")


@dataclass(frozen=True)
class FastTextModel:
    """The part of a model that word vectors are made of."""

    words: list[bytes]
    counts: npt.NDArray[np.int64]
    matrix: npt.NDArray[np.float32] | QuantizedMatrix  # words, then buckets
    shortest: int  # characters of the shortest n-grams
    longest: int  # and of the longest
    buckets: int
    stored_buckets: StoredBuckets | None = None  # None: all buckets are stored
    head: bytes = b""  # the file up to the dictionary's words
    is_classifier: bool = False  # trained to tell labels; its output matrix matters

    def __call__(self, word: str) -> Vector | None:
        """Make the vector of any word, as embeddings with subwords ask for it."""
        return self.vector(word)

    @cached_property
    def row_of(self) -> dict[bytes, int]:
        """The row of each word of the dictionary."""
        return {word: row for row, word in enumerate(self.words)}

    def vectors(self, count: int) -> Matrix:
        """Make the vectors of the first words."""
        vectors = np.empty((count, self.matrix.shape[1]), np.float32)
        with progress.task(f"Making {count} vectors from subwords", total=count) as advance:
            start = 0
            while start < count:
                stop, size = start, 0
                while stop < min(start + _WORDS_AT_ONCE, count) and size < _NGRAMS_AT_ONCE:
                    size += self._max_ngrams(self.words[stop])
                    stop += 1
                if stop - start > 1 and size > 2 * _NGRAMS_AT_ONCE:
                    stop -= 1  # the vector of a very long word is made alone
                vectors[start:stop] = self._means(self.words[start:stop], np.arange(start, stop))
                advance(stop - start)
                start = stop
        return vectors

    def vector(self, word: str) -> Vector | None:
        """Make the vector of any word; None where it has no row and no n-gram."""
        name = word.encode("utf-8", "surrogateescape")
        own = np.array([self.row_of.get(name, -1)])
        vector: Vector = self._means([name], own)[0]
        return vector if vector.any() else None

    def _max_ngrams(self, word: bytes) -> int:
        """Return how many n-grams a word has at most."""
        lengths = self.longest - max(self.shortest, 1) + 1 if self.buckets else 0
        return (len(word) + 2) * lengths if lengths > 0 else 0

    def _means(self, words: list[bytes], own: Rows) -> Matrix:
        """Return the mean of each word's own row (-1: it has none) and the rows of its n-grams."""
        from scipy.sparse import csr_array

        sums, parts = np.zeros((len(words), self.matrix.shape[1])), np.zeros((len(words), 1))
        for owners, rows in self._parts(words, own):
            matrix = self.matrix
            if isinstance(matrix, QuantizedMatrix):
                used, rows = np.unique(rows, return_inverse=True)
                matrix = matrix[used]
            entries = np.ones(len(rows), np.float32), (owners, rows)
            sums += csr_array(entries, (len(words), len(matrix))) @ matrix
            parts[:, 0] += np.bincount(owners, minlength=len(words))
        means: Matrix = (sums / np.maximum(parts, 1)).astype(np.float32)
        return means

    def _parts(self, words: list[bytes], own: Rows) -> Iterator[tuple[Rows, Rows]]:
        """Yield (word, row) for each word's own row and the rows of its n-grams, some at a time."""
        has_row = np.flatnonzero(own >= 0)
        yield has_row, own[has_row]
        lengths = self.shortest, self.longest
        if len(words) == 1 and self._max_ngrams(words[0]) > 2 * _NGRAMS_AT_ONCE:
            places = max(1, _NGRAMS_AT_ONCE // self.longest)
            for hashes in ngram_hashes_in_pieces(words[0], *lengths, places):
                yield self._with_rows(np.zeros(len(hashes), np.intp), hashes)
        elif self.buckets:
            owners, hashes = ngram_hashes(words, *lengths)
            used = np.array([word != _END_OF_SENTENCE for word in words], bool)[owners]
            yield self._with_rows(owners[used], hashes[used])

    def _with_rows(self, owners: Rows, hashes: npt.NDArray[np.uint32]) -> tuple[Rows, Rows]:
        """Return the rows of hashed n-grams; those whose bucket was left out have none."""
        rows = (hashes % np.uint32(self.buckets)).astype(np.intp)
        if self.stored_buckets is not None:
            buckets, bucket_rows = self.stored_buckets
            where = np.minimum(np.searchsorted(buckets, rows), len(buckets) - 1)
            used = buckets[where] == rows
            owners, rows = owners[used], bucket_rows[where][used]
        return owners, rows + len(self.words)


def read_fasttext_model(path: Path) -> FastTextModel:
    """Read the words and map the matrix; a quantized one, which is small, is read."""
    with path.open("rb") as stream:
        content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        return _Reader(path, content).model()
    except (struct.error, OverflowError) as error:
        raise _broken(path, "it ends before its matrix") from error
    except ValueError as error:
        if isinstance(error, FormatError):
            raise
        raise _broken(path, str(error)) from error


class _Reader:
    """Goes through a file from its beginning."""

    def __init__(self, path: Path, content: mmap.mmap):
        self.path = path
        self.content = content
        self.position = 0

    def take(self, layout: struct.Struct) -> tuple[int, ...]:
        """Read some numbers."""
        values = layout.unpack_from(self.content, self.position)
        self.position += layout.size
        return values

    def model(self) -> FastTextModel:
        """Read everything up to the matrix."""
        magic, version = self.take(struct.Struct("<2i"))
        if magic != MAGIC or version not in VERSIONS:
            raise _broken(self.path, f"it begins with {magic} and {version}")
        dimension, *_, model, buckets, shortest, longest, _, _ = self.take(PARAMETERS)
        if version == VERSIONS[0] and model == _SUPERVISED:
            longest = 0  # as fastText itself reads old classifiers
        size, n_words, _, _, n_stored = self.take(SIZES)
        if not (
            0 < n_words <= size and dimension > 0 and buckets >= 0 and longest <= LONGEST_NGRAM
        ):
            raise _broken(
                self.path,
                f"it has {n_words} words, {dimension} dimensions, {buckets} buckets and n-grams of "
                f"up to {longest} characters",
            )
        head = self.content[: self.position]
        words, counts = self.dictionary(size)
        stored = self.stored_buckets(n_stored) if n_stored > 0 else None
        matrix = self.matrix(dimension)
        rows = len(matrix)
        buckets = buckets if longest > 0 and n_stored != 0 else 0
        needed = buckets if stored is None else int(stored[1].max()) + 1
        if rows < n_words + needed:
            raise _broken(self.path, f"it has {rows} rows for {n_words} words and {needed} buckets")
        return FastTextModel(
            words[:n_words],
            counts[:n_words],
            matrix,
            shortest,
            longest,
            buckets,
            stored,
            head,
            model == _SUPERVISED or size > n_words,
        )

    def dictionary(self, size: int) -> tuple[list[bytes], npt.NDArray[np.int64]]:
        """Read the words and labels, and how often each was seen."""
        content, position, words, ends = self.content, self.position, [], []
        for _ in range(size):
            end = content.find(b"\0", position)
            if end < 0:
                raise _broken(self.path, "it ends in the middle of its dictionary")
            if end - position > _LONGEST_WORD:
                raise _broken(self.path, f"a word of it has over {_LONGEST_WORD} bytes")
            words.append(content[position:end])
            ends.append(end)
            position = end + _ENTRY_TAIL
        counts = np.fromiter(
            (int.from_bytes(content[e + 1 : e + 9], "little", signed=True) for e in ends), np.int64
        )
        self.position = position
        return words, counts

    def stored_buckets(self, count: int) -> StoredBuckets:
        """Read which buckets are stored, and the row of each."""
        if count > (len(self.content) - self.position) // 8:
            raise _broken(self.path, f"it keeps {count} buckets, which are not all there")
        end = self.position + 8 * count
        pairs = np.frombuffer(self.content[self.position : end], "<i4").reshape(-1, 2)
        self.position = end
        if (pairs < 0).any() or len(np.unique(pairs[:, 0])) < count:
            raise _broken(self.path, "the buckets that it keeps are none")
        pairs = pairs[np.argsort(pairs[:, 0])].astype(np.intp)
        return pairs[:, 0], pairs[:, 1]

    def matrix(self, dimension: int) -> npt.NDArray[np.float32] | QuantizedMatrix:
        """Map the matrix, or read a quantized one; all of it must be there."""
        (quantized,) = self.take(struct.Struct("<B"))
        if quantized > 1:
            raise _broken(self.path, "it does not say whether it is quantized")
        if quantized:
            matrix = read_quantized(self.content, self.position)
            if matrix.shape[1] != dimension:
                raise _broken(self.path, f"its matrix is {matrix.shape}, of dimension {dimension}")
            return matrix
        rows, columns = self.take(struct.Struct("<2q"))
        if columns != dimension or rows < 1:
            raise _broken(self.path, f"its matrix is {rows} x {columns}, of dimension {dimension}")
        size = 4 * rows * columns
        if self.position + size >= len(self.content):  # the output matrix must follow
            raise _broken(self.path, f"{rows} x {columns} numbers are not all there")
        numbers = np.frombuffer(self.content, "<f4", rows * columns, self.position)
        mapped: npt.NDArray[np.float32] = numbers.reshape(rows, columns)
        return mapped


def _broken(path: Path, problem: str) -> FormatError:
    return FormatError(
        f"{path} is not a whole fastText model: {problem}. It seems cut off; fetch it again."
    )
