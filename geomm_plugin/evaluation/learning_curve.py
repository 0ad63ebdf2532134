"""[evaluate] How many words a mapper must be told: scores against the size of the dictionary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from geomm_plugin.dictionary import (
    Dictionaries,
    Dictionary,
    DictionaryLike,
    as_dictionaries,
    as_dictionary,
)
from geomm_plugin.errors import ParameterError
from geomm_plugin.evaluation.comparison import compare
from geomm_plugin.evaluation.contestants import label_mappers
from geomm_plugin.mapper import Mapper
from geomm_plugin.retrieval import Retrieval

SIZES = (25, 50, 100, 200, 500, 1000, 2000, 5000)


def learning_curve(
    mappers: str | Mapper | Iterable[str | Mapper],
    embeddings: Mapping[str, object],
    dictionaries: Dictionaries,
    tests: Dictionaries,
    *,
    sizes: Sequence[int] = SIZES,
    retrieval: str | Retrieval = "csls",
    jobs: int | None = None,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Compare mappers on ever larger parts of the same dictionaries.

    Returns the rows of each comparison with their "size". Sizes beyond the longest dictionary are
    replaced by all of it.

    Parameters
    ----------
    sizes
        Numbers of source words; each part holds the smaller ones.
    """
    given = as_dictionaries(dictionaries)
    longest = max((len({word for word, _ in pairs}) for pairs in given.values()), default=0)
    chosen = sorted({min(size, longest) for size in sizes})
    if not chosen or chosen[0] < 1:
        raise ParameterError(
            f"Sizes are numbers of words from 1 on; they are {', '.join(map(str, sizes))}."
        )
    mappers = list(label_mappers(mappers).values())
    rows: list[dict[str, Any]] = []
    for size in chosen:
        parts = {pair: part_of(pairs, size, seed) for pair, pairs in given.items()}
        comparison = compare(
            mappers, embeddings, parts, tests, retrievals=[retrieval], answers=0, jobs=jobs
        )
        rows += [row | {"size": size} for row in comparison.rows]
    return rows


def part_of(dictionary: DictionaryLike, size: int, seed: int = 0) -> Dictionary:
    """Return all pairs of so many source words, drawn so that a larger part holds a smaller one.

    The order of the lines does not matter to which words are drawn.
    """
    pairs = as_dictionary(dictionary)
    words = sorted({source for source, _ in pairs})
    order = np.random.default_rng(seed).permutation(len(words))
    drawn = {words[n] for n in order[:size]}
    return Dictionary((pair for pair in pairs if pair[0] in drawn), pairs.files)
