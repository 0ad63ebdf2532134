"""Inducing a dictionary: the pairs of words that maps find by themselves, by CSLS.

- `mutual`: the pairs of words that are each other's best translation, each labelled with its CSLS:
  what the maps are sure of counts more.
- `union`: the best translation of every word, in both directions, as the GeoMM paper does; a pair
  found twice counts twice.

Candidates are shortlisted (see `geomm_plugin.retrieval.shortlist`): of the pairs that an exhaustive
search finds, the few that are missed are missed in one round of many. The lists of one search can
serve the next rounds, too.

The mean CSLS of the mutual pairs says how good maps are without a dictionary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from geomm_plugin.arrays import BLOCK_ROWS, Matrix, Vector
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.language_graph import LanguagePair
from geomm_plugin.mapper import Pairs, Vectors
from geomm_plugin.normalize import unit
from geomm_plugin.retrieval.mutual import best_neighbors
from geomm_plugin.retrieval.shortlist import Shortlist
from geomm_plugin.rows import Rows

MIN_LABEL = 1e-3  # CSLS that the label of an induced pair does not fall below

Induction: TypeAlias = Literal["mutual", "union"]


@dataclass(frozen=True)
class Induced:
    """The pairs that maps find by themselves, and the mean CSLS of those that are mutual."""

    pairs: Pairs
    mean_csls: float
    words: int  # most frequent words of each language that were translated
    listed: Mapping[LanguagePair, Shortlist | None]  # among which; none: among all

    def __len__(self) -> int:
        return sum(len(pairs) for pairs in self.pairs.values())


def induce(
    vectors: Vectors,
    maps: Mapping[str, Matrix],
    edges: Sequence[LanguagePair],
    words: int,
    induction: Induction,
    listed: Mapping[LanguagePair, Shortlist | None] | None = None,
) -> Induced:
    """Translate the most frequent words of each pair of languages, in tiles, and pair them up.

    Parameters
    ----------
    listed
        What an earlier search among the same words listed; by default they are searched anew.
    """
    languages = {language for edge in edges for language in edge}
    mapped = {name: _unit_rows(vectors[name], maps[name], words) for name in languages}
    pairs: dict[LanguagePair, RowPairs] = {}
    means = []
    if listed is None:
        listed = {(s, t): Shortlist.search(mapped[s], mapped[t]) for s, t in edges}
    for source, target in edges:
        own, x, z = listed[source, target], mapped[source], mapped[target]
        best = best_neighbors(x, z) if own is None else own.best(x, z)
        rows, columns, scores = best.mutual()
        labels = soft_labels(scores) if induction == "mutual" else None
        if induction == "union":
            rows = np.concatenate([np.arange(len(best.forth)), best.back])
            columns = np.concatenate([best.forth, np.arange(len(best.back))])
        pairs[source, target] = RowPairs(rows, columns, labels=labels)
        means.append(float(scores.mean()) if len(scores) else -1.0)
    return Induced(pairs, float(np.mean(means)), words, listed)


def soft_labels(scores: Vector) -> Vector:
    """Return labels in proportion to CSLS, 1 on average."""
    labels: Vector = np.maximum(scores, MIN_LABEL)
    return labels / labels.mean() if len(labels) else labels


def _unit_rows(vectors: Rows, matrix: Matrix, words: int) -> Matrix:
    mapped = np.empty((min(words, len(vectors)), matrix.shape[1]), np.float32)
    narrow = matrix.astype(np.float32)
    for start in range(0, len(mapped), BLOCK_ROWS):
        part = slice(start, min(start + BLOCK_ROWS, len(mapped)))
        mapped[part] = unit(vectors[part] @ narrow)
    return mapped


def join_mutual(dictionary: RowPairs, induced: RowPairs) -> RowPairs:
    """Return the pairs of both, each once; those of the dictionary keep their label."""
    both = join_all(dictionary, induced)
    _, first = np.unique(np.stack([both.source, both.target]), axis=1, return_index=True)
    return both.take(first)


def join_all(dictionary: RowPairs, induced: RowPairs) -> RowPairs:
    """Return the pairs of both; what is found twice counts twice."""
    parts = (dictionary, induced)
    hard = all(part.labels is None for part in parts)
    return RowPairs(
        np.concatenate([part.source for part in parts]),
        np.concatenate([part.target for part in parts]),
        labels=None if hard else np.concatenate([part.label() for part in parts]),
        induced=np.arange(len(dictionary) + len(induced)) >= len(dictionary),
    )
