"""Made-up languages: one cloud of words, rotated and blurred, as `.vec` files and dictionaries.

Words come in fields, topics and senses (2,000 words each, 200, 20), and variance falls off along
the axes, as in real embeddings: exact search has crowded places to deal with, and directions to
begin with. A word's first, tenth and hundredth neighbour are about as near as in real vectors.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from geomm_plugin import write_embeddings
from geomm_plugin.arrays import Matrix
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.rows import Rows

LANGUAGES = ("en", "es", *(f"l{number}" for number in range(2, 30)))
SOURCE, TARGET = LANGUAGES[:2]
PAIRS, TEST_PAIRS = 5000, 1500
TRAIN, TEST = slice(0, PAIRS), slice(-TEST_PAIRS, None)
SHARES = {2000: 0.15, 200: 0.20, 20: 0.22}  # of the variance, by the number of words that share it
MEANING, BLUR = 0.28, 0.15  # the word's own share, in both languages and in one of them


class Clouds:
    """Makes the vectors of a language, block by block in order, so that files need no memory."""

    def __init__(self, language: str, words: int, dimension: int):
        self.number = LANGUAGES.index(language)
        shared = np.random.default_rng(0)
        self.groups = [
            np.sqrt(share) * shared.standard_normal((max(10, words // size), dimension), np.float32)
            for size, share in SHARES.items()
        ]
        normals = [shared.standard_normal((dimension, dimension)) for _ in range(self.number + 1)]
        spread = 0.3 * np.exp(np.linspace(0, -7, dimension))
        self.axes = (spread[:, None] * np.linalg.qr(normals[-1])[0]).astype(np.float32)

    def __call__(self, numbers: Matrix) -> Matrix:
        """Return the vectors of the words of these numbers, a block of the vocabulary."""
        start, shape = int(numbers[0, 0]), (len(numbers), len(self.axes))
        meaning = np.random.default_rng([1, start])
        blur = np.random.default_rng([2, start, self.number])
        vectors = np.sqrt(MEANING) * meaning.standard_normal(shape, np.float32)
        vectors += np.sqrt(BLUR) * blur.standard_normal(shape, np.float32)
        sense = meaning.integers(0, len(self.groups[-1]), shape[0])
        for group in self.groups:
            vectors += group[sense * len(group) // len(self.groups[-1])]
        made: Matrix = vectors @ self.axes
        return made


def made_up(language: str, words: int, dimension: int) -> Embeddings:
    """Return a made-up language whose vectors are made when they are asked for."""
    numbers = np.arange(words, dtype=np.float64)[:, None]
    rows = Rows(numbers).map(Clouds(language, words, dimension))
    return Embeddings([f"{language}{number}" for number in range(words)], rows)


def vectors_path(folder: Path, language: str, words: int, dimension: int) -> Path:
    """Return the `.vec` file of a language; it is made if it is not there."""
    path = folder / f"{language}.{words}x{dimension}.vec"
    if not path.exists():
        write_embeddings(made_up(language, words, dimension), path)
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
