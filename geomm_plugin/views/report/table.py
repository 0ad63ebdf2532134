"""Tables of the report page that can be sorted, and their cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from geomm_plugin.views.markup import Content, Markup, join, tag


def sortable_table(
    name: str, columns: Sequence[tuple[str, bool]], rows: Content, identifier: str | None = None
) -> Markup:
    """Return a table whose columns (title, whether it holds text) the script sorts by."""
    head = tag(
        "tr",
        [
            tag(
                "th", tag("button", title, type="button"), scope="col", class_=None if text else "n"
            )
            for title, text in columns
        ],
    )
    table = tag("table", tag("thead", head), tag("tbody", rows), class_="sortable", id=identifier)
    return scroll(table, name)


def scroll(table: Markup, name: str) -> Markup:
    """Let a wide table move sideways by itself, also by keyboard."""
    return tag("div", table, class_="scroll", tabindex=0, role="region", aria_label=name)


def first_cells(row: dict[str, Any], names: Sequence[str]) -> list[Markup]:
    """Return the cells that tell what a row is about, the mapper first."""
    mapper = tag("th", mapper_name(row["mapper"]), scope="row", data_value=row["mapper"])
    return [mapper, *(tag("td", str(row.get(name, ""))) for name in names)]


def mapper_name(label: str) -> Markup:
    """Return a mapper's name with its parameters in small print, which may break between them."""
    name, bracket, parameters = label.partition("(")
    return join([name, tag("wbr"), tag("small", bracket, parameters)])


def score_cells(row: dict[str, Any], name: str, place: int | None, star: str) -> list[Markup]:
    """Return the main score with its interval, the difference from the baseline, its p-value."""
    score = tag("b" if place == 1 else "span", f"{row[name]:.3f}")
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    interval = "" if low is None else tag("small", f" [{low:.3f}, {high:.3f}]")
    return [
        number_cell(row[name], join([score, interval])),
        number_cell(row["difference"], "{:+.3f}"),
        number_cell(row["p_holm"], "{:.2g}", star),
    ]


def number_cell(value: float | None, form: str, mark: str = "") -> Markup:
    """Return a cell that sorts by its value; empty where a number does not apply."""
    if value is None:
        return tag("td", class_="n")
    shown = form if isinstance(form, Markup) else form.format(value).replace("-", "−") + mark
    return tag("td", shown, class_="n", data_value=repr(float(value)))
