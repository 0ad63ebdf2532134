"""[evaluate] Cross-lingual word similarity: how far cosines agree with what people say.

SemEval-2017 task 2 (Camacho-Collados et al.): word, word, human score. Reported are Pearson's and
Spearman's correlations of the scores with the cosines in the shared space.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import DictionaryError
from geomm_plugin.files.text_lines import read_lines, split_columns
from geomm_plugin.registry.parameters import plain_number
from geomm_plugin.shared_space import SharedSpace

ScoredPairs: TypeAlias = list[tuple[str, str, float]]


@dataclass(frozen=True)
class SimilarityEvaluation:
    """How well cosines agree with human scores."""

    pair: tuple[str, str]
    pearson: float
    spearman: float
    coverage: float
    n_pairs: int

    def row(self) -> dict[str, Any]:
        """Return the numbers as one JSON object."""
        return {
            "pair": "-".join(self.pair),
            "task": "similarity",
            "pearson": self.pearson,
            "spearman": self.spearman,
            "coverage": self.coverage,
            "n_pairs": self.n_pairs,
        }


def read_similarity(path: str | Path) -> ScoredPairs:
    """Read word, word and score, separated by tabs (or by spaces, where there is no tab)."""
    pairs: ScoredPairs = []
    for number, line in enumerate(read_lines(Path(path)), start=1):
        columns = split_columns(line)
        if not columns:
            continue
        score = plain_number(columns[-1])
        if len(columns) == 3 and all(columns) and score is not None:
            pairs.append((columns[0], columns[1], score))
        else:
            shown = str(columns)
            raise DictionaryError(
                f"{path}, line {number}: expected a word, a word and a number, found "
                f"{shown if len(shown) <= 200 else shown[:200] + '...'}. "
                "Separate the columns by tabs."
            )
    return pairs


def evaluate_similarity(
    space: Mapping[str, object],
    source: str,
    target: str,
    pairs: Iterable[tuple[str, str, float]],
) -> SimilarityEvaluation:
    """Correlate the cosines of word pairs with their scores.

    A word that the vocabulary does not hold as it is spelt is looked up in lower case.
    """
    space = space if isinstance(space, SharedSpace) else SharedSpace(space)
    pairs = list(pairs)
    known = [
        (here, there, score)
        for source_word, target_word, score in pairs
        if (here := find_row(space[source], source_word)) is not None
        and (there := find_row(space[target], target_word)) is not None
    ]
    if len(known) < 3:
        raise DictionaryError(
            f"Only {len(known)} of the {len(pairs)} scored pairs are in both vocabularies "
            f"({source}, {target}); a correlation needs at least 3. Check the language order."
        )
    x = space.unit_rows(source).rows(np.array([here for here, _, _ in known])).astype(np.float64)
    z = space.unit_rows(target).rows(np.array([there for _, there, _ in known])).astype(np.float64)
    cosines = np.einsum("ij,ij->i", x, z)
    scores = np.array([score for _, _, score in known])
    return SimilarityEvaluation(
        (source, target),
        correlation(cosines, scores),
        correlation(rank_data(cosines), rank_data(scores)),
        len(known) / len(pairs),
        len(known),
    )


def find_row(embeddings: Embeddings, word: str) -> int | None:
    """Return the row of a word as it is spelt, or else in lower case."""
    row = embeddings.row_of.get(word)
    return embeddings.row_of.get(word.lower()) if row is None else row


def correlation(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> float:
    """Return Pearson's correlation; 0 where one side does not vary."""
    x, y = x - x.mean(), y - y.mean()
    scale = np.sqrt((x @ x) * (y @ y))
    return float(x @ y / scale) if scale > 1e-300 else 0.0


def rank_data(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the ranks of values; equal ones share their mean rank."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    ranks: np.ndarray[Any, Any] = (last - (count - 1) / 2)[place]
    return ranks
