"""What a comparison says, in sentences: who leads, by how much, and whether luck explains it."""

from __future__ import annotations

from typing import Any

from geomm_plugin.evaluation.outcome import SIGNIFICANT, Comparison


def verdicts(comparison: Comparison) -> list[tuple[str, str]]:
    """Return (pair and retrieval, sentence) for each pair and the average of several."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in comparison.numbers:
        if row["error"] is None:
            groups.setdefault((row["pair"], row["retrieval"]), []).append(row)
    return [
        (f"{pair}, {retrieval}", _sentence(rows, comparison.baseline))
        for (pair, retrieval), rows in groups.items()
    ]


def _sentence(rows: list[dict[str, Any]], baseline: str) -> str:
    best = max(rows, key=lambda row: row["p@1"])
    leads = f"{best['mapper']} leads with a P@1 of {best['p@1']:.3f}"
    if len(rows) == 1:
        return f"{best['mapper']} has a P@1 of {best['p@1']:.3f}."
    if best["difference"] is not None:
        interval = f"{signed(best['difference_low'])} to {signed(best['difference_high'])}"
        lead = f"{signed(best['difference'])} against {baseline}"
        lead += f" ({interval}; p = {best['p_holm']:.2g})"
        luck = "luck hardly explains it" if _is_significant(best) else "it may be luck"
        return f"{leads}, {lead}: {luck}."
    behind = [
        row["mapper"] for row in rows if row["difference"] is not None and _is_significant(row)
    ]
    if best["mapper"] != baseline:
        return f"{leads}."
    if behind:
        return f"{leads}; {', '.join(behind)} {_are(behind)} behind by more than luck explains."
    return f"{leads}, but the others may be behind by luck only."


def signed(value: float) -> str:
    """Return a difference with its sign; the minus sign is as wide as the plus."""
    return f"{value:+.3f}".replace("-", "−")


def _is_significant(row: dict[str, Any]) -> bool:
    return row["p_holm"] is not None and bool(row["p_holm"] < SIGNIFICANT)


def _are(items: list[str]) -> str:
    return "is" if len(items) == 1 else "are"
