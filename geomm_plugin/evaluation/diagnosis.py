"""[evaluate] Why an alignment is good or bad, or, without a dictionary, may become so.

- hubness: the skewness of N_k(z), how often a word z is among the k nearest of others (Radovanovic
  et al., 2010). Hubs are near everything and translate everything.
- relational similarity: Pearson's correlation of the cosines within one language with those of the
  translations within the other (Vulic et al., 2020). 1 for isometric spaces.
- Laplacian difference: sum of (l_i - m_i)^2 over the smallest eigenvalues of the Laplacians of both
  nearest-neighbour graphs (Soegaard et al., 2018). 0 for isometric spaces.
- singular value gap: sum of (log s_i - log t_i)^2 (Dubossarsky et al., 2020). 0 for isometric
  spaces.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from geomm_plugin import progress, registry
from geomm_plugin.arrays import Matrix, RowIndices, Vector
from geomm_plugin.dictionary import (
    Dictionaries,
    Dictionary,
    RowPairs,
    as_dictionaries,
    check_key,
    row_pairs,
)
from geomm_plugin.embeddings import MIN_FREQUENCY_ORDER, Embeddings, as_embeddings
from geomm_plugin.errors import DictionaryError, LanguagesError
from geomm_plugin.evaluation.similarity import correlation
from geomm_plugin.factorization import eigh
from geomm_plugin.mapper import Mapper
from geomm_plugin.normalize import Normalizer, unit
from geomm_plugin.registry import as_mapper
from geomm_plugin.retrieval import CSLS, Cosine, Index
from geomm_plugin.rows import Rows

FAR = 0.4  # relational similarity below which spaces are far from isometric
NEIGHBORS = 10
SMALLEST_SINGULAR_VALUE = 1e-6  # of the largest; smaller ones are no directions of the space
FREQUENT_WORDS = 10_000  # of each language that hubs are looked for among
RELATED_WORDS = 1000  # whose relations are compared
FEWEST_RELATED = 50  # cognates that a correlation needs
FEW_SEEDS = 100  # pairs by spelling below which self-learning seldom starts from them
FOLDS = 5
MAX_IDENTICAL_SHARE = 0.2  # of a dictionary's pairs, above which the advice says so
SUSPICIOUS_BELOW_MEDIAN = 3.0  # robust standard deviations


@dataclass(frozen=True)
class SuspiciousPair:
    """A pair of the dictionary that the other pairs contradict: far apart, another one nearer."""

    source: str
    target: str
    cosine: float  # after a fit without this pair
    suggestion: str  # the best translation of the source word in that fit; never the target


@dataclass(frozen=True)
class _Found(ABC):
    pair: tuple[str, str]

    @abstractmethod
    def advice(self) -> list[str]:
        """Return what the numbers suggest, in sentences."""

    def row(self) -> dict[str, Any]:
        """Return everything as one JSON object; of hubness and of seeds each number by itself."""
        row: dict[str, Any] = {}
        for field, value in vars(self).items():
            if field in ("hubness", "seeds"):
                row |= {f"{field}_{name}": number for name, number in value.items()}
            elif field == "suspicious":
                row["suspicious_pairs"] = [vars(pair) for pair in value]
            else:
                row[field] = list(value) if field == "words" else value
        return row | {"pair": "-".join(self.pair), "advice": self.advice()}


@dataclass(frozen=True)
class Diagnosis(_Found):
    """What may explain the alignment of one pair of languages."""

    n_pairs: int  # pairs in both vocabularies
    coverage: float  # share of the dictionary's source words that have such a pair
    missing_source: int
    missing_target: int
    identical: float  # share of the dictionary's pairs that are one word twice: names, numbers
    found_in_lower_case: int  # missing words that the vocabulary holds in lower case
    hubness: dict[str, float]  # "source", "target" by themselves; "cosine", "csls" when mapped
    relational_similarity: float
    laplacian_difference: float
    singular_value_gap: float
    suspicious: tuple[SuspiciousPair, ...]

    def advice(self) -> list[str]:
        """Return what the numbers suggest, in sentences."""
        advice = []
        if self.coverage < 0.7:
            advice.append(
                f"Only {self.coverage:.0%} of the dictionary's source words have a pair in both "
                "vocabularies. Read more words, or check the language order, letter case and "
                "tokenization."
            )
        if self.found_in_lower_case:
            advice.append(
                f"{self.found_in_lower_case} missing words are there in lower case. Lower-case "
                "the dictionary."
            )
        if self.identical > MAX_IDENTICAL_SHARE:
            advice.append(
                f"{self.identical:.0%} of the pairs are the same word twice, such as names, which "
                "are easy to translate. Look at scores by spelling (--by spelling)."
            )
        if self.n_pairs < 500:
            advice.append(
                f"{self.n_pairs} pairs are few. Add identical words, or use a mapper that extends "
                "its dictionary, such as geomm_semi."
            )
        if self.hubness["cosine"] > 2 * max(self.hubness["csls"], 0.5):
            advice.append(
                f"Hubs: skewness {self.hubness['cosine']:.1f} by cosine, "
                f"{self.hubness['csls']:.1f} by CSLS. Retrieve by CSLS."
            )
        if self.relational_similarity < FAR:
            advice.append(
                f"The spaces are far from isometric (relational similarity "
                f"{self.relational_similarity:.2f}). A rotation will not do; use a mapper that "
                "learns a metric, such as geomm, and expect less."
            )
        if len(self.suspicious) > 0.02 * self.n_pairs:
            advice.append(
                f"{len(self.suspicious)} pairs contradict the others. Look through them, and take "
                "out what is wrong."
            )
        return advice


@dataclass(frozen=True)
class LanguageSimilarity(_Found):
    """How alike two languages are, as far as that needs no dictionary.

    The relational similarity is that of cognates; Laplacian difference and singular value gap of
    the most frequent words need no pairs. The frequency order is the share of words whose count is
    not above that of the word before: starts by structure take the order of words as frequency.
    """

    words: tuple[int, int]
    seeds: dict[str, int]  # pairs that each seed by spelling finds
    relational_similarity: float | None  # of cognates; None where they are too few
    laplacian_difference: float
    singular_value_gap: float
    frequency_order: dict[str, float | None]  # by language; None where no counts are known

    def advice(self) -> list[str]:
        """Return what the numbers suggest, in sentences."""
        alike = max(self.seeds["cognates"], self.seeds["identical"])
        advice = [
            f"Words spelt alike are many enough to start from ({alike}): geomm_unsup takes them."
            if alike >= FEW_SEEDS
            else f"Hardly any words are spelt alike ({alike}): a fit without a dictionary can rely "
            "on structure only. A dictionary of a hundred pairs (geomm_plus) is worth more."
        ]
        if self.relational_similarity is not None and self.relational_similarity < FAR:
            advice.append(
                f"The spaces are far from isometric (relational similarity "
                f"{self.relational_similarity:.2f} among cognates). Expect little of structure "
                "alone, and look at `recover` after the fit."
            )
        for language, order in self.frequency_order.items():
            if order is not None and order < MIN_FREQUENCY_ORDER:
                advice.append(
                    f"The words of {language} are not in the order of their counts. Sort them, or "
                    "fit with seeds=gromov_wasserstein:frequency=0."
                )
        return advice


def diagnose(
    embeddings: Mapping[str, object],
    dictionaries: Dictionaries,
    mapper: str | Mapper = "procrustes",
    *,
    seed: int = 0,
    words: int = FREQUENT_WORDS,
) -> list[Diagnosis]:
    """Say for each dictionary what may explain a good or a bad alignment.

    Parameters
    ----------
    mapper
        Aligns each pair, to see the hubs of the shared space and the pairs that do not fit in.
    words
        How many frequent words of each language hubs and suggestions are looked for among.
    """
    languages = {name: as_embeddings(value) for name, value in embeddings.items()}
    chosen = as_mapper(mapper)
    given = as_dictionaries(dictionaries)
    for key in given:
        check_key(key, languages)
    return [
        _Case(pair, languages, dictionary, chosen, words).diagnose(seed)
        for pair, dictionary in progress.over("Diagnosing", list(given.items()), "pairs")
    ]


@dataclass(frozen=True)
class _Case:
    """One pair of languages and its dictionary."""

    pair: tuple[str, str]
    embeddings: Mapping[str, Embeddings]
    dictionary: Dictionary
    mapper: Mapper
    words: int

    def diagnose(self, seed: int) -> Diagnosis:
        """Look at the dictionary, at both spaces, and at a mapping between them."""
        source, target = (self.embeddings[language] for language in self.pair)
        pairs = row_pairs(self.dictionary, source, target)
        if len(pairs) < 2 * FOLDS:
            raise DictionaryError(
                f"Only {len(pairs)} of the {len(self.dictionary)} pairs are in both vocabularies "
                f"({', '.join(self.pair)}); a diagnosis needs {2 * FOLDS}. Check the "
                "language order and the letter case of the dictionary."
            )
        fitted = self._fit(self.dictionary)
        x, z = (
            self._mapped(fitted, language, slice(self.words)).astype(np.float32)
            for language in self.pair
        )
        here, there = centered(source), centered(target)
        rows, columns = _one_to_one(pairs, seed)
        related = unit(here[rows]), unit(there[columns])
        return Diagnosis(
            self.pair,
            len(pairs),
            len(np.unique(pairs.source)) / len({word for word, _ in self.dictionary}),
            len(pairs.missing_source),
            len(pairs.missing_target),
            sum(word == other for word, other in self.dictionary) / len(self.dictionary),
            sum(word.lower() in source for word in pairs.missing_source)
            + sum(word.lower() in target for word in pairs.missing_target),
            {
                "source": own_hubness(unit(here[: self.words])),
                "target": own_hubness(unit(there[: self.words])),
                "cosine": hubness(Cosine().index(x, z), x, len(z)),
                "csls": hubness(CSLS().index(x, z), x, len(z)),
            },
            relational_similarity(*related),
            laplacian_difference(*related),
            singular_value_gap(here[: self.words], there[: self.words]),
            self._suspicious(pairs, seed),
        )

    def _fit(self, dictionary: Dictionary) -> Mapper:
        two = {language: self.embeddings[language] for language in self.pair}
        return self.mapper.clone().fit(two, {self.pair: dictionary})

    def _mapped(self, fitted: Mapper, language: str, rows: RowIndices | slice) -> Matrix:
        return unit(fitted.transform(language, self.embeddings[language].vectors[rows]))

    def _suspicious(self, pairs: RowPairs, seed: int) -> tuple[SuspiciousPair, ...]:
        """Fit without a fifth of the pairs at a time; list those that come out far apart.

        A pair whose own target is the best translation is right, however far apart.
        """
        (source, target), here, there = self.pair, pairs.source, pairs.target
        x_words, z_words = (self.embeddings[language].words for language in self.pair)
        words = [(x_words[i], z_words[j]) for i, j in zip(here, there, strict=True)]
        fold = np.random.default_rng(seed).permutation(len(pairs)) % FOLDS
        cosines, best = np.empty(len(pairs)), np.empty(len(pairs), np.intp)
        for number in range(FOLDS):
            out = np.flatnonzero(fold == number)
            fitted = self._fit(Dictionary(words[i] for i in np.flatnonzero(fold != number)))
            x = self._mapped(fitted, source, here[out])
            z = self._mapped(fitted, target, there[out])
            cosines[out] = np.einsum("ij,ij->i", x, z)
            targets = np.union1d(np.arange(min(self.words, len(z_words))), there[out])
            index = CSLS().index(
                self._mapped(fitted, source, slice(self.words)).astype(np.float32),
                self._mapped(fitted, target, targets).astype(np.float32),
            )
            best[out] = targets[index.search(x.astype(np.float32), 1).indices[:, 0]]
        median = np.median(cosines)
        spread = 1.4826 * np.median(np.abs(cosines - median))
        low = (cosines < median - SUSPICIOUS_BELOW_MEDIAN * spread) & (best != there)
        return tuple(
            SuspiciousPair(words[i][0], words[i][1], float(cosines[i]), z_words[best[i]])
            for i in np.argsort(cosines)
            if low[i]
        )


def _one_to_one(pairs: RowPairs, seed: int) -> tuple[RowIndices, RowIndices]:
    """Return up to RELATED_WORDS pairs, drawn by chance, in which no word stands twice."""
    sources: set[int] = set()
    targets: set[int] = set()
    chosen = []
    for number in np.random.default_rng(seed).permutation(len(pairs)):
        here, there = int(pairs.source[number]), int(pairs.target[number])
        if here not in sources and there not in targets:
            sources.add(here)
            targets.add(there)
            chosen.append(number)
    rows = np.sort(np.array(chosen[:RELATED_WORDS]))
    return pairs.source[rows], pairs.target[rows]


def language_similarity(embeddings: Mapping[str, object]) -> list[LanguageSimilarity]:
    """Say for each pair of languages how alike they are, without a dictionary."""
    languages = {name: as_embeddings(value) for name, value in embeddings.items()}
    if len(languages) < 2:
        raise LanguagesError(
            f"Similarity is that of two languages; there are {[*languages]}. Give another one."
        )
    pairs = list(combinations(languages, 2))
    return [
        _compare(*pair, *(languages[language] for language in pair))
        for pair in progress.over("Comparing languages", pairs, "pairs")
    ]


def _compare(source: str, target: str, one: Embeddings, other: Embeddings) -> LanguageSimilarity:
    x, z = centered(one), centered(other)
    here, there = Embeddings(one.words, x), Embeddings(other.words, z)
    seeds = {
        name: seed().pairs(here, there) for name, seed in registry.seeds.items() if seed.by_spelling
    }
    cognates = seeds["cognates"].take(np.arange(min(RELATED_WORDS, len(seeds["cognates"]))))
    count = min(RELATED_WORDS, len(one), len(other))
    related = unit(x[cognates.source]), unit(z[cognates.target])
    return LanguageSimilarity(
        (source, target),
        (len(one), len(other)),
        {name: len(pairs) for name, pairs in seeds.items()},
        relational_similarity(*related) if len(cognates) >= FEWEST_RELATED else None,
        laplacian_difference(unit(x[:count]), unit(z[:count])),
        singular_value_gap(np.asarray(x[:FREQUENT_WORDS]), np.asarray(z[:FREQUENT_WORDS])),
        {source: one.frequency_order(), target: other.frequency_order()},
    )


def centered(embeddings: Embeddings) -> Rows:
    """Return unit vectors less their mean, made when rows are asked for: a few of a vocabulary."""
    vectors = embeddings.vectors
    return Normalizer(("unit", "center")).fit({"": vectors}).view("", vectors)


def hubness(index: Index, queries: Matrix, targets: int, k: int = NEIGHBORS) -> float:
    """Return the skewness of how often each target is among the k best of the queries."""
    nearest = index.search(queries, k).indices
    return skewness(np.bincount(nearest.ravel(), minlength=targets))


def own_hubness(vectors: Matrix, k: int = NEIGHBORS) -> float:
    """Return the skewness of how often each word is among the k nearest others of its language."""
    nearest = Cosine().index(vectors, vectors).search(vectors, k + 1).indices
    others = nearest[nearest != np.arange(len(vectors))[:, None]]
    return skewness(np.bincount(others, minlength=len(vectors)))


def skewness(values: np.ndarray[Any, Any]) -> float:
    """Return E[(v - mean)^3] / deviation^3; 0 where nothing varies."""
    from scipy.stats import skew

    return float(skew(values)) if np.ptp(values) > 0 else 0.0


def relational_similarity(x: Matrix, z: Matrix) -> float:
    """Return the correlation of cosines among words with those among their translations."""
    upper = np.triu_indices(len(x), 1)
    return correlation((x @ x.T)[upper].astype(np.float64), (z @ z.T)[upper].astype(np.float64))


def laplacian_difference(x: Matrix, z: Matrix, k: int = NEIGHBORS) -> float:
    """Return the squared difference of the smallest Laplacian eigenvalues of both graphs.

    As many as hold 90 % of the sum in the graph that needs fewer.
    """
    first, second = laplacian_spectrum(x, k), laplacian_spectrum(z, k)
    count = min(
        int(np.searchsorted(np.cumsum(values), 0.9 * values.sum())) + 1
        for values in (first, second)
    )
    return float(((first[:count] - second[:count]) ** 2).sum())


def laplacian_spectrum(vectors: Matrix, k: int) -> Vector:
    """Return the eigenvalues of the Laplacian of the graph of mutual or single k-neighbours."""
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -np.inf)
    k = min(k, len(vectors) - 1)
    near = np.argpartition(cosines, -k, axis=1)[:, -k:]
    graph = np.zeros(cosines.shape)
    np.put_along_axis(graph, near, 1, axis=1)
    graph = np.maximum(graph, graph.T)
    values, _ = eigh(np.diag(graph.sum(axis=1)) - graph)
    return values


def singular_value_gap(x: Matrix, z: Matrix) -> float:
    """Return the sum of squared differences of the logarithms of both spectra.

    Each spectrum is divided by its largest value, and cut where either vanishes.
    """
    first, second = _singular_values(x), _singular_values(z)
    count = min(len(first), len(second))
    large = (first[:count] > SMALLEST_SINGULAR_VALUE) & (second[:count] > SMALLEST_SINGULAR_VALUE)
    return float(((np.log(first[:count][large]) - np.log(second[:count][large])) ** 2).sum())


def _singular_values(vectors: Matrix) -> Vector:
    values, _ = eigh((vectors.T @ vectors).astype(np.float64))
    roots: Vector = np.sqrt(np.maximum(values[::-1], 0))
    return roots / max(float(roots[0]), 1e-300)
