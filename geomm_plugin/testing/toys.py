"""Small made-up languages to test mappers on, plain ones and ones that are hard on numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.factorization import orthonormal_columns
from geomm_plugin.mapper import Mapper


@dataclass(frozen=True)
class Toy:
    """Small made-up languages whose translations are known: word 7 of one is word 7 of all."""

    embeddings: dict[str, Embeddings]
    dictionaries: dict[tuple[str, str], list[tuple[str, str]]] = field(default_factory=dict)

    def fit(self, mapper: Mapper) -> Mapper:
        """Fit a mapper on this toy."""
        return mapper.fit(self.embeddings, self.dictionaries)


def make_toy(
    languages: tuple[str, ...] = ("en", "es"),
    words: int = 120,
    dimension: int = 12,
    *,
    pairs: int | None = None,
    noise: float = 0.05,
    seed: int = 0,
    dtype: str = "float32",
) -> Toy:
    """Make languages that are rotations of one cloud of words, plus noise.

    Parameters
    ----------
    pairs
        How many pairs each dictionary has, by default two thirds of the words. Each language has a
        dictionary with the first.
    """
    random = np.random.default_rng(seed)
    spectrum = np.linspace(2, 0.5, dimension)
    cloud = random.normal(size=(words, dimension)) * spectrum + 0.3
    embeddings = {}
    for language in languages:
        rotation = orthonormal_columns(random.normal(size=(dimension, dimension)))
        vectors = cloud @ rotation + noise * random.normal(size=cloud.shape)
        names = [f"{language}{number}" for number in range(words)]
        embeddings[language] = Embeddings(names, vectors.astype(dtype))
    count = words * 2 // 3 if pairs is None else pairs
    first = languages[0]
    return Toy(
        embeddings,
        {
            (first, other): [(f"{first}{n}", f"{other}{n}") for n in range(count)]
            for other in languages[1:]
        },
    )


def hard_toys() -> Mapping[str, Toy]:
    """Return toys that are hard on numbers, by what is hard about them."""

    def change(what: Callable[[Matrix], Matrix]) -> Toy:
        toy = make_toy()
        changed = {n: Embeddings(e.words, what(e.vectors)) for n, e in toy.embeddings.items()}
        return Toy(changed, toy.dictionaries)

    def flat(vectors: Matrix) -> Matrix:
        return vectors[:, :2] @ np.ones((2, vectors.shape[1]), vectors.dtype) + vectors[:, :1]

    same = make_toy()
    same_word = {("en", "es"): [("en0", "es0")] * 5}
    one_word = {("en", "es"): [("en0", f"es{number}") for number in range(30)]}
    zero = make_toy().embeddings["en"]
    half_zero = {**same.embeddings, "en": Embeddings(zero.words, 0 * zero.vectors)}
    return {
        "zero vectors": change(lambda v: np.where(np.arange(len(v))[:, None] % 2, v, 0)),
        "all vectors zero": change(np.zeros_like),
        "constant vectors": change(np.ones_like),
        "a constant column": change(lambda v: np.concatenate([v[:, 1:], 0 * v[:, :1]], axis=1)),
        "vectors of rank one": change(flat),
        "one language zero": Toy(half_zero, same.dictionaries),
        "one pair": make_toy(pairs=1),
        "fewer pairs than dimensions": make_toy(pairs=5),
        "the same pair five times": Toy(same.embeddings, same_word),
        "all pairs of the same word": Toy(same.embeddings, one_word),
        "one dimension": make_toy(dimension=1),
        "huge numbers": change(lambda v: v * np.float32(1e30)),
        "tiny numbers": change(lambda v: v * np.float32(1e-30)),
        "huge and tiny numbers": change(
            lambda v: v * np.logspace(-30, 30, len(v), dtype=np.float32)[:, None]
        ),
        "the largest numbers": change(lambda v: v / np.abs(v).max() * np.float32(3.4e38)),
        "float16": make_toy(dtype="float16"),
        "float64": make_toy(dtype="float64"),
    }
