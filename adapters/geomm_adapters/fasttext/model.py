"""fastText's model file, mapped into memory: words, counts, and vectors made from subwords.

    magic, version            793712314 and 11 or 12
    parameters                12 int32 (dimension first; buckets, minn, maxn are used here), double
    dictionary                sizes, then for each word: its bytes, 0, int64 count, int8 kind
    input matrix              a row for each word, then a row for each bucket of n-grams
    output matrix             not used here, and written without rows

Quantized models (`.ftz`), which are classifiers made small, are not read.

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
from struct import error as StructError
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

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
QUANTIZED = "is a quantized model, whose vectors are not read. Give the .bin it was made from."
_WORDS_AT_ONCE, _BYTES_AT_ONCE = 4096, 2**16

Rows: TypeAlias = npt.NDArray[np.intp]


@dataclass(frozen=True)
class FastTextModel:
    """The part of a model that word vectors are made of."""

    words: list[bytes]
    counts: npt.NDArray[np.int64]
    matrix: npt.NDArray[np.float32]  # words, then buckets
    shortest: int  # characters of the shortest n-grams
    longest: int  # and of the longest
    buckets: int
    head: bytes = b""  # the file up to the dictionary's words; none of a model in memory
    is_classifier: bool = False  # trained to predict labels; its output matrix matters

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
            entries = np.ones(len(rows), np.float32), (owners, rows)
            sums += csr_array(entries, (len(words), len(self.matrix))) @ self.matrix
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
            yield owners[used], rows[used] + len(self.words)


def is_fasttext_model(path: Path) -> bool:
    """True if a file begins as fastText's models do."""
    with path.open("rb") as stream:
        return stream.read(4) == MAGIC.to_bytes(4, "little")


def read_fasttext_model(path: Path) -> FastTextModel:
    """Read the words and map the matrix into memory."""
    with path.open("rb") as stream:
        content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        return _read(path, content)
    except FormatError:
        raise
    except (StructError, ValueError) as problem:
        raise FormatError(
            f"{path} is not a whole fastText model: {problem}. It seems cut off; fetch it again."
        ) from problem


def _read(path: Path, content: mmap.mmap) -> FastTextModel:
    """Read everything up to the matrix."""
    magic, version = SIGNATURE.unpack_from(content)
    if magic != MAGIC or version not in VERSIONS:
        raise ValueError(f"it begins with {magic} and {version}")
    numbers = PARAMETERS.unpack_from(content, SIGNATURE.size)
    dimension, *_, model, buckets, shortest, longest, _, _ = numbers
    if version == VERSIONS[0] and model == _SUPERVISED:
        longest = 0  # as fastText itself reads old classifiers
    size, n_words, _, _, n_stored = SIZES.unpack_from(content, SIGNATURE.size + PARAMETERS.size)
    if not (0 < n_words <= size and dimension > 0 and buckets >= 0 and longest <= LONGEST_NGRAM):
        raise ValueError(
            f"it has {n_words} words, {dimension} dimensions, {buckets} buckets and n-grams of up "
            f"to {longest} characters"
        )
    if n_stored >= 0:  # how many buckets were not pruned
        raise FormatError(f"{path} {QUANTIZED}")
    position = SIGNATURE.size + PARAMETERS.size + SIZES.size
    head, words, counts = content[:position], [], []
    for _ in range(size):
        end = content.find(b"\0", position)
        if end < 0:
            raise ValueError("it ends in the middle of its dictionary")
        if end - position > _LONGEST_WORD:
            raise ValueError(f"a word of it has over {_LONGEST_WORD} bytes")
        words.append(content[position:end])
        counts.append(int.from_bytes(content[end + 1 : end + 9], "little", signed=True))
        position = end + _ENTRY_TAIL
    is_quantized, rows, columns = MATRIX.unpack_from(content, position)
    if is_quantized:
        raise FormatError(f"{path} {QUANTIZED}")
    needed = n_words + (buckets if longest > 0 else 0)
    if columns != dimension or rows < needed:
        raise ValueError(f"it has {rows} x {columns} numbers for {needed} rows of {dimension}")
    position += MATRIX.size
    if position + 4 * rows * columns >= len(content):  # the output matrix must follow
        raise ValueError(f"{rows} x {columns} numbers are not all there")
    matrix = np.frombuffer(content, "<f4", rows * columns, position).reshape(rows, columns)
    return FastTextModel(
        words[:n_words],
        np.array(counts[:n_words], np.int64),
        matrix,
        shortest,
        longest,
        needed - n_words,
        head,
        is_classifier=model == _SUPERVISED or size > n_words,
    )
