"""Results as Markdown tables and a plot of how costs grow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

TITLES = {
    "read": "Read `.vec`",
    "read_again": "Read again (mapped)",
    "write": "Write `.vec`",
    "fit": "Fit GeoMM, lambda given",
    "fit_chosen": "Fit GeoMM, lambda chosen",
    "map": "Map",
    "csls": "CSLS, 1,500 words",
    "align": "The whole `align`",
}


@dataclass(frozen=True)
class Result:
    """What one job cost: CPU and wall seconds, peak memory in megabytes."""

    job: str
    who: str
    words: int
    dimension: int
    cpu: float
    wall: float
    peak: float

    def __str__(self) -> str:
        size = f"{self.words} x {self.dimension}"
        costs = f"{self.cpu:8.2f} s CPU {self.wall:8.2f} s wall {self.peak:7.0f} MB"
        return f"{self.job:12} {self.who:9} {size:>13} {costs}"


def tables(results: Sequence[Result], words: int, dimension: int) -> list[str]:
    """Return the sections of RESULTS.md."""
    at_most = [r for r in results if r.dimension == dimension]
    smallest = min(r.words for r in results)
    return [
        f"## Against others, {dimension} dimensions\n",
        "The largest size that both were run at. CPU seconds, of all threads.\n",
        *_comparison(at_most),
        "\n## Growth with the number of words\n",
        f"CPU seconds at {dimension} dimensions.\n\n![CPU seconds by words](growth.svg)\n",
        *_growth(at_most, "words"),
        "\n## Growth with the dimension\n",
        f"CPU seconds at {smallest:,} words.\n",
        *_growth([r for r in results if r.words == smallest], "dimension"),
        "\n## Peak memory\n",
        f"Of the whole process, in MB; {words:,} vectors of {dimension} numbers are "
        f"{words * dimension * 4 / 1e6:.0f} MB.\n",
        *_growth([r for r in at_most if r.who == "ours"], "words", "peak"),
    ]


def _comparison(results: Sequence[Result]) -> list[str]:
    lines = [
        "| job | words | ours, CPU s | wall s | MB | other | CPU s | wall s | MB | CPU ratio |",
        "|---|---:|---:|---:|---:|---|---:|---:|---:|---:|",
    ]
    for job, title in TITLES.items():
        for who in _names(results, job):
            if who == "ours":
                continue
            other = max((r for r in results if (r.job, r.who) == (job, who)), key=lambda r: r.words)
            ours = next(r for r in results if (r.job, r.who, r.words) == (job, "ours", other.words))
            mine = f"{ours.cpu:.2f} | {ours.wall:.2f} | {ours.peak:.0f}"
            theirs = f"{other.cpu:.2f} | {other.wall:.2f} | {other.peak:.0f}"
            ratio = f"{other.cpu / ours.cpu:.1f}"
            lines.append(f"| {title} | {ours.words:,} | {mine} | {who} | {theirs} | {ratio} |")
    return lines


def _growth(results: Sequence[Result], axis: str, cost: str = "cpu") -> list[str]:
    sizes = sorted({getattr(r, axis) for r in results})
    lines = [
        "| job | by | " + " | ".join(f"{size:,}" for size in sizes) + " |",
        "|---|---|" + "---:|" * len(sizes),
    ]
    for job, title in TITLES.items():
        for who in _names(results, job):
            costs = {
                getattr(r, axis): getattr(r, cost) for r in results if (r.job, r.who) == (job, who)
            }
            digits = 0 if cost == "peak" else 2
            cells = [f"{costs[size]:.{digits}f}" if size in costs else "" for size in sizes]
            lines.append(f"| {title} | {who} | " + " | ".join(cells) + " |")
    return lines


def _names(results: Sequence[Result], job: str) -> list[str]:
    return list(dict.fromkeys(r.who for r in results if r.job == job))


def plot_growth(results: Sequence[Result], dimension: int, path: Path) -> None:
    """Draw CPU seconds by number of words, one panel a job."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "growth"  # equal results make equal files
    figure, panels = pyplot.subplots(2, 4, figsize=(13, 6), sharex=True, layout="constrained")
    colors = {"ours": "C0", "gensim": "C1", "numpy": "C2", "faiss": "C3", "pymanopt": "C4"}
    for panel, (job, title) in zip(panels.flat, TITLES.items(), strict=True):
        for who in _names(results, job):
            points = sorted(
                (r.words, r.cpu)
                for r in results
                if (r.job, r.who, r.dimension) == (job, who, dimension)
            )
            panel.loglog(*zip(*points, strict=True), "o-", label=who, color=colors[who])
        panel.set_title(title.replace("`", ""))
        panel.grid(visible=True, which="major", alpha=0.3)
        panel.legend()
    figure.supxlabel("words")
    figure.supylabel("CPU seconds")
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
