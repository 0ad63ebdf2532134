"""What a comparison says, in sentences: who leads, by how much, and whether luck explains it."""

from __future__ import annotations

from typing import Any

from geomm_plugin.evaluation.differences import is_significant
from geomm_plugin.evaluation.outcome import Comparison
from geomm_plugin.evaluation.task import TaskScore


def verdicts(comparison: Comparison) -> list[tuple[str, str]]:
    """Return (what was scored, sentence) for each pair and their average, then for each task."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in comparison.numbers:
        groups.setdefault((f"{row['pair']}, {row['retrieval']}", "p@1"), []).append(row)
    for score, rows in comparison.tasks:
        for row in rows:
            groups.setdefault((about_text(score, row), score.main), []).append(row)
    known = {key: [row for row in rows if row["error"] is None] for key, rows in groups.items()}
    return [
        (where, _sentence(rows, main, comparison.baseline))
        for (where, main), rows in known.items()
        if rows
    ]


def about_text(score: TaskScore, row: dict[str, Any]) -> str:
    """Say what a row of a task is about, e.g. "sentences, en-es, csls"."""
    plain = ("pair", "retrieval")  # which speak for themselves
    about = {name: row[name] for name in score.about if row.get(name)}
    texts = [value if name in plain else f"{name} {value}" for name, value in about.items()]
    return ", ".join([score.task, *texts])


def _sentence(rows: list[dict[str, Any]], main: str, baseline: str) -> str:
    best = max(rows, key=lambda row: row[main])
    scored = f"{main.upper() if '@' in main else main} of {best[main]:.3f}"
    article = "an" if scored[0] in "aeiou" else "a"
    leads = f"{best['mapper']} leads with {article} {scored}"
    if len(rows) == 1:
        return f"{best['mapper']} has {article} {scored}."
    if best["difference"] is not None and best["p_holm"] is not None:
        interval = f"{signed(best['difference_low'])} to {signed(best['difference_high'])}"
        lead = f"{signed(best['difference'])} against {baseline}"
        lead += f" ({interval}; p = {best['p_holm']:.2g})"
        luck = "luck hardly explains it" if is_significant(best) else "it may be luck"
        return f"{leads}, {lead}: {luck}."
    if best["mapper"] != baseline:
        return f"{leads}."
    behind = [row["mapper"] for row in rows if is_significant(row)]
    if behind:
        return f"{leads}; {', '.join(behind)} {_are(behind)} behind by more than luck explains."
    return f"{leads}, but the others may be behind by luck only."


def signed(value: float) -> str:
    """Return a difference with its sign; the minus sign is as wide as the plus."""
    return f"{value:+.3f}".replace("-", "−")


def _are(items: list[str]) -> str:
    return "is" if len(items) == 1 else "are"
