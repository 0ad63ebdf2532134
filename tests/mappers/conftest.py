"""Seeded toy languages, and the embedded demo data."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import geomm_plugin
from geomm_plugin import (
    Embeddings,
    get_mapper,
    read_dictionary,
    read_embeddings,
)


@dataclass
class Toy:
    embeddings: dict[str, Embeddings]
    dictionaries: dict[tuple[str, str], list[tuple[str, str]]]

    def fit(self, name, **params):
        return get_mapper(name, **params).fit(self.embeddings, self.dictionaries)

    def normalized(self, mapper, language):
        return np.asarray(mapper.normalizer_.view(language, self.embeddings[language].vectors))

    def rows(self, mapper, source, target):
        """The normalized vectors of a dictionary, one row per pair, in float64."""
        pairs = self.dictionaries[source, target]
        x = self.normalized(mapper, source).astype(np.float64)
        z = self.normalized(mapper, target).astype(np.float64)
        row_of = {name: value.row_of for name, value in self.embeddings.items()}
        return (
            x[[row_of[source][word] for word, _ in pairs]],
            z[[row_of[target][word] for _, word in pairs]],
        )


def make_toy(*, dimensions, links, noise=0.3, words=400, pairs=150, seed=0):
    """Languages that are noisy linear images of one cloud; word n of each means the same."""
    random = np.random.default_rng(seed)
    latent = random.normal(size=(words, max(dimensions.values()))) * np.linspace(
        2, 0.5, max(dimensions.values())
    )
    embeddings = {}
    for name, dimension in dimensions.items():
        image = np.linalg.qr(random.normal(size=(latent.shape[1],) * 2))[0][:, :dimension]
        vectors = latent @ image + noise * random.normal(size=(words, dimension))
        vocabulary = [f"{name}{number}" for number in range(words)]
        embeddings[name] = Embeddings(vocabulary, vectors.astype(np.float32))
    dictionaries = {}
    for source, target in links:
        chosen = random.choice(words, pairs, replace=False)
        dictionaries[source, target] = [(f"{source}{n}", f"{target}{n}") for n in chosen]
        # Some words have a second translation, as in every real dictionary.
        dictionaries[source, target] += [
            (f"{source}{n}", f"{target}{(n + 1) % words}") for n in chosen[::10]
        ]
    return Toy(embeddings, dictionaries)


@pytest.fixture
def make():
    return make_toy


@pytest.fixture
def two():
    return make_toy(dimensions={"en": 12, "es": 12}, links=[("en", "es")])


@pytest.fixture
def uneven():
    return make_toy(dimensions={"en": 12, "es": 9}, links=[("en", "es")])


@pytest.fixture
def three():
    return make_toy(
        dimensions={"en": 12, "es": 12, "it": 12}, links=[("en", "es"), ("en", "it")], pairs=200
    )


@pytest.fixture(scope="session")
def europarl():
    folder = Path(geomm_plugin.__file__).parent / "demo" / "data"
    embeddings = {n: read_embeddings(folder / f"{n}.vec.gz") for n in ("en", "es", "it")}
    dictionaries = {("en", n): read_dictionary(folder / f"en-{n}.train.txt") for n in ("es", "it")}
    return Toy(embeddings, dictionaries)


@pytest.fixture(scope="session")
def demo_precision(europarl):
    """P@1 of a fitted mapper on a test dictionary of the demo data."""

    def precision(mapper, source, target, retrieval="csls"):
        folder = Path(geomm_plugin.__file__).parent / "demo" / "data"
        gold: dict[str, set[str]] = {}
        for word, translation in read_dictionary(folder / f"{source}-{target}.test.txt"):
            gold.setdefault(word, set()).add(translation)
        space = mapper.map(europarl.embeddings)
        found = space.translate(list(gold), source, target, k=1, retrieval=retrieval)
        return np.mean([best[0][0] in gold[word] for word, best in zip(gold, found, strict=True)])

    return precision
