"""What a comparison says, in sentences: who leads, by how much, and whether chance explains it."""

from __future__ import annotations

from typing import Any

from geomm_plugin.evaluation.outcome import Comparison, TaskTable
from geomm_plugin.evaluation.significance import is_significant
from geomm_plugin.evaluation.translation import WORDS


def verdicts(comparison: Comparison) -> list[tuple[str, str]]:
    """Return (what was scored, sentence) for each pair and their average, then for each task."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for part in comparison.parts:
        for row in part.rows:
            groups.setdefault((about_text(part, row), part.main), []).append(row)
    known = {key: [row for row in rows if row["error"] is None] for key, rows in groups.items()}
    return [
        (where, _sentence(rows, main, comparison.baseline))
        for (where, main), rows in known.items()
        if rows
    ]


def about_text(part: TaskTable, row: dict[str, Any]) -> str:
    """Say what a row of a task is about, e.g. "sentences, en-es, csls"."""
    plain = ("pair", "retrieval")  # which speak for themselves
    about = {name: row[name] for name in part.about if row.get(name) and name != "task"}
    texts = [value if name in plain else f"{name} {value}" for name, value in about.items()]
    return ", ".join(texts if part.task == WORDS else [part.task, *texts])


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
        sure = "beyond chance" if is_significant(best) else "within chance"
        return f"{leads}, {lead}: {sure}."
    if best["mapper"] != baseline:
        return f"{leads}."
    behind = [row["mapper"] for row in rows if is_significant(row)]
    if behind:
        return f"{leads}; {', '.join(behind)} {_are(behind)} behind, beyond chance."
    return f"{leads}; the others are behind within chance."


def signed(value: float) -> str:
    """Return a difference with its sign; the minus sign is as wide as the plus."""
    return f"{value:+.3f}".replace("-", "−")


def _are(items: list[str]) -> str:
    return "is" if len(items) == 1 else "are"
