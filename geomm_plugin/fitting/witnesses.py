"""[fit] Words that are spelt alike, as witnesses of maps that were found without a dictionary.

    found = share of the cognates of which the source word's best by CSLS is its cognate

among the most frequent words. Maps of vectors never saw a letter, so right ones translate many of
the words that are spelt alike as each other, and wrong ones none: not those that fit the vectors
well by chance, nor right ones of vectors that belong to other words. Where languages share hardly
any spelling there are no witnesses, and `recover` alone has to tell. For maps that were started
from cognates it says less.
"""

from __future__ import annotations

from geomm_plugin.arrays import Matrix
from geomm_plugin.fitting.growth import mapped
from geomm_plugin.fitting.recover import RECOVER_WORDS
from geomm_plugin.fitting.seeds.seed import Language
from geomm_plugin.fitting.seeds.spelling import cognate_rows
from geomm_plugin.retrieval import best_neighbors

MIN_WITNESSED = 0.05  # share of the cognates below which maps are taken for wrong
FEWEST_WITNESSES = 50  # cognates that a verdict needs


def witnessed(
    source: Language, target: Language, source_map: Matrix, target_map: Matrix
) -> float | None:
    """Return the share of the cognates that the maps find; None where there are too few."""
    words = RECOVER_WORDS
    rows, columns, _ = cognate_rows(source.words[:words], target.words[:words])
    if len(rows) < FEWEST_WITNESSES:
        return None
    x = mapped(source.frequent(words), source_map)
    z = mapped(target.frequent(words), target_map)
    forth = best_neighbors(x, z).forth
    return float((forth[rows] == columns).mean())
