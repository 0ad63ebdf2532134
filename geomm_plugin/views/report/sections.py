"""The sections of the report page, each made from a comparison."""

from __future__ import annotations

from typing import Any

from geomm_plugin.evaluation.outcome import Comparison
from geomm_plugin.evaluation.provenance import Provenance
from geomm_plugin.evaluation.runs import Run
from geomm_plugin.evaluation.significance import is_significant
from geomm_plugin.views.markup import (
    Content,
    Markup,
    join,
    tag,
)
from geomm_plugin.views.report.table import (
    first_cells,
    number_cell,
    score_cells,
    scroll,
    sortable_table,
)
from geomm_plugin.views.report.verdict import verdicts

DEPTH = 10  # of the P@k curves


def summary_section(comparison: Comparison) -> Markup:
    """Say who leads."""
    items = [
        tag("div", tag("dt", where), tag("dd", sentence))
        for where, sentence in verdicts(comparison)
    ]
    failed = [run for run in comparison.runs if run.error is not None]
    failures = [tag("p", f"{run.label} failed: {run.error}", class_="failed") for run in failed]
    notes = [tag("p", note, class_="note") for note in comparison.fit_notes()]
    verdict = tag("dl", items, class_="verdicts")
    return tag("section", tag("h2", "In short"), verdict, notes, failures)


def table_section(comparison: Comparison) -> Markup:
    """Show all numbers in a table that can be sorted."""
    scores = [name for run in comparison.runs for e in run.evaluations for name in e.scores]
    others = [name for name in dict.fromkeys(scores) if name != "p@1"]
    columns = [
        ("Mapper", True),
        ("Pair", True),
        ("Retrieval", True),
        ("P@1 [95 %]", False),
        (f"Against {comparison.baseline}", False),
        ("p (Holm)", False),
        *((name.upper(), False) for name in others),
        ("Coverage", False),
        ("Words", False),
        ("Fit, s", False),
        ("Fit, MB", False),
    ]
    words = comparison.part()
    rows = by_pair(words.rows)
    places = words.places(rows)
    body = [
        _table_row(row, others, place, len(columns))
        for row, place in zip(rows, places, strict=True)
    ]
    note = (
        "Intervals are bootstrap intervals over the test words; p-values "
        "are of a paired test on the same words, adjusted for the number of mappers (Holm). Bold: "
        "the best of its pair and retrieval. * p < 0.05."
    )
    return tag(
        "section",
        tag("h2", "All numbers"),
        _filters(rows),
        sortable_table("All numbers", columns, body, "numbers"),
        tag("p", tag("span", "Click a column to sort. ", class_="screen"), note, class_="note"),
    )


def by_pair(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of each pair and retrieval together, in the order of their first ones."""
    order = {key: n for n, key in enumerate(dict.fromkeys(map(_pair, rows)))}
    pairs = {pair: n for n, pair in enumerate(dict.fromkeys(row["pair"] for row in rows))}
    return sorted(rows, key=lambda row: (pairs[row["pair"]], order[_pair(row)]))


def _pair(row: dict[str, Any]) -> tuple[str, str]:
    return row["pair"], row["retrieval"]


def _filters(rows: list[dict[str, Any]]) -> Markup:
    """Let readers choose a pair and a retrieval; the script shows this, since it does the work."""
    choices = []
    for column, name in ((1, "pair"), (2, "retrieval")):
        values = list(dict.fromkeys(row[name] for row in rows))
        if len(values) > 1:
            items = [tag("option", "all", value=""), *(tag("option", v, value=v) for v in values)]
            select = tag("select", items, data_column=column)
            choices.append(tag("label", f"{name.capitalize()} ", select))
    return (
        tag("form", choices, class_="choices screen", id="filters", hidden=True)
        if choices
        else join([])
    )


def _table_row(row: dict[str, Any], others: list[str], place: int | None, width: int) -> Markup:
    first = first_cells(row, ["pair", "retrieval"])
    if row["error"] is not None:
        return tag("tr", first, tag("td", row["error"], colspan=width - 3, class_="failed"))
    cells = [
        *score_cells(row, "p@1", place, " *" if is_significant(row) else ""),
        *(number_cell(row[name], "{:.3f}") for name in others),
        number_cell(row["coverage"], "{:.3f}"),
        number_cell(row["n_words"], "{:,}"),
        number_cell(row["fit_seconds"], "{:.2f}"),
        number_cell(row["peak_memory_mb"], "{:.0f}"),
    ]
    return tag("tr", first, cells)


def changes_section() -> Markup:
    """Make an empty section; the script fills in the words that two mappers rank differently."""
    choices = [
        tag("label", name, " ", tag("select", id=identifier))
        for name, identifier in (("Compare", "first"), ("with", "second"), ("on", "pair"))
    ]
    return tag(
        "section",
        tag("h2", "What changed"),
        tag("form", choices, class_="choices", id="choices"),
        tag("noscript", tag("p", "This section needs scripts to be allowed.")),
        tag("div", id="changes", aria_live="polite"),
        id="changed",
    )


def data_section(comparison: Comparison, provenance: Provenance) -> Markup:
    """Tell what went in: files, dictionaries, parameters, versions, and the command."""
    parts: list[Content] = [tag("h2", "Data and method")]
    if provenance.files:
        rows = [
            tag(
                "tr",
                tag("th", role, scope="row"),
                tag("td", file.content),
                tag("td", _size(file.size), class_="n"),
                tag("td", tag("code", file.path)),
            )
            for role, file in provenance.files
        ]
        parts += [tag("h3", "Files"), scroll(tag("table", tag("tbody", rows)), "Files")]
    parts += [tag("h3", "Test words"), scroll(_coverage_table(comparison), "Test words")]
    parts += [tag("h3", "Mappers"), scroll(_mapper_table(comparison), "Mappers")]
    versions = ", ".join(f"{name} {version}" for name, version in provenance.versions.items())
    parts += [tag("h3", "Made with"), tag("p", f"{versions}. {provenance.day}.")]
    if provenance.command is not None:
        parts += [
            tag("h3", "To make it again"),
            tag("pre", tag("code", provenance.command), tabindex=0),
        ]
    return tag("section", parts)


def _coverage_table(comparison: Comparison) -> Markup:
    run = next((run for run in comparison.runs if run.evaluations), None)
    evaluation_of = {} if run is None else {e.pair: e for e in run.evaluations}
    rows = []
    for pair, evaluation in evaluation_of.items():
        missing = ", ".join(evaluation.missing[:8])
        more = len(evaluation.missing) - 8
        rows.append(
            tag(
                "tr",
                tag("th", "-".join(pair), scope="row"),
                tag("td", f"{len(evaluation.words):,} evaluated"),
                tag("td", f"{evaluation.coverage:.1%} of the test words"),
                tag("td", f"not in the vocabularies: {missing}" if missing else "", _more(more)),
            )
        )
    return tag("table", tag("tbody", rows))


def _size(count: int | None) -> str:
    if count is None:
        return "a pipe"
    return f"{count / 1e6:,.1f} MB" if count >= 1e6 else f"{count / 1e3:,.1f} kB"


def _more(count: int) -> str:
    return f" and {count:,} more" if count > 0 else ""


def _mapper_table(comparison: Comparison) -> Markup:
    rows = [
        tag(
            "tr",
            tag("th", run.label, scope="row"),
            tag("td", ", ".join(f"{name}={value!r}" for name, value in run.parameters.items())),
            tag("td", [tag("p", line) for line in _notes(run)]),
        )
        for run in comparison.runs
    ]
    return tag("table", tag("tbody", rows))


def _notes(run: Run) -> list[str]:
    notes = [f"{pair}: {counts}" for pair, counts in run.report.pairs.items()]
    notes += [
        f"{pair}: regularization {choice.value:g} chosen"
        for pair, choice in run.report.regularization.items()
    ]
    return notes + [f"Warning: {warning}" for warning in run.warnings]
