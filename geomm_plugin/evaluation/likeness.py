"""[evaluate] What is known of two languages without any dictionary, before a fit.

- seeds: how many pairs the spelling gives: identical words, cognates, numbers in digits.
- relational similarity of the words that are spelt alike (see evaluation.isometry), where there are
  enough of them; Laplacian difference and singular value gap of the most frequent words, which need
  no pairs. All three compare similarities *within* each language.
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
from geomm_plugin.embeddings import MIN_FREQUENCY_ORDER, Embeddings, as_embeddings
from geomm_plugin.errors import LanguagesError
from geomm_plugin.evaluation.isometry import (
    FAR,
    centered,
    laplacian_difference,
    relational_similarity,
    singular_value_gap,
)
from geomm_plugin.fitting.seeds import Language
from geomm_plugin.normalize import unit

FREQUENT_WORDS = 10_000
RELATED_WORDS = 1000  # whose relations are compared
FEWEST_RELATED = 50  # pairs spelt alike that a correlation needs
FEW_SEEDS = 100  # pairs by spelling below which self-learning seldom starts from them


@dataclass(frozen=True)
class Likeness:
    """How alike two languages are, as far as no dictionary is needed to tell."""

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


def likeness(embeddings: Mapping[str, object]) -> list[Likeness]:
    """Say for each pair of languages how alike they are, without a dictionary."""
    languages = {name: as_embeddings(value) for name, value in embeddings.items()}
    if len(languages) < 2:
        raise LanguagesError(
            f"Likeness is that of two languages; there are {[*languages]}. Give another one."
        )
    pairs = list(combinations(languages, 2))
    results = []
    with progress.task("Comparing languages", total=len(pairs)) as advance:
        for source, target in pairs:
            results.append(_compare(source, target, languages[source], languages[target]))
            advance(1)
    return results


def _compare(source: str, target: str, one: Embeddings, other: Embeddings) -> Likeness:
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
    return Likeness(
        (source, target),
        (len(one), len(other)),
        {name: len(pairs) for name, pairs in seeds.items()},
        related,
        laplacian_difference(unit(x[:count]), unit(z[:count])),
        singular_value_gap(np.asarray(x[:FREQUENT_WORDS]), np.asarray(z[:FREQUENT_WORDS])),
        {source: one.frequency_order(), target: other.frequency_order()},
    )
