"""The report page: what a comparison says, in sentences, charts and tables, everything inline.

A policy names the script and the style by their checksums, so that the browser runs no other one.
"""

from __future__ import annotations

import base64
import hashlib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from geomm_plugin import text
from geomm_plugin.evaluation.calibration import reliability_of
from geomm_plugin.evaluation.outcome import Comparison, TaskTable
from geomm_plugin.evaluation.runs import Run
from geomm_plugin.evaluation.significance import bootstrap_interval, is_significant
from geomm_plugin.evaluation.table import html_table
from geomm_plugin.evaluation.task import AVERAGE
from geomm_plugin.evaluation.translation import WORDS, Evaluation, break_down
from geomm_plugin.views.charts import Interval, chart_rules, interval_chart, number, with_ends
from geomm_plugin.views.markup import Content, Markup, data_block, join, tag
from geomm_plugin.views.palette import color_rules

FOLDER = Path(__file__).parent
WIDTHS = {"wide": 570, "narrow": 330}  # pixels of a chart, on screens and on phones
SCALE = (
    "Intervals (95 %, bootstrap) are those of single numbers, not adjusted; p-values (paired test) "
    "are adjusted for the number of mappers (Holm). A difference with p ≥ 0.05 is within chance."
)


def make_page(comparison: Comparison) -> str:
    """Return a comparison as one page of HTML that needs no network."""
    # Our own files: the only texts that are not escaped. No text of the data is in them.
    page, script, css = (
        Markup((FOLDER / name).read_text(encoding="utf-8"))
        for name in ("report.html", "report.js", "report.css")
    )
    style = Markup(color_rules() + chart_rules() + css)
    parts: dict[str, Content] = {
        "title": f"{len(comparison.runs)} mappers compared",
        "baseline": comparison.baseline,
        "script": script,
        "script_checksum": checksum(script),
        "style": style,
        "style_checksum": checksum(style),
        "summary": summary_section(comparison),
        "tasks": [task_section(comparison, part) for part in comparison.parts],
        "method": data_section(comparison),
        "data": data_block("data", changes_data(comparison)),
    }
    return Template(page).substitute({name: join([part]) for name, part in parts.items()})


def checksum(text: str) -> str:
    """Return the checksum that names an inline script or style in a Content-Security-Policy."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def summary_section(comparison: Comparison) -> Markup:
    """Say who leads: on average, where there are several pairs, and folded on each of them."""
    shown: list[Markup] = []
    folded: list[Markup] = []
    for part in comparison.parts:
        groups: dict[str, list[dict[str, Any]]] = {}
        for row in part.rows:
            if row["error"] is None:
                groups.setdefault(about_text(part, row), []).append(row)
        several = any(row.get("pair") == AVERAGE for row in part.rows)
        for about, rows in groups.items():
            where = about if part.task == WORDS else ", ".join(filter(None, (part.task, about)))
            sentence = tag("dd", verdict(rows, part.main, comparison.baseline))
            is_folded = several and rows[0].get("pair") != AVERAGE
            (folded if is_folded else shown).append(tag("div", tag("dt", where), sentence))
    reasons = [(run.label, run.error) for run in comparison.runs]
    scores = ((run.label, score) for run in comparison.runs for score in run.scores)
    reasons += [(f"{label}, {score.task}", score.error) for label, score in scores]
    failures = [tag("p", f"{what} failed: {why}", class_="failed") for what, why in reasons if why]
    notes = [tag("p", note, class_="note") for note in (*comparison.fit_notes(), SCALE)]
    parts = [tag("h2", "In short"), tag("dl", shown, class_="verdicts")]
    parts += [details("Each pair", tag("dl", folded, class_="verdicts"))] if folded else []
    return tag("section", parts, notes, failures)


def about_text(part: TaskTable, row: dict[str, Any], without: str = "task") -> str:
    """Say what a row is about, e.g. "en-es, csls"; pairs and retrievals speak for themselves."""
    about = {n: row[n] for n in part.about if row.get(n) and n not in ("task", without)}
    plain = ("pair", "retrieval")
    return ", ".join(value if n in plain else f"{n} {value}" for n, value in about.items())


def verdict(rows: Sequence[dict[str, Any]], main: str, baseline: str) -> str:
    """Say who leads, by how much, and whether chance explains it."""
    best = max(rows, key=lambda row: row[main])
    scored = f"{main.upper() if '@' in main else main} of {number(best[main])}"
    article = "an" if scored[0] in "aeiou" else "a"
    if len(rows) == 1:
        return f"{best['mapper']} has {article} {scored}."
    leads = f"{best['mapper']} leads with {article} {scored}"
    if best["difference"] is not None and best["p_holm"] is not None:
        gap, low, high = (number(end, "+z.3f") for end in with_ends(best, "difference"))
        sure = "beyond chance" if is_significant(best) else "within chance"
        test = f"({low} to {high}; p = {best['p_holm']:.2g})"
        return f"{leads}, {gap} against {baseline} {test}: {sure}."
    if best["mapper"] != baseline:
        return f"{leads}."
    behind = [row["mapper"] for row in rows if is_significant(row)]
    if not behind:
        return f"{leads}; the others are behind within chance."
    return f"{leads}; {', '.join(behind)} {'are' if behind[1:] else 'is'} behind, beyond chance."


def task_section(comparison: Comparison, part: TaskTable) -> Markup:
    """Draw and list the scores of a task: all of them, and the differences from the baseline."""
    scores, differences = [], []
    for row in part.rows:
        if row["error"] is not None:
            continue
        where = about_text(part, row, "retrieval"), row["mapper"], row.get("retrieval") or ""
        scores.append(Interval(*where, *with_ends(row, part.main)))
        if row["difference_low"] is not None:
            gap, low, high = with_ends(row, "difference")
            differences.append(Interval(*where, gap, low, high, not is_significant(row)))
    main, is_words = part.title(part.main), part.task == WORDS
    gaps = f"{main} less that of {comparison.baseline} (hollow: within chance)"
    return tag(
        "section",
        tag("h2", "Word translation" if is_words else f"Task: {part.task}"),
        tag("div", interval_figure(main, scores), interval_figure(gaps, differences, True),
            class_="charts") if scores else tag("p", "No mapper could be scored."),
        _filters(part) if is_words else "",
        _sortable_table(part),
        tag("p", "Click a column to sort. Bold: the best of its kind.", class_="note screen"),
        [_spelling(comparison), _probabilities(comparison)] if is_words and scores else "",
    )  # fmt: skip


def interval_figure(title: str, intervals: Sequence[Interval], differences: bool = False) -> Markup:
    """Return a chart in two widths, of which the page shows one."""
    if not intervals:
        return join([])
    drawn = [
        interval_chart(title, intervals, differences=differences, width=width).svg(class_=name)
        for name, width in WIDTHS.items()
    ]
    return tag("figure", tag("figcaption", title), drawn)


def details(title: str, *content: Content) -> Markup:
    """Return what readers open where they want to know more."""
    return tag("details", tag("summary", title), content)


def _spelling(comparison: Comparison) -> Markup:
    """Draw P@1 of words whose translation has the same spelling, a similar or a different one."""
    intervals = []
    for label, evaluation in [(run.label, e) for run in comparison.runs for e in run.evaluations]:
        for group, words in break_down(evaluation.words, "spelling").items():
            if words:
                hits = np.array([result.rank == 1 for result in words], float)
                ends = bootstrap_interval([hits], seed=comparison.seed)
                name = f"{'-'.join(evaluation.pair)}, {group}: {len(hits):,} words"
                values = float(hits.mean()), ends.low, ends.high
                intervals.append(Interval(name, label, evaluation.retrieval, *values))
    intervals.sort(key=lambda one: one.group.partition(",")[0])
    note = "By the spelling of the right translation: a gain on names alone is seen here."
    return _folded("Where the points come from", note, "P@1 by spelling", intervals)


def _probabilities(comparison: Comparison) -> Markup:
    """Draw how many answers are right, by how probable they are said to be."""
    intervals = [
        Interval(
            f"{row['pair']}, {row['retrieval']}: {run.label}",
            f"{row['from']:.1f} to {row['to']:.1f}: {row['n_words']:,}",
            name,
            *with_ends(row, key),
        )
        for run in comparison.runs
        for evaluation in run.evaluations
        for row in reliability_of(evaluation).rows
        for name, key in (("share of right answers", "p@1"), ("mean probability", "probability"))
    ]
    note = "By tenths, with the number of answers. Where probabilities hold, both dots are near."
    return _folded("How sure the answers are", note, "Right, by probability", intervals)


def _folded(title: str, note: str, caption: str, intervals: Sequence[Interval]) -> Markup:
    chart = interval_figure(caption, intervals)
    return details(title, tag("p", note, class_="note"), chart) if intervals else join([])


def _sortable_table(part: TaskTable) -> Markup:
    """Return all numbers, those of a pair together; the script sorts them by a column."""
    header, *lines = part.cells()
    about = [tuple(row.get(name, "") for name in part.about) for row in part.rows]
    pairs = list(dict.fromkeys(row.get("pair") for row in part.rows))
    order = [
        (pairs.index(row.get("pair")), about.index(own))
        for row, own in zip(part.rows, about, strict=True)
    ]
    ordered = [lines[n] for n in sorted(range(len(lines)), key=order.__getitem__)]
    table = html_table([header, *ordered], "numbers" if part.task == WORDS else "")
    return scroll(Markup(table), f"All numbers of {part.task}")


def scroll(table: Markup, name: str) -> Markup:
    """Let a wide table move sideways by itself, also by keyboard."""
    return tag("div", table, class_="scroll", tabindex=0, role="region", aria_label=name)


def _filters(part: TaskTable) -> Markup:
    """Let readers choose a pair and a retrieval; the script shows this, since it does the work."""
    choices = []
    for column, name in ((1, "pair"), (2, "retrieval")):
        values = list(dict.fromkeys(row[name] for row in part.rows))
        if len(values) > 1:
            items = [tag("option", "all", value=""), *(tag("option", v, value=v) for v in values)]
            select = tag("select", items, data_column=column)
            choices.append(tag("label", f"{name.capitalize()} ", select))
    form = tag("form", choices, class_="choices screen", id="filters", hidden=True)
    return form if choices else join([])


def changes_data(comparison: Comparison) -> dict[str, Any]:
    """Return every test word with the rank and the best answers of each mapper, for the script.

    Target words are numbers into one list for each pair, since mappers mostly give the same ones.
    """
    runs = [run for run in comparison.runs if run.error is None]
    by_pair = zip(*(run.evaluations for run in runs), strict=False)
    return {
        "mappers": [run.label for run in runs],
        "baseline": comparison.baseline,
        "pairs": [_changes_of(evaluations) for evaluations in by_pair],
    }


def _changes_of(evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    number_of: defaultdict[str, int] = defaultdict()
    number_of.default_factory = number_of.__len__  # a new word gets the next number
    first = evaluations[0]
    return {
        "name": f"{'-'.join(first.pair)}, {first.retrieval}",
        "languages": first.pair,
        "words": [result.word for result in first.words],
        "gold": [[number_of[word] for word in result.gold] for result in first.words],
        "ranks": [[result.rank for result in e.words] for e in evaluations],
        "answers": [
            [[number_of[word] for word, _ in result.answers] for result in e.words]
            for e in evaluations
        ],
        "targets": list(number_of),  # last: by now it holds all of them
    }


def data_section(comparison: Comparison) -> Markup:
    """Show what went in: files, dictionaries, parameters, versions, and the command."""
    provenance = comparison.provenance
    files = [[role, each.content, _size(each.size), each.path] for role, each in provenance.files]
    run = next((run for run in comparison.runs if run.evaluations), None)
    evaluations = {} if run is None else {e.pair: e for e in run.evaluations}
    words = []
    for pair, evaluation in evaluations.items():
        missing, more = ", ".join(evaluation.missing[:8]), len(evaluation.missing) - 8
        rest = f" and {more:,} more" if more > 0 else ""
        shares = f"{len(evaluation.words):,}", f"{evaluation.coverage:.1%}"
        words.append(["-".join(pair), *shares, missing + rest])
    mappers = []
    for each in comparison.runs:
        parameters = ", ".join(f"{name}={value!r}" for name, value in each.parameters.items())
        mappers.append([each.label, parameters, "; ".join(_notes(each))])
    versions = ", ".join(f"{name} {version}" for name, version in provenance.versions.items())
    parts: list[Content] = []
    for title, columns, rows in (
        ("Files", ("for", "content", "size", "path"), files),
        ("Test words", ("pair", "evaluated", "coverage", "not in the vocabularies"), words),
        ("Mappers", ("mapper", "parameters", "notes"), mappers),
    ):
        if rows:
            table = Markup(text.html_table(columns, rows))
            parts += [tag("h3", title), scroll(table, title)]
    parts += [tag("h3", "Made with"), tag("p", f"{versions}. {provenance.day}.")]
    if provenance.command is not None:
        command = tag("pre", tag("code", provenance.command), tabindex=0)
        parts += [tag("h3", "To make it again"), command]
    return tag("section", tag("h2", "Data and method"), details("What went in", parts))


def _size(count: int | None) -> str:
    if count is None:
        return "a pipe"
    return f"{count / 1e6:,.1f} MB" if count >= 1e6 else f"{count / 1e3:,.1f} kB"


def _notes(run: Run) -> list[str]:
    notes = [f"{pair}: {counts}" for pair, counts in run.report.pairs.items()]
    notes += [
        f"{pair}: regularization {choice.value:g} chosen"
        for pair, choice in run.report.regularization.items()
    ]
    return notes + [f"Warning: {warning}" for warning in run.warnings]
