"""[evaluate] How alike two spaces are, and how hubs lie in them.

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

from typing import Any

import numpy as np

from geomm_plugin.arrays import Matrix, Vector
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.evaluation.similarity import correlation
from geomm_plugin.factorization import eigh
from geomm_plugin.normalize import Normalizer
from geomm_plugin.retrieval import Cosine, Index
from geomm_plugin.rows import Rows

FAR = 0.4  # relational similarity below which spaces are far from isometric
NEIGHBORS = 10
SMALLEST_SINGULAR_VALUE = 1e-6  # of the largest; smaller ones are no directions of the space


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
    centered = values - values.mean()
    deviation = np.sqrt(np.mean(centered**2))
    return float(np.mean(centered**3) / deviation**3) if deviation > 0 else 0.0


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
