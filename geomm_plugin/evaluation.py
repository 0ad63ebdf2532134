"""[evaluate] Bilingual lexicon induction: how many words find their translation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from geomm_plugin import registry
from geomm_plugin.errors import DictionaryError
from geomm_plugin.retrieval import Retrieval, as_retrieval
from geomm_plugin.shared_space import SharedSpace


@dataclass(frozen=True)
class Evaluation:
    """The scores of one language pair."""

    pair: tuple[str, str]
    retrieval: str
    scores: dict[str, float]
    coverage: float
    n_words: int


def evaluate(
    space: SharedSpace,
    source: str,
    target: str,
    dictionary: Iterable[tuple[str, str]],
    retrieval: str | Retrieval = "csls",
) -> Evaluation:
    """Score the translations of a test dictionary's source words."""
    retrieval = as_retrieval(retrieval)
    source_rows, target_rows = space[source].row_of, space[target].row_of
    gold: dict[str, set[int]] = {}
    words = set()
    for here, there in dictionary:
        words.add(here)
        if here in source_rows and there in target_rows:
            gold.setdefault(here, set()).add(target_rows[there])
    if not gold:
        raise DictionaryError(
            f"None of the {len(words)} test words is in both vocabularies ({source}, {target}). "
            "Check the language order and the letter case of the dictionary."
        )
    queries = space.unit_vectors(source)[[source_rows[word] for word in gold]]
    ranks = space.index(source, target, retrieval).ranks(
        queries, [np.array(sorted(rows)) for rows in gold.values()]
    )
    return Evaluation(
        (source, target),
        retrieval.name,
        {name: metric(ranks) for name, metric in registry.metrics.items()},
        len(gold) / len(words),
        len(gold),
    )
