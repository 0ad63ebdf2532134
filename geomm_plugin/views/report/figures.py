"""The figures of the report page: charts made from a comparison, with a note below them."""

from __future__ import annotations

import numpy as np

from geomm_plugin.evaluation.breakdown import break_down
from geomm_plugin.evaluation.metrics import precision_at
from geomm_plugin.evaluation.outcome import Comparison
from geomm_plugin.evaluation.significance import bootstrap_interval
from geomm_plugin.evaluation.task import AVERAGE
from geomm_plugin.views.markup import Markup, join, tag
from geomm_plugin.views.report.charts import (
    Series,
    bar_chart,
    forest_chart,
    legend,
    line_chart,
    scatter_chart,
)

DEPTH = 10  # of the P@k curves


def bars_section(comparison: Comparison) -> Markup:
    """Draw P@1 with intervals, one chart for each pair and retrieval."""
    order = {run.label: n for n, run in enumerate(comparison.runs)}
    groups: dict[tuple[str, str], list[Series]] = {}
    for row in comparison.part().rows:
        if row["error"] is None:
            label = row["mapper"]
            bar = Series(label, order[label], (row["p@1"],), row["p@1_low"], row["p@1_high"])
            groups.setdefault((row["pair"], row["retrieval"]), []).append(bar)
    charts = [bar_chart(f"{pair}, {name}: P@1", bars) for (pair, name), bars in groups.items()]
    note = "P@1: the share of test words whose first answer is correct. Lines: 95 % intervals."
    return _charts("P@1", charts, note)


def spelling_section(comparison: Comparison) -> Markup:
    """Draw P@1 of words whose translation is spelt the same, alike, or differently."""
    charts = []
    bars: dict[tuple[str, str, str], list[Series]] = {}
    counts: dict[tuple[str, str, str], int] = {}
    for n, run in enumerate(comparison.runs):
        for evaluation in run.evaluations:
            for group in break_down(evaluation.words, "spelling"):
                if group.p_at_1 is None:
                    continue
                key = "-".join(evaluation.pair), evaluation.retrieval, group.name
                hits = np.array([evaluation.words[word].rank == 1 for word in group.words], float)
                interval = bootstrap_interval([hits], seed=comparison.seed)
                bar = Series(run.label, n, (group.p_at_1,), interval.low, interval.high)
                bars.setdefault(key, []).append(bar)
                counts[key] = len(group.words)
    for (pair, retrieval, name), series in bars.items():
        words = f"{counts[pair, retrieval, name]:,} words"
        charts.append(bar_chart(f"{pair}, {retrieval}, {name} spelling: P@1 of {words}", series))
    note = (
        "Words whose translation has identical spelling, is a cognate, or is spelt differently. "
        " A gain on names alone is seen here. Lines: 95 % intervals."
    )
    return _charts("Where the points come from", charts, note)


def differences_section(comparison: Comparison) -> Markup:
    """Draw how far each mapper is ahead of the baseline, with its interval: a forest plot."""
    order = {run.label: n for n, run in enumerate(comparison.runs)}
    groups: dict[tuple[str, str], list[Series]] = {}
    for row in comparison.part().rows:
        if row["difference"] is not None:
            label, low, high = row["mapper"], row["difference_low"], row["difference_high"]
            point = Series(label, order[label], (row["difference"],), low, high)
            groups.setdefault((row["pair"], row["retrieval"]), []).append(point)
    if not groups:
        return join([])
    charts = [
        forest_chart(f"{pair}, {name}: P@1 less that of {comparison.baseline}", points)
        for (pair, name), points in groups.items()
    ]
    note = (
        "Right of the line is better than the baseline. Lines: 95 % intervals, not adjusted for "
        "the number of mappers."
    )
    return _charts("Differences", charts, note)


def curves_section(comparison: Comparison) -> Markup:
    """Draw P@k against k."""
    groups: dict[tuple[str, str], list[Series]] = {}
    names = []
    for n, run in enumerate(comparison.runs):
        if run.evaluations:
            names.append(Series(run.label, n, ()))
        for evaluation in run.evaluations:
            values = tuple(precision_at(k)(evaluation.ranks) for k in range(1, DEPTH + 1))
            key = "-".join(evaluation.pair), evaluation.retrieval
            groups.setdefault(key, []).append(Series(run.label, n, values))
    charts = [
        line_chart(f"{pair}, {name}: P@k", lines, "k") for (pair, name), lines in groups.items()
    ]
    note = "P@k: the share of test words with a correct answer among the first k."
    return _charts("P@k", charts, note, legend(names))


def cost_section(comparison: Comparison) -> Markup:
    """Draw P@1 against the time of the fit."""
    rows = [row for row in comparison.part().rows if row["error"] is None]
    several = any(row["pair"] == AVERAGE for row in rows)
    order = {run.label: n for n, run in enumerate(comparison.runs)}
    groups: dict[tuple[str, str], list[Series]] = {}
    for row in rows:
        if several and row["pair"] != AVERAGE:
            continue
        seconds = max(row["fit_seconds"], 1e-3)  # a logarithmic axis has no zero
        point = Series(
            row["mapper"],
            order[row["mapper"]],
            (seconds, row["p@1"]),
            row["p@1_low"],
            row["p@1_high"],
        )
        groups.setdefault((row["pair"], row["retrieval"]), []).append(point)
    charts = [
        scatter_chart(f"{pair}, {name}: P@1 against fit time", points, "seconds to fit")
        for (pair, name), points in groups.items()
    ]
    return _charts("Time and quality", charts, "Up is better, left is faster.")


def _charts(title: str, charts: list[Markup], note: str, before: Markup | None = None) -> Markup:
    shown = charts or [tag("p", "No mapper could be scored.")]
    return tag(
        "section",
        tag("h2", title),
        before or "",
        tag("div", shown, class_="charts"),
        tag("p", note, class_="note"),
    )
