"""Pairs by structure: words whose similarities within their own language are most alike.

With X the n most frequent words, centered, K = XX', F = X (X'X)^((p-1)/2), so that F F' = K^p (the
root, p = 1/2, holds the directions back that frequency and topic fill), and the profile of a word
its row of K^p, sorted, in few quantiles, and normalized:

- `sorted_rows`: the best by CSLS of the profiles, both ways. Artetxe, Labaka, Agirre: "A robust
  self-learning method for fully unsupervised cross-lingual mappings of word embeddings", ACL 2018.
- `gromov_wasserstein`: the mutual largest entries of a fused coupling of the most frequent words,

    max over couplings P of   ||F' P H||^2 / std + <P, L>  + eps entropy(P)
    L = frequency (-|log(i + 10) - log(j + 10)|) + profile cosine(profile_i, profile_j)
        + spelling g(i, j)

  F and H of both languages; L says how likely a pair is before any structure is compared, each term
  over its standard deviation, with i, j the ranks of the words and g how similar their spelling is.
  Solved by M = F' P H, P = Sinkhorn((F M H' / std + L) / eps), with eps falling from 1 to 0.05.
  Alvarez-Melis and Jaakkola: "Gromov-Wasserstein Alignment of Word Embedding Spaces", EMNLP 2018,
  for the problem; the prior by frequency and the root are this package's own (docs, "No
  dictionary?").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.factorization import eigh
from geomm_plugin.fitting.moments import finite
from geomm_plugin.fitting.seeds.seed import Seed, frequent, mutual_best, weighted_pairs
from geomm_plugin.fitting.seeds.spelling import MIN_RAISED, RAISED_PER_WORD, alike_rows
from geomm_plugin.normalize import unit
from geomm_plugin.registry.parameters import AtLeast, Within
from geomm_plugin.retrieval import best_neighbors

RELATIVE_RANK_TOLERANCE = 1e-10  # least weight of a direction, as a part of the heaviest
QUANTILES = 300  # numbers that a profile is cut down to
SWEEPS = 10  # of Sinkhorn, for each coupling
WARMEST, COLDEST = 1.0, 0.05  # eps at the first and the last step
RANK_OFFSET = 10.0  # ranks below it hardly differ


@dataclass(kw_only=True, eq=False, repr=False)
class SortedRows(Seed):
    """Pair words that have alike neighbourhoods, by the sorted rows of the root of XX'."""

    name: ClassVar[str] = "sorted_rows"

    words: Annotated[int, AtLeast(2)] = 4000  # most frequent words of each language
    power: Annotated[float, Within(0, 1)] = 0.5  # p of the kernels K^p

    def pairs(self, source: Embeddings, target: Embeddings) -> RowPairs:
        """Return the best by CSLS in both directions; found both ways, a pair counts twice."""
        count = min(self.words, len(source), len(target))
        x = _shape(frequent(source, count), self.power)
        z = _shape(frequent(target, count), self.power)
        best = best_neighbors(x, z)
        rows = np.concatenate([np.arange(len(best.forth)), best.back])
        columns = np.concatenate([best.forth, np.arange(len(best.back))])
        return weighted_pairs(rows, columns, np.ones(len(rows)))


def _shape(vectors: Matrix, power: float) -> Matrix:
    return profiles(factor(vectors, power), len(vectors))


def factor(vectors: Matrix, power: float = 0.5, center: bool = True) -> Matrix:
    """Return F with F F' = K^power of the rows, centered or as they are, in float32."""
    rows = vectors.astype(np.float64)
    if center:
        rows = rows - rows.mean(axis=0)
    values, basis = eigh(finite(rows.T @ rows))
    largest = values.max(initial=0)
    if largest <= 0:
        return np.zeros(rows.shape, np.float32)
    scale = np.maximum(values, largest * RELATIVE_RANK_TOLERANCE) ** ((power - 1) / 2)
    factors: Matrix = (rows @ ((basis * scale) @ basis.T)).astype(np.float32)
    return factors


def profiles(factors: Matrix, quantiles: int = QUANTILES) -> Matrix:
    """Return the sorted similarities of each word with all others, cut down and normalized."""
    count = len(factors)
    edges = np.unique(np.linspace(0, count, min(quantiles, count) + 1).astype(int))
    similarities = factors @ factors.T
    similarities.sort(axis=1)
    means = np.add.reduceat(similarities, edges[:-1], axis=1)
    means /= np.diff(edges).astype(np.float32)
    rows = unit(means)
    return unit(rows - rows.mean(axis=0)).astype(np.float32)


@dataclass(kw_only=True, eq=False, repr=False)
class GromovWasserstein(Seed):
    """Couple the most frequent words so that similar words have similar partners."""

    name: ClassVar[str] = "gromov_wasserstein"

    words: Annotated[int, AtLeast(2)] = 1000  # most frequent words of each language
    power: Annotated[float, Within(0, 1)] = 0.5  # p of the kernels K^p
    frequency: Annotated[float, AtLeast(0)] = 0.3  # weight of the ranks; 0 switches them off
    profile: Annotated[float, AtLeast(0)] = 0.3  # weight of the sorted similarities
    spelling: Annotated[float, AtLeast(0)] = 0.0  # weight of the letters; 0: structure alone
    steps: Annotated[int, AtLeast(1)] = 60

    def pairs(self, source: Embeddings, target: Embeddings) -> RowPairs:
        """Return the mutual largest entries of the coupling, weighted by these."""
        count = min(self.words, len(source), len(target))
        F = factor(frequent(source, count), self.power)
        H = factor(frequent(target, count), self.power)
        prior = self.prior(F, H)
        if self.spelling:
            here, there, cosines = alike_rows(
                source.words[:count], target.words[:count], MIN_RAISED, RAISED_PER_WORD
            )
            prior[here, there] += np.float32(self.spelling) * cosines
        coupling = couple(F, H, prior, self.steps)
        rows, columns = mutual_best(coupling)
        return weighted_pairs(rows, columns, coupling[rows, columns])

    def prior(self, F: Matrix, H: Matrix) -> Matrix:
        """Return L, how likely each pair is by rank and by profile."""
        prior = np.zeros((len(F), len(H)), np.float32)
        if self.frequency:
            prior += np.float32(self.frequency) * in_deviations(rank_distance(len(F), len(H)))
        if self.profile:
            prior += np.float32(self.profile) * in_deviations(profiles(F) @ profiles(H).T)
        return prior


def couple(F: Matrix, H: Matrix, prior: Matrix, steps: int) -> Matrix:
    """Return the coupling, annealed from the prior alone to a sharp one."""
    coupling = sinkhorn(in_deviations(prior))
    for step in range(steps):
        cooled = step / (steps - 1) if steps > 1 else 1.0
        eps = np.float32(WARMEST * (COLDEST / WARMEST) ** cooled)
        agreement = in_deviations((F @ ((F.T @ coupling) @ H)) @ H.T)
        agreement += prior
        agreement /= eps
        coupling = sinkhorn(agreement)
    return coupling


def sinkhorn(scores: Matrix, sweeps: int = SWEEPS) -> Matrix:
    """Return exp(scores) with rows and columns scaled to sum to (nearly) 1."""
    kernel: Matrix = np.exp(scores - scores.max(axis=1, keepdims=True))
    row_scale = np.ones(len(kernel), kernel.dtype)
    tiny = np.finfo(kernel.dtype).tiny
    share = np.asarray(len(kernel) / kernel.shape[1], kernel.dtype)
    for _ in range(sweeps):
        column_scale = share / np.maximum(row_scale @ kernel, tiny)
        row_scale = 1 / np.maximum(kernel @ column_scale, tiny)
    kernel *= row_scale[:, None]
    kernel *= column_scale
    return kernel


def in_deviations(scores: Matrix) -> Matrix:
    """Return scores in units of their standard deviation; constant ones stay as they are."""
    deviation = float(scores.std())
    if deviation > 0 and np.isfinite(deviation):
        scores = scores / np.float32(deviation)
    return scores.astype(np.float32, copy=False)


def rank_distance(rows: int, columns: int) -> Matrix:
    """Return -|log rank - log rank|: words that are about as frequent are likelier translations."""
    source, target = (np.log(np.arange(count) + RANK_OFFSET) for count in (rows, columns))
    distance: Matrix = -np.abs(source[:, None] - target)
    return distance
