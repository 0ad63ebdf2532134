"""[evaluate] The outcome of a comparison: runs, rows with intervals and tests, and their tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from geomm_plugin.arrays import Vector
from geomm_plugin.errors import FormatError
from geomm_plugin.evaluation.breakdown import GROUPS, By
from geomm_plugin.evaluation.metrics import P_AT_1
from geomm_plugin.evaluation.provenance import Provenance, json_like
from geomm_plugin.evaluation.runs import Run
from geomm_plugin.evaluation.significance import bootstrap_interval, holm, paired_p_value
from geomm_plugin.evaluation.tables import Cell, Table, places, text_table
from geomm_plugin.evaluation.task_rows import task_rows, task_table
from geomm_plugin.evaluation.translation import Evaluation

SIGNIFICANT = 0.05
WIDEST_REASON = 60  # characters of a failure's reason within a table of text; whole below it


@dataclass(frozen=True, eq=False)
class Comparison(Table):
    """Mappers on the same data: `rows` holds all numbers, `runs` the words behind them."""

    runs: tuple[Run, ...]
    baseline: str
    seed: int = 0
    asked: tuple[tuple[str, str], ...] = ()  # (pair, retrieval) of a mapper that does not fail
    metrics: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)
    each_pair: bool = False  # whether every pair of languages was fitted alone
    languages: tuple[str, ...] = ()
    by: By | None = None

    def notes(self) -> list[str]:
        """Say what was fitted, where it could have been something else."""
        if self.each_pair:
            return ["Every pair of languages was fitted alone."]
        if len(self.languages) > 2:
            return [
                f"All {len(self.languages)} languages were fitted together, into one space. "
                "--each-pair (in Python, each_pair=True) fits every pair alone."
            ]
        return []

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """One JSON-like object for each mapper, pair and retrieval.

        First the numbers (see `numbers`), then where they come from: the mapper's parameters, the
        lambda that it chose for each dictionary, whether pairs were fitted alone, the seed of
        intervals and tests, versions of packages, and the SHA-256 of every file.
        """
        about = {run.label: self._about(run) for run in self.runs}
        provenance = self.provenance.columns()
        return [row | about[row["mapper"]] | provenance for row in self.numbers]

    def _about(self, run: Run) -> dict[str, Any]:
        chosen: dict[str, float] = {}
        with suppress(FormatError):  # a report that is not as ours are
            choices = run.report.choices()
            chosen = {pair: choice.value for pair, choice in choices.items()}
        return {
            "parameters": json_like(run.parameters),
            "regularization": chosen,
            "each_pair": self.each_pair,
            "seed": self.seed,
        }

    @cached_property
    def numbers(self) -> list[dict[str, Any]]:
        """The numbers of each mapper, pair and retrieval.

        `p@1_low` and `p@1_high` are the 95 % bootstrap interval; `difference` is P@1 less the
        baseline's with its own interval, `p_value` the paired test's, `p_holm` that adjusted for
        the number of mappers. `recall` is there if a search was approximate. What does not apply
        is None.
        """
        rows = [row for run in self.runs for row in self._rows_of(run)]
        groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for row in rows:
            if row["p_value"] is not None:
                groups.setdefault((row["pair"], row["retrieval"]), []).append(row)
        for group in groups.values():
            for row, adjusted in zip(group, holm([r["p_value"] for r in group]), strict=True):
                row["p_holm"] = adjusted
        return rows

    def run(self, label: str) -> Run:
        """Return the run of a mapper."""
        return next(run for run in self.runs if run.label == label)

    @cached_property
    def task_rows(self) -> list[dict[str, Any]]:
        """One JSON-like object for each mapper and row of a task, if tasks were given.

        `difference` is the main score (the first of its task) less the baseline's.
        """
        return task_rows(self.runs, self.baseline, self.seed)

    def to_html(self, provenance: Provenance | None = None) -> str:
        """Return one page of HTML with tables and charts that needs no network.

        Parameters
        ----------
        provenance
            The files and the command behind the numbers, for the page's last section; by default
            the files that the comparison was made from.
        """
        from geomm_plugin.views.report import make_page

        return make_page(self, provenance or self.provenance)

    def __str__(self) -> str:
        reasons = [f"{run.label}: {_one_line(run.error)}" for run in self.runs if run.error]
        lines = [[cell.text + cell.after for cell in line] for line in self.cells(WIDEST_REASON)]
        tasks = [text_table(task_table(self.runs, self.task_rows))] if self.task_rows else []
        return "\n".join([text_table(lines), *tasks, *self.notes(), *reasons])

    def table(self) -> list[list[str]]:
        """Return header and rows as short texts."""
        return [[cell.text + cell.after for cell in line] for line in self.cells()]

    def cells(self, widest_reason: int | None = None) -> list[list[Cell]]:
        """Return header and rows as short texts; the best P@1 of a pair and retrieval is marked.

        Parameters
        ----------
        widest_reason
            Reasons of failures are cut to one line of so many characters; by default they are
            whole.
        """
        others = [name for name in self._metrics() if name != P_AT_1.name]
        recall = ["recall"] if self._approximate() else []
        header = ["mapper", "pair", "retrieval", "P@1 [95 %]", f"against {self.baseline}"]
        groups = () if self.by is None else GROUPS[self.by][0]
        header += [f"P@1 {group} (words)" for group in groups]
        header += [name.upper() for name in others]
        header += ["coverage", "words", *recall, "fit s", "fit MB"]
        place_of = self.places()
        table = [[Cell(title) for title in header]]
        for number, row in enumerate(self.numbers):
            line = [Cell(row["mapper"]), Cell(row["pair"]), Cell(row["retrieval"])]
            if row["error"] is not None:
                line.append(Cell(_one_line(row["error"], widest_reason)))
                table.append(line + [Cell("", number=True)] * (len(header) - len(line)))
                continue
            interval = f" [{row['p@1_low']:.3f}, {row['p@1_high']:.3f}]"
            line += [
                Cell(f"{row['p@1']:.3f}", place_of[number], interval, number=True),
                _against(row),
            ]
            texts = [_part(row[f"p@1 {name}"], row[f"n_words {name}"]) for name in groups]
            texts += [f"{row[name]:.3f}" for name in others]
            texts += [f"{row['coverage']:.3f}", str(row["n_words"])]
            texts += ["" if row[name] is None else f"{row[name]:.3f}" for name in recall]
            texts += [f"{row['fit_seconds']:.2f}", f"{row['peak_memory_mb']:.0f}"]
            table.append(line + [Cell(text, number=True) for text in texts])
        return table

    def paper_cells(self) -> list[list[Cell]]:
        """Return P@1 in percent, a row for each mapper and retrieval, a column for each pair."""
        pairs = list(dict.fromkeys(row["pair"] for row in self.numbers))
        header = [Cell(title) for title in ("mapper", "retrieval", *pairs)]
        lines: dict[tuple[str, str], dict[str, Cell]] = {}
        for row, place in zip(self.numbers, self.places(), strict=True):
            line = lines.setdefault((row["retrieval"], row["mapper"]), {})
            if row["error"] is None:
                star = "*" if row["p_holm"] is not None and row["p_holm"] < SIGNIFICANT else ""
                line[row["pair"]] = Cell(f"{100 * row['p@1']:.1f}", place, star, number=True)
        none = Cell("failed", number=True)
        labels = list(dict.fromkeys(retrieval for retrieval, _ in lines))
        ordered = sorted(lines, key=lambda key: labels.index(key[0]))
        return [header] + [
            [Cell(mapper), Cell(name), *(lines[name, mapper].get(pair, none) for pair in pairs)]
            for name, mapper in ordered
        ]

    def places(self) -> list[int | None]:
        """Return for each row whether its P@1 is the best (1) or second (2) of its kind."""
        groups: dict[tuple[str, str], list[int]] = {}
        for number, row in enumerate(self.numbers):
            if row["error"] is None:
                groups.setdefault((row["pair"], row["retrieval"]), []).append(number)
        place_of: list[int | None] = [None] * len(self.numbers)
        for numbers in groups.values():
            ranked = places([self.numbers[number]["p@1"] for number in numbers])
            for number, place in zip(numbers, ranked, strict=True):
                place_of[number] = place
        return place_of

    def _rows_of(self, run: Run) -> Iterator[dict[str, Any]]:
        cost = {
            "fit_seconds": run.fit_seconds,
            "peak_memory_mb": None if run.peak_bytes is None else run.peak_bytes / 1e6,
            "baseline": self.baseline,
            "error": run.error,
        }
        recall = ["recall"] if self._approximate() else []
        if run.error is not None:
            for pair, retrieval in self._pairs():
                names = [*self._metrics(), "coverage", "n_words", *self._parts(), *recall]
                names += INTERVALS
                named = {"mapper": run.label, "pair": pair, "retrieval": retrieval}
                yield named | dict.fromkeys(names) | cost
            return
        theirs = {(p, r): e for p, r, e in self.run(self.baseline).groups()}
        for pair, retrieval, evaluations in run.groups():
            words = [hits(evaluation) for evaluation in evaluations]
            interval = bootstrap_interval(words, seed=self.seed)
            row: dict[str, Any] = {
                "mapper": run.label,
                "pair": pair,
                "retrieval": retrieval,
                **{
                    name: sum(e.scores[name] for e in evaluations) / len(evaluations)
                    for name in evaluations[0].scores
                },
                "coverage": sum(e.coverage for e in evaluations) / len(evaluations),
                "n_words": sum(e.n_words for e in evaluations),
                **mean_parts(evaluations),
                **{name: mean_recall(evaluations) for name in recall},
            }
            row |= dict.fromkeys(INTERVALS) | {
                "p@1_low": interval.low,
                "p@1_high": interval.high,
            }
            if run.label != self.baseline and (pair, retrieval) in theirs:
                before = [hits(evaluation) for evaluation in theirs[pair, retrieval]]
                changes = [a - b for a, b in zip(words, before, strict=True)]
                interval = bootstrap_interval(changes, seed=self.seed)
                row["difference"] = sum(float(c.mean()) for c in changes) / len(changes)
                row["difference_low"], row["difference_high"] = interval.low, interval.high
                row["p_value"] = paired_p_value(words, before, seed=self.seed)
            yield row | cost

    def _pairs(self) -> list[tuple[str, str]]:
        """Return all (pair, retrieval) that were asked for, or that some mapper was scored on."""
        scored = dict.fromkeys((p, r) for run in self.runs for p, r, _ in run.groups())
        return list(self.asked or scored) or [("", "")]

    def _metrics(self) -> list[str]:
        """Return the metrics that were asked for, or by which some mapper was scored."""
        scored = dict.fromkeys(m for run in self.runs for e in run.evaluations for m in e.scores)
        return list(self.metrics or scored) or [P_AT_1.name]

    def _parts(self) -> list[str]:
        """Return the names of the columns that break P@1 down."""
        groups = () if self.by is None else GROUPS[self.by][0]
        return [name for group in groups for name in (f"p@1 {group}", f"n_words {group}")]

    def _approximate(self) -> bool:
        return any(e.recall is not None for run in self.runs for e in run.evaluations)

    def best(self) -> dict[tuple[str, str], float]:
        """Return the highest P@1 of each (pair, retrieval)."""
        best: dict[tuple[str, str], float] = {}
        for row in self.numbers:
            if row["error"] is None:
                key = row["pair"], row["retrieval"]
                best[key] = max(best.get(key, 0.0), row["p@1"])
        return best


INTERVALS = (
    "p@1_low",
    "p@1_high",
    "difference",
    "difference_low",
    "difference_high",
    "p_value",
    "p_holm",
)


def hits(evaluation: Evaluation) -> Vector:
    """Return 1 for each word that is translated correctly at rank 1, else 0."""
    return P_AT_1.score(evaluation.ranks)


def mean_parts(evaluations: list[Evaluation]) -> dict[str, Any]:
    """Return the mean P@1 of each group of words over pairs of languages that have such words."""
    parts = [evaluation.parts() for evaluation in evaluations]
    means: dict[str, Any] = {}
    for name in parts[0]:
        known = [part[name] for part in parts if part[name] is not None]
        total = sum(known)
        means[name] = total if name.startswith("n_words") else total / len(known) if known else None
    return means


def mean_recall(evaluations: list[Evaluation]) -> float | None:
    """Return the mean recall of approximate searches; None where all are exact."""
    known = [e.recall for e in evaluations if e.recall is not None]
    return sum(known) / len(known) if known else None


def _against(row: dict[str, Any]) -> Cell:
    if row["difference"] is None:
        return Cell("", number=True)
    star = "*" if row["p_holm"] < SIGNIFICANT else ""
    return Cell(f"{row['difference']:+.3f} (p = {row['p_holm']:.2g})", after=star, number=True)


def _part(score: float | None, count: int) -> str:
    return f"{score:.3f} ({count})" if score is not None else ""


def _one_line(text: str, widest: int | None = None) -> str:
    line = " ".join(text.split())
    return line if widest is None or len(line) <= widest else line[: widest - 1].rstrip() + "…"
