"""Made-up languages: one cloud of words, rotated and blurred, as `.vec` files and dictionaries.

Words come in topics, and variance falls off along the axes, as in real embeddings: exact search has
crowded places to deal with, and directions to begin with.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from geomm_plugin import write_embeddings
from geomm_plugin.embeddings import BLOCK_ROWS, Embeddings, Matrix

LANGUAGES = ("en", "es", *(f"l{number}" for number in range(2, 30)))
SOURCE, TARGET = LANGUAGES[:2]
PAIRS, TEST_PAIRS = 5000, 1500
TRAIN, TEST = slice(0, PAIRS), slice(-TEST_PAIRS, None)
BLUR = 1.0  # of a word in each language, against 1 for what it means in both


class MadeUp(Embeddings):
    """Vectors that are made block by block, so that files of any size need no memory."""

    def __init__(self, language: str, words: int, dimension: int):
        self.words = [f"{language}{number}" for number in range(words)]
        self._number = LANGUAGES.index(language)
        self._dimension = dimension

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return self._dimension

    def blocks(self, size: int = BLOCK_ROWS) -> Iterator[Matrix]:
        """Make the vectors in order, always the same ones."""
        shared = np.random.default_rng(0)
        topics = shared.standard_normal((max(10, len(self) // 50), self._dimension))
        square = (self._dimension, self._dimension)
        normals = [shared.standard_normal(square) for _ in range(self._number + 1)]
        spread = 0.3 * np.exp(np.linspace(0, -7, self._dimension))
        axes = spread[:, None] * np.linalg.qr(normals[-1])[0]
        for start in range(0, len(self), size):
            shape = (min(size, len(self) - start), self._dimension)
            meaning = np.random.default_rng([1, start])
            blur = np.random.default_rng([2, start, self._number])
            vectors = topics[meaning.integers(0, len(topics), shape[0])]
            vectors = vectors + meaning.standard_normal(shape) + BLUR * blur.standard_normal(shape)
            yield (vectors @ axes).astype(np.float32)


def vectors_path(folder: Path, language: str, words: int, dimension: int) -> Path:
    """Return the `.vec` file of a language; it is made if it is not there."""
    path = folder / f"{language}.{words}x{dimension}.vec"
    if not path.exists():
        write_embeddings(MadeUp(language, words, dimension), path)
    return path


def dictionary_path(
    folder: Path, words: int, source: str = SOURCE, target: str = TARGET, part: slice = TRAIN
) -> Path:
    """Return a dictionary of frequent words; it is made if it is not there."""
    path = folder / f"{source}-{target}.{words}.{'train' if part == TRAIN else 'test'}.txt"
    if not path.exists():
        rows = _shuffled(words)[part]
        lines = [f"{source}{row} {target}{row}\n" for row in sorted(rows)]
        path.write_text("".join(lines), encoding="utf-8")
    return path


def test_rows(words: int) -> list[int]:
    """Return rows of frequent words that the training dictionary does not hold."""
    return _shuffled(words)[TEST]


def _shuffled(words: int) -> list[int]:
    """Return the frequent words in random order; the last quarter never trains."""
    order = np.random.default_rng(3).permutation(min(words, 20_000)).tolist()
    return order[: len(order) * 3 // 4][:PAIRS] + order[len(order) * 3 // 4 :][:TEST_PAIRS]
