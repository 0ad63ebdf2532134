"""The report's section of a task: its rows, and charts of scores and differences."""

from __future__ import annotations

from geomm_plugin.evaluation.outcome import Comparison, TaskTable
from geomm_plugin.evaluation.significance import is_significant
from geomm_plugin.evaluation.translation import WORDS
from geomm_plugin.views.markup import Markup, tag
from geomm_plugin.views.report.charts import Series, bar_chart, forest_chart
from geomm_plugin.views.report.table import first_cells, number_cell, score_cells, sortable_table
from geomm_plugin.views.report.verdict import about_text


def task_sections(comparison: Comparison) -> list[Markup]:
    """Return a section for each task that mappers were scored on beside translation."""
    return [_section(comparison, part) for part in comparison.parts if part.task != WORDS]


def _section(comparison: Comparison, part: TaskTable) -> Markup:
    numbers = (*part.others, *part.details)
    columns = [
        ("Mapper", True),
        *((name.capitalize(), True) for name in part.about),
        (f"{part.main.capitalize()} [95 %]", False),
        (f"Against {comparison.baseline}", False),
        ("p (Holm)", False),
        *((name, False) for name in numbers),
    ]
    body = []
    for row, place in zip(part.rows, part.places(), strict=True):
        first = first_cells(row, part.about)
        if row["error"] is not None:
            failed = tag("td", row["error"], colspan=len(columns) - len(first), class_="failed")
            body.append(tag("tr", first, failed))
            continue
        star = " *" if is_significant(row) else ""
        cells = [_cell(row[name]) for name in numbers]
        body.append(tag("tr", first, score_cells(row, part.main, place, star), cells))
    note = (
        "Intervals are bootstrap intervals over the items (sentences, texts); p-values are of a "
        "paired test on the same items, adjusted for the number of mappers (Holm). * p < 0.05."
    )
    return tag(
        "section",
        tag("h2", f"Task: {part.task}"),
        sortable_table(f"Task {part.task}", columns, body),
        tag("p", note, class_="note"),
        tag("div", _charts(comparison, part), class_="charts"),
    )


def _charts(comparison: Comparison, part: TaskTable) -> list[Markup]:
    order = {run.label: n for n, run in enumerate(comparison.runs)}
    bars: dict[str, list[Series]] = {}
    points: dict[str, list[Series]] = {}
    for row in part.rows:
        if row["error"] is not None:
            continue
        label, title = row["mapper"], about_text(part, row)
        value = row[part.main]
        low, high = row.get(f"{part.main}_low", value), row.get(f"{part.main}_high", value)
        if 0 <= value <= 1:  # a share; other scores have no scale of their own
            bars.setdefault(title, []).append(Series(label, order[label], (value,), low, high))
        if row["difference_low"] is not None:
            gap = row["difference"], row["difference_low"], row["difference_high"]
            point = Series(label, order[label], gap[:1], *gap[1:])
            points.setdefault(title, []).append(point)
    charts = [bar_chart(f"{title}: {part.main}", series) for title, series in bars.items()]
    return charts + [
        forest_chart(f"{title}: {part.main} less that of {comparison.baseline}", series)
        for title, series in points.items()
    ]


def _cell(value: object) -> Markup:
    if isinstance(value, bool | str) or value is None:
        return tag("td", "" if value is None else str(value))
    assert isinstance(value, int | float)
    return number_cell(value, "{:.3f}" if isinstance(value, float) and value < 1 else "{:,g}")
