"""Small made-up languages to test mappers on, plain ones and ones that are hard on numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.factorization import orthonormal_columns
from geomm_plugin.language_graph import LanguagePair
from geomm_plugin.mapper import LinearMapper, Mapper, Vectors
from geomm_plugin.normalize import Normalizer
from geomm_plugin.registry import get_mapper


@dataclass(frozen=True)
class Toy:
    """Small made-up languages whose translations are known: word 7 of one is word 7 of all."""

    embeddings: dict[str, Embeddings]
    dictionaries: dict[LanguagePair, list[tuple[str, str]]] = field(default_factory=dict)

    def fit(self, mapper: str | Mapper, /, **params: Any) -> Mapper:
        """Fit a mapper, or the one of a name with parameters, on this toy.

        Mappers that need no dictionary get none, and go on where they find no translations: a toy
        is too small for that.
        """
        chosen = get_mapper(mapper, **params) if isinstance(mapper, str) else mapper
        if chosen.needs_dictionary:
            return chosen.fit(self.embeddings, self.dictionaries)
        if "on_failure" in chosen.get_params():
            chosen.set_params(on_failure="warn")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*found no translations", UserWarning)
            return chosen.fit(self.embeddings, {})

    def views(self, *steps: str) -> Vectors:
        """Return the rows of each language after some steps of normalization."""
        vectors = {name: value.vectors for name, value in self.embeddings.items()}
        normalizer = Normalizer(steps).fit(vectors)
        return {name: normalizer.view(name, rows) for name, rows in vectors.items()}

    def normalized(self, mapper: LinearMapper, language: str) -> Matrix:
        """Return the vectors of a language as the mapper normalizes them, in float64."""
        view = mapper.normalizer_.view(language, self.embeddings[language].vectors)
        return np.asarray(view).astype(np.float64)

    def rows(self, mapper: LinearMapper, source: str, target: str) -> tuple[Matrix, Matrix]:
        """Return the normalized vectors of both sides of a dictionary, one row per pair."""
        pairs = self.dictionaries[source, target]
        row_of = {name: self.embeddings[name].row_of for name in (source, target)}
        return (
            self.normalized(mapper, source)[[row_of[source][word] for word, _ in pairs]],
            self.normalized(mapper, target)[[row_of[target][word] for _, word in pairs]],
        )


def make_toy(
    languages: Sequence[str] | Mapping[str, int] = ("en", "es"),
    words: int = 120,
    dimension: int = 12,
    *,
    links: Sequence[LanguagePair] | None = None,
    pairs: int | None = None,
    drawn: bool = False,
    noise: float = 0.05,
    seed: int = 0,
    dtype: str = "float32",
) -> Toy:
    """Make languages that are rotations of one cloud of words, plus noise.

    Parameters
    ----------
    languages
        Their names, or their names with a dimension each: {"en": 12, "es": 9}.
    links
        Which languages have a dictionary; by default each with the first.
    pairs
        How many pairs each dictionary has, by default two thirds of the words.
    drawn
        Draw the words of each dictionary, and give a tenth of them a second translation, as in real
        ones; by default they are the first words, each with one translation.
    """
    dimensions = (
        languages if isinstance(languages, Mapping) else dict.fromkeys(languages, dimension)
    )
    largest = max(dimensions.values())
    random = np.random.default_rng(seed)
    cloud = random.normal(size=(words, largest)) * np.linspace(2, 0.5, largest) + 0.3
    embeddings = {}
    for language, size in dimensions.items():
        rotation = orthonormal_columns(random.normal(size=(largest, largest)))[:, :size]
        vectors = cloud @ rotation + noise * random.normal(size=(words, size))
        names = [f"{language}{number}" for number in range(words)]
        embeddings[language] = Embeddings(names, vectors.astype(dtype))
    first, *others = dimensions
    count = words * 2 // 3 if pairs is None else pairs
    dictionaries = {}
    for source, target in [(first, other) for other in others] if links is None else links:
        meanings = random.choice(words, count, replace=False) if drawn else np.arange(count)
        linked = [(n, n) for n in meanings]
        if drawn:
            linked += [(n, (n + 1) % words) for n in meanings[::10]]
        dictionaries[source, target] = [(f"{source}{n}", f"{target}{m}") for n, m in linked]
    return Toy(embeddings, dictionaries)


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
