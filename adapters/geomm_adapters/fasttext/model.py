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
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from struct import Struct
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from geomm_adapters.fasttext.quantized import Cursor, QuantizedMatrix, read_quantized
from geomm_adapters.fasttext.subword_hashes import LONGEST_NGRAM, ngram_hashes
from geomm_plugin import progress
from geomm_plugin.arrays import Matrix, Vector
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FormatError

MAGIC = 793712314
VERSIONS = (11, 12)
SIGNATURE, PARAMETERS, SIZES = Struct("<2i"), Struct("<12id"), Struct("<3i2q")
MATRIX, COUNT = Struct("<?2q"), Struct("<q")
_ENTRY_TAIL = 10  # the 0 after a word, its count (8) and its kind (1)
_END_OF_SENTENCE = b"</s>"  # has no subwords
_SUPERVISED = 3
_LONGEST_WORD = 2**20  # bytes
_WORDS_AT_ONCE, _BYTES_AT_ONCE = 4096, 2**16

Rows: TypeAlias = npt.NDArray[np.intp]
StoredBuckets: TypeAlias = tuple[Rows, Rows]  # sorted numbers of buckets, the row of each


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
    head: bytes = b""  # the file up to the dictionary's words; none of a model in memory
    is_classifier: bool = False  # trained to tell labels; its output matrix matters

    @cached_property
    def row_of(self) -> dict[bytes, int]:
        """The row of each word of the dictionary."""
        return {word: row for row, word in enumerate(self.words)}

    def embeddings(self, max_words: int | None = None) -> Embeddings:
        """Return the first words with their vectors; all others are made from subwords."""
        words = self.words[:max_words]
        return Embeddings(
            [word.decode("utf-8", "surrogateescape") for word in words],
            self._vectors(words),
            {"count": self.counts[: len(words)]},
            subwords=self,
        )

    def __call__(self, word: str) -> Vector | None:
        """Make the vector of any word; None where it has no row and no n-gram."""
        name = word.encode("utf-8", "surrogateescape")
        own = np.array([self.row_of.get(name, -1)])
        vector: Vector = self._means([name], own)[0]
        return vector if vector.any() else None

    def _vectors(self, words: list[bytes]) -> Matrix:
        vectors = np.empty((len(words), self.matrix.shape[1]), np.float32)
        with progress.task("Making vectors from subwords", len(words), "words") as advance:
            start = 0
            while start < len(words):
                stop, size = start, 0
                while stop < min(start + _WORDS_AT_ONCE, len(words)) and size < _BYTES_AT_ONCE:
                    size += len(words[stop])
                    stop += 1
                vectors[start:stop] = self._means(words[start:stop], np.arange(start, stop))
                advance(stop - start)
                start = stop
        return vectors

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
        if not self.buckets:
            return
        has_subwords = np.array([word != _END_OF_SENTENCE for word in words])
        for owners, hashes in ngram_hashes(words, self.shortest, self.longest):
            rows = (hashes % np.uint32(self.buckets)).astype(np.intp)
            used = has_subwords[owners]
            if self.stored_buckets is not None:
                buckets, bucket_rows = self.stored_buckets
                where = np.minimum(np.searchsorted(buckets, rows), len(buckets) - 1)
                used, rows = used & (buckets[where] == rows), bucket_rows[where]
            yield owners[used], rows[used] + len(self.words)


def is_fasttext_model(path: Path) -> bool:
    """Tell whether a file begins as fastText's models do."""
    with path.open("rb") as stream:
        return stream.read(4) == MAGIC.to_bytes(4, "little")


def read_fasttext_model(path: Path) -> FastTextModel:
    """Read the words and map the matrix into memory."""
    with path.open("rb") as stream:
        content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        return _read(Cursor(content))
    except (OverflowError, ValueError) as error:
        raise FormatError(
            f"{path} is not a whole fastText model: {error}. It seems cut off; fetch it again."
        ) from error


def _read(file: Cursor) -> FastTextModel:
    """Read everything up to the matrix."""
    magic, version = file.numbers(SIGNATURE)
    if magic != MAGIC or version not in VERSIONS:
        raise ValueError(f"it begins with {magic} and {version}")
    dimension, *_, model, buckets, shortest, longest, _, _ = file.numbers(PARAMETERS)
    if version == VERSIONS[0] and model == _SUPERVISED:
        longest = 0  # as fastText itself reads old classifiers
    size, n_words, _, _, n_stored = file.numbers(SIZES)
    if not (0 < n_words <= size and dimension > 0 and buckets >= 0 and longest <= LONGEST_NGRAM):
        raise ValueError(
            f"it has {n_words} words, {dimension} dimensions, {buckets} buckets and n-grams of up "
            f"to {longest} characters"
        )
    head = file.content[: file.position]
    words, counts = _dictionary(file, size)
    stored = _stored_buckets(file, n_stored) if n_stored > 0 else None
    matrix = _matrix(file, dimension)
    buckets = buckets if longest > 0 and n_stored != 0 else 0
    needed = buckets if stored is None else int(stored[1].max()) + 1
    if len(matrix) < n_words + needed:
        raise ValueError(f"it has {len(matrix)} rows for {n_words} words and {needed} buckets")
    is_classifier = model == _SUPERVISED or size > n_words
    subwords = (shortest, longest, buckets, stored)
    return FastTextModel(words[:n_words], counts[:n_words], matrix, *subwords, head, is_classifier)


def _dictionary(file: Cursor, size: int) -> tuple[list[bytes], npt.NDArray[np.int64]]:
    """Read the words and labels, and how often each was seen."""
    content, words, counts = file.content, [], []
    for _ in range(size):
        end = content.find(b"\0", file.position)
        if end < 0:
            raise ValueError("it ends in the middle of its dictionary")
        if end - file.position > _LONGEST_WORD:
            raise ValueError(f"a word of it has over {_LONGEST_WORD} bytes")
        words.append(content[file.position : end])
        counts.append(int.from_bytes(content[end + 1 : end + 9], "little", signed=True))
        file.position = end + _ENTRY_TAIL
    return words, np.array(counts, np.int64)


def _stored_buckets(file: Cursor, count: int) -> StoredBuckets:
    """Read which buckets are stored, and the row of each."""
    pairs = file.array(2 * count, "<i4").reshape(-1, 2)
    if (pairs < 0).any() or len(np.unique(pairs[:, 0])) < count:
        raise ValueError("the buckets that it keeps are none")
    pairs = pairs[np.argsort(pairs[:, 0])].astype(np.intp)
    return pairs[:, 0], pairs[:, 1]


def _matrix(file: Cursor, dimension: int) -> npt.NDArray[np.float32] | QuantizedMatrix:
    """Map the matrix, or read the codes of a quantized one; the output matrix must follow."""
    (is_quantized,) = file.numbers(Struct("<B"))
    if is_quantized > 1:
        raise ValueError("it does not say whether it is quantized")
    if is_quantized:
        quantized = read_quantized(file)
        if quantized.shape[1] != dimension:
            raise ValueError(f"its matrix is {quantized.shape}, of dimension {dimension}")
        return quantized
    rows, columns = file.numbers(Struct("<2q"))
    if columns != dimension or rows < 1:
        raise ValueError(f"its matrix is {rows} x {columns}, of dimension {dimension}")
    matrix = file.array(rows * columns, "<f4").reshape(rows, columns)
    if file.position == len(file.content):
        raise ValueError("it ends behind its first matrix")
    return matrix
