"""[evaluate] How alike two spaces are, and how hubs lie in them; also before any dictionary.

- hubness: the skewness of N_k(z), how often a word z is among the k nearest of others (Radovanovic
  et al., 2010). Hubs are near everything and translate everything.
- relational similarity: Pearson's correlation of the cosines within one language with those of the
  translations within the other (Vulic et al., 2020). 1 for isometric spaces.
- Laplacian difference: sum of (l_i - m_i)^2 over the smallest eigenvalues of the Laplacians of both
  nearest-neighbour graphs (Soegaard et al., 2018). 0 for isometric spaces.
- singular value gap: sum of (log s_i - log t_i)^2 (Dubossarsky et al., 2020). 0 for isometric
  spaces.

`language_similarity` says what is known of two languages without a dictionary, before a fit:

- seeds: how many pairs the spelling gives: identical words, cognates, numbers in digits.
- relational similarity of cognates, where there are enough of them; Laplacian difference and
  singular value gap of the most frequent words, which need no pairs. All three compare similarities
  *within* each language.
- frequency order: the share of words whose count is not above that of the word before, where counts
  are known; starts by structure take the order of words as that of their frequency.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from geomm_plugin import progress, registry
from geomm_plugin.arrays import Matrix, Vector
from geomm_plugin.embeddings import MIN_FREQUENCY_ORDER, Embeddings, as_embeddings
from geomm_plugin.errors import LanguagesError
from geomm_plugin.evaluation.similarity import correlation
from geomm_plugin.factorization import eigh
from geomm_plugin.fitting.seeds import Language
from geomm_plugin.normalize import Normalizer, unit
from geomm_plugin.retrieval import Cosine, Index
from geomm_plugin.rows import Rows

FAR = 0.4  # relational similarity below which spaces are far from isometric
NEIGHBORS = 10
SMALLEST_SINGULAR_VALUE = 1e-6  # of the largest; smaller ones are no directions of the space
FREQUENT_WORDS = 10_000
RELATED_WORDS = 1000  # whose relations are compared
FEWEST_RELATED = 50  # cognates that a correlation needs
FEW_SEEDS = 100  # pairs by spelling below which self-learning seldom starts from them


@dataclass(frozen=True)
class LanguageSimilarity:
    """How alike two languages are, as far as that needs no dictionary."""

    pair: tuple[str, str]
    words: tuple[int, int]
    seeds: dict[str, int]  # pairs that each seed by spelling finds
    relational_similarity: float | None  # of cognates; None where they are too few
    laplacian_difference: float
    singular_value_gap: float
    frequency_order: dict[str, float | None]  # by language; None where no counts are known

    def row(self) -> dict[str, Any]:
        """Return everything as one JSON object."""
        return {
            "pair": "-".join(self.pair),
            "words": list(self.words),
            **{f"seeds_{name}": count for name, count in self.seeds.items()},
            "relational_similarity": self.relational_similarity,
            "laplacian_difference": self.laplacian_difference,
            "singular_value_gap": self.singular_value_gap,
            "frequency_order": self.frequency_order,
            "advice": self.advice(),
        }

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


def language_similarity(embeddings: Mapping[str, object]) -> list[LanguageSimilarity]:
    """Say for each pair of languages how alike they are, without a dictionary."""
    languages = {name: as_embeddings(value) for name, value in embeddings.items()}
    if len(languages) < 2:
        raise LanguagesError(
            f"Similarity is that of two languages; there are {[*languages]}. Give another one."
        )
    pairs = list(combinations(languages, 2))
    results = []
    with progress.task("Comparing languages", len(pairs), "pairs") as advance:
        for source, target in pairs:
            results.append(_compare(source, target, languages[source], languages[target]))
            advance(1)
    return results


def _compare(source: str, target: str, one: Embeddings, other: Embeddings) -> LanguageSimilarity:
    x, z = centered(one), centered(other)
    here, there = Language(one.words, x), Language(other.words, z)
    seeds = {
        name: seed().pairs(here, there) for name, seed in registry.seeds.items() if seed.by_spelling
    }
    cognates = seeds["cognates"]
    rows, columns = cognates.source[:RELATED_WORDS], cognates.target[:RELATED_WORDS]
    related = (
        relational_similarity(unit(x[rows]), unit(z[columns]))
        if len(rows) >= FEWEST_RELATED
        else None
    )
    count = min(RELATED_WORDS, len(one), len(other))
    return LanguageSimilarity(
        (source, target),
        (len(one), len(other)),
        {name: len(pairs) for name, pairs in seeds.items()},
        related,
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
