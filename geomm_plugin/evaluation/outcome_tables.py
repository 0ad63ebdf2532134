"""[evaluate] The cells of a comparison's tables: words, then one table for each task.

A cell of the main score has its interval, the difference from the baseline its p-value, and a star
where luck hardly explains it. As a paper shows them, scores are in percent, a column for each pair.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from geomm_plugin.evaluation.differences import is_significant
from geomm_plugin.evaluation.metrics import P_AT_1
from geomm_plugin.evaluation.tables import Cell, places
from geomm_plugin.evaluation.task import TaskScore
from geomm_plugin.evaluation.word_rows import WordRows

Rows = Sequence[dict[str, Any]]
EMPTY = Cell("", number=True)


def word_cells(words: WordRows, rows: Rows, widest_reason: int | None = None) -> list[list[Cell]]:
    """Return header and rows of translation; the best P@1 of a pair and retrieval is marked.

    Parameters
    ----------
    widest_reason
        Reasons of failures are cut to one line of so many characters; by default they are whole.
    """
    others = [name for name in words.metric_names() if name != P_AT_1.name]
    header = ["mapper", "pair", "retrieval", "P@1 [95 %]", f"against {words.baseline}"]
    header += [f"P@1 {group} (words)" for group in words.groups_of_words()]
    header += [name.upper() for name in others]
    header += ["coverage", "words", "fit s", "fit MB"]
    table = [[Cell(title) for title in header]]
    for row, place in zip(rows, word_places(rows), strict=True):
        line = [Cell(row["mapper"]), Cell(row["pair"]), Cell(row["retrieval"])]
        if row["error"] is not None:
            line.append(Cell(one_line(row["error"], widest_reason)))
            table.append(line + [EMPTY] * (len(header) - len(line)))
            continue
        line += [_scored(row, P_AT_1.name, place), _against(row)]
        groups = words.groups_of_words()
        texts = [_part(row[f"p@1 {name}"], row[f"n_words {name}"]) for name in groups]
        texts += [f"{row[name]:.3f}" for name in others]
        texts += [f"{row['coverage']:.3f}", str(row["n_words"])]
        texts += [f"{row['fit_seconds']:.2f}", f"{row['peak_memory_mb']:.0f}"]
        table.append(line + [Cell(text, number=True) for text in texts])
    return table


def word_paper_cells(rows: Rows) -> list[list[Cell]]:
    """Return P@1 in percent, a row for each mapper and retrieval, a column for each pair."""
    pairs = list(dict.fromkeys(row["pair"] for row in rows))
    header = [Cell(title) for title in ("mapper", "retrieval", *pairs)]
    lines: dict[tuple[str, str], dict[str, Cell]] = {}
    for row, place in zip(rows, word_places(rows), strict=True):
        line = lines.setdefault((row["retrieval"], row["mapper"]), {})
        line[row["pair"]] = _percent(row, P_AT_1.name, place)
    labels = list(dict.fromkeys(retrieval for retrieval, _ in lines))
    ordered = sorted(lines, key=lambda key: labels.index(key[0]))
    return [header] + [
        [Cell(mapper), Cell(name), *(lines[name, mapper].get(pair, EMPTY) for pair in pairs)]
        for name, mapper in ordered
    ]


def task_cells(
    score: TaskScore, rows: Rows, baseline: str, widest_reason: int | None = None
) -> list[list[Cell]]:
    """Return header and rows of one task; `score` is one of its scores."""
    others = [name for name in score.scores if name != score.main]
    header = ["mapper", "task", *score.about, f"{score.main} [95 %]", f"against {baseline}"]
    header += [*others, *score.details]
    table = [[Cell(title) for title in header]]
    for row, place in zip(rows, task_places(score, rows), strict=True):
        line = [Cell(row[name]) for name in ("mapper", "task")]
        line += [Cell(row.get(name, "")) for name in score.about]
        if row["error"] is not None:
            line.append(Cell(one_line(row["error"], widest_reason)))
            table.append(line + [EMPTY] * (len(header) - len(line)))
            continue
        line += [_scored(row, score.main, place), _against(row)]
        line += [Cell(f"{row[name]:.3f}", number=True) for name in others]
        table.append(line + [_detail(row[name]) for name in score.details])
    return table


def task_paper_cells(score: TaskScore, rows: Rows) -> list[list[Cell]]:
    """Return the main score in percent, a row for each mapper (and retrieval, if there are any)."""
    ways = [name for name in score.about if name == "retrieval"]
    places_of_scores = [name for name in score.about if name not in ways]
    lines: dict[tuple[str, ...], dict[str, Cell]] = {}
    for row, place in zip(rows, task_places(score, rows), strict=True):
        column = " to ".join(str(row.get(name, "")) for name in places_of_scores)
        key = (*(str(row.get(name, "")) for name in ways), row["mapper"])
        lines.setdefault(key, {})[column] = _percent(row, score.main, place)
    columns = list(dict.fromkeys(column for line in lines.values() for column in line))
    order = list(dict.fromkeys(key[:-1] for key in lines))
    return [[Cell(title) for title in (score.task, *ways, *columns)]] + [
        [Cell(key[-1]), *map(Cell, key[:-1]), *(lines[key].get(c, EMPTY) for c in columns)]
        for key in sorted(lines, key=lambda key: order.index(key[:-1]))
    ]


def word_places(rows: Rows) -> list[int | None]:
    """Return for each row whether its P@1 is the best (1) or second (2) of its kind."""
    return _places(rows, P_AT_1.name, lambda row: (row["pair"], row["retrieval"]))


def task_places(score: TaskScore, rows: Rows) -> list[int | None]:
    """Return for each row whether its main score is the best (1) or second (2) of its kind."""
    return _places(rows, score.main, lambda row: tuple(row.get(name) for name in score.about))


def one_line(text: str, widest: int | None = None) -> str:
    """Return a reason on one line, cut to so many characters."""
    line = " ".join(text.split())
    return line if widest is None or len(line) <= widest else line[: widest - 1].rstrip() + "…"


def _places(rows: Rows, name: str, key: Callable[[dict[str, Any]], Hashable]) -> list[int | None]:
    groups: dict[Hashable, list[int]] = {}
    for number, row in enumerate(rows):
        if row["error"] is None:
            groups.setdefault(key(row), []).append(number)
    place_of: list[int | None] = [None] * len(rows)
    for numbers in groups.values():
        ranked = places([rows[number][name] for number in numbers])
        for number, place in zip(numbers, ranked, strict=True):
            place_of[number] = place
    return place_of


def _scored(row: dict[str, Any], name: str, place: int | None) -> Cell:
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    interval = "" if low is None else f" [{low:.3f}, {high:.3f}]"
    return Cell(f"{row[name]:.3f}", place, interval, number=True)


def _percent(row: dict[str, Any], name: str, place: int | None) -> Cell:
    if row["error"] is not None:
        return Cell("failed", number=True)
    star = "*" if is_significant(row) else ""
    return Cell(f"{100 * row[name]:.1f}", place, star, number=True)


def _against(row: dict[str, Any]) -> Cell:
    if row["difference"] is None:
        return EMPTY
    sure = "" if row["p_holm"] is None else f" (p = {row['p_holm']:.2g})"
    star = "*" if is_significant(row) else ""
    return Cell(f"{row['difference']:+.3f}{sure}", after=star, number=True)


def _part(score: float | None, count: int) -> str:
    return f"{score:.3f} ({count})" if score is not None else ""


def _detail(value: object) -> Cell:
    if value is None:
        return EMPTY
    if isinstance(value, float):
        return Cell(f"{value:.3g}", number=True)
    return Cell(str(value), number=isinstance(value, int))
