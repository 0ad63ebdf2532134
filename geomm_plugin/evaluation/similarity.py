"""[evaluate] Cross-lingual word similarity: how far cosines agree with what people say.

SemEval-2017 task 2 (Camacho-Collados et al.): word, word, human score. Reported are Pearson's and
Spearman's correlations of the scores with the cosines in the shared space.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeAlias

import numpy as np

from geomm_plugin.arrays import Vector
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import DictionaryError
from geomm_plugin.evaluation.task import WordScore, WordTask, as_space
from geomm_plugin.files.text_lines import read_lines, split_columns
from geomm_plugin.registry.parameters import plain_number
from geomm_plugin.shared_space import SharedSpace

ScoredPairs: TypeAlias = list[tuple[str, str, float]]
SMALLEST_RANGE = 1e-12  # of the largest value: less is rounding


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
            raise DictionaryError(
                f"{path}, line {number}: expected a word, a word and a number, found "
                f"{str(columns)[:200]}. Separate the columns by tabs."
            )
    return pairs


@dataclass(frozen=True, eq=False, repr=False)
class Similarity(WordTask):
    """The agreement of cosines with human scores, for pairs of languages.

    A word that the vocabulary does not hold as it is spelt is looked up in lower case.
    """

    name: ClassVar[str] = "similarity"
    of_pairs: ClassVar[bool] = True
    read = staticmethod(read_similarity)

    tests: Mapping[tuple[str, str], Iterable[tuple[str, str, float]]]

    def score(self, space: Mapping[str, object]) -> list[WordScore]:
        """Correlate the cosines of each pair of languages with the scores."""
        space = as_space(space)
        return [_correlated(space, *pair, list(test)) for pair, test in self.tests.items()]


def _correlated(space: SharedSpace, source: str, target: str, pairs: ScoredPairs) -> WordScore:
    from scipy.stats import rankdata

    rows = [
        (find_row(space[source], here), find_row(space[target], there), score)
        for here, there, score in pairs
    ]
    known = [row for row in rows if None not in row]
    if len(known) < 3:
        raise DictionaryError(
            f"Only {len(known)} of the {len(pairs)} scored pairs are in both vocabularies "
            f"({source}, {target}); a correlation needs at least 3. Check the language order."
        )
    here, there, scores = map(np.array, zip(*known, strict=True))
    x, z = space.unit_rows(source).take(here), space.unit_rows(target).take(there)
    cosines = np.einsum("ij,ij->i", x.astype(np.float64), z.astype(np.float64))
    return WordScore(
        Similarity.name,
        {"pair": f"{source}-{target}", "task": Similarity.name},
        {
            "pearson": correlation(cosines, scores),
            "spearman": correlation(rankdata(cosines), rankdata(scores)),
        },
        details={"coverage": len(known) / len(pairs), "n_pairs": len(known)},
    )


def find_row(embeddings: Embeddings, word: str) -> int | None:
    """Return the row of a word as it is spelt, or else in lower case."""
    row = embeddings.row_of.get(word)
    return embeddings.row_of.get(word.lower()) if row is None else row


def correlation(x: Vector, y: Vector) -> float:
    """Return Pearson's correlation; 0 where one side does not vary by more than rounding."""
    from scipy.stats import pearsonr

    if any(np.ptp(side) <= SMALLEST_RANGE * np.abs(side).max() for side in (x, y)):
        return 0.0
    return float(pearsonr(x, y).statistic)
