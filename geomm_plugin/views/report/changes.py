"""Words that one mapper translates correctly and another does not, as data for the script."""

from __future__ import annotations

from typing import Any

from geomm_plugin.evaluation.outcome import Comparison
from geomm_plugin.evaluation.runs import Run
from geomm_plugin.evaluation.translation import Evaluation


def changes_data(comparison: Comparison) -> dict[str, Any]:
    """Return every test word with the rank and the best answers of each mapper.

    Target words are numbers into one list for each pair, since mappers mostly give the same ones.
    """
    runs = [run for run in comparison.runs if run.error is None]
    first = runs[0].evaluations if runs else []
    return {
        "mappers": [run.label for run in runs],
        "baseline": comparison.baseline,
        "pairs": [_pair(runs, n) for n in range(len(first))],
    }


def _pair(runs: list[Run], n: int) -> dict[str, Any]:
    number_of: dict[str, int] = {}

    def number(word: str) -> int:
        return number_of.setdefault(word, len(number_of))

    evaluations: list[Evaluation] = [run.evaluations[n] for run in runs]
    first = evaluations[0]
    pair: dict[str, Any] = {
        "name": f"{'-'.join(first.pair)}, {first.retrieval}",
        "languages": first.pair,
        "words": [result.word for result in first.words],
        "gold": [[number(word) for word in result.gold] for result in first.words],
        "ranks": [[result.rank for result in e.words] for e in evaluations],
        "answers": [
            [[number(word) for word, _ in result.answers] for result in e.words]
            for e in evaluations
        ],
    }
    return pair | {"targets": list(number_of)}
