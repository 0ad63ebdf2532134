"""Pictures for papers: `geomm plot`. SVG is written as it is, PNG and PDF by matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import LanguagesError, ParameterError, missing_extra
from geomm_plugin.factorization import svd
from geomm_plugin.files import disk
from geomm_plugin.files.atomic import atomic_file
from geomm_plugin.fit_report import FitReport
from geomm_plugin.normalize import unit
from geomm_plugin.views import charts
from geomm_plugin.views.charts import LOOKS, Chart, Interval, Line, Mark, Spot
from geomm_plugin.views.palette import COUNT, SERIES, SURFACES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "plot_learning_curve",
    "plot_regularization",
    "plot_scores",
    "plot_space",
    "principal_plane",
    "save_figure",
]

SUFFIXES = (".png", ".svg", ".pdf")
# No dates, and no names of programs inside the file: the same numbers give the same file.
METADATA: dict[str, dict[str, Any]] = {".png": {"Software": None}, ".pdf": {"CreationDate": None}}
INCH = 96  # pixels of a chart


def plot_space(
    before: Mapping[str, Embeddings],
    after: Mapping[str, Embeddings],
    source: str,
    target: str,
    pairs: Sequence[tuple[str, str]],
) -> Chart:
    """Draw translation pairs in the languages' own spaces, and in the shared space.

    Each panel shows the principal plane of the words in it, at unit length.

    Parameters
    ----------
    before, after
        The embeddings as read, and as mapped.
    pairs
        Words of source and target that are joined.
    """
    if not pairs:
        raise ParameterError("There is no pair of words to draw. Give at least one.")
    if before[source].dimension != before[target].dimension:
        raise LanguagesError(
            f"{source} has {before[source].dimension} dimensions and {target} has "
            f"{before[target].dimension}: they have no common picture before they are mapped."
        )
    words = [a for a, _ in pairs], [b for _, b in pairs]
    joined = [(n, n + len(pairs)) for n in range(len(pairs))]
    panels = {}
    for name, space in (("before", before), ("after", after)):
        sides = zip((source, target), words, strict=True)
        vectors = [unit(np.array([space[lang][word] for word in own])) for lang, own in sides]
        plane, _ = principal_plane(np.concatenate(vectors))
        spots = [
            Spot(word, float(x), float(y), int(n >= len(pairs)))
            for n, (word, (x, y)) in enumerate(zip([*words[0], *words[1]], plane, strict=True))
        ]
        panels[name] = spots, joined
    return charts.plane_chart(f"{source} and {target}", (source, target), panels)


def principal_plane(vectors: Matrix) -> tuple[Matrix, float]:
    """Return two coordinates for each row, and the share of the variance that they keep.

    x -> (x - mean) V_2, where V_2 holds the two directions of largest variance among these rows
    alone. The sign of each is chosen so that its largest coordinate is positive: the same words
    always give the same picture.
    """
    centered = np.asarray(vectors, np.float64) - np.mean(vectors, axis=0, dtype=np.float64)
    left, lengths, _ = svd(centered)
    plane = np.zeros((len(vectors), 2))
    columns = min(2, len(lengths))
    plane[:, :columns] = left[:, :columns] * lengths[:columns]
    largest = plane[np.abs(plane).argmax(axis=0), [0, 1]]
    plane *= np.where(largest < 0, -1, 1)
    total = float((lengths**2).sum())
    return plane, float((lengths[:2] ** 2).sum()) / total if total else 1.0


def plot_scores(rows: Sequence[Mapping[str, Any]], *, retrieval: str | None = None) -> Chart:
    """Draw P@1 of each mapper with its interval, a group for each language pair.

    Parameters
    ----------
    rows
        Those of a comparison: `comparison.rows`, or what `geomm compare --json` prints.
    retrieval
        Which one is drawn; by default the first.
    """
    name, rows = _rows_of(rows, "retrieval", retrieval, 0)
    intervals = [
        Interval(row["pair"], row["mapper"], name, *charts.with_ends(row, "p@1")) for row in rows
    ]
    return charts.interval_chart(f"P@1, {name}", intervals, width=520).titled()


def plot_learning_curve(rows: Sequence[Mapping[str, Any]], *, pair: str | None = None) -> Chart:
    """Draw P@1 against the number of training words, a line for each mapper.

    Parameters
    ----------
    rows
        What learning_curve() returns.
    pair
        Which language pair is drawn, e.g. "en-es"; by default the last, which is the average where
        there are several.
    """
    name, rows = _rows_of(rows, "pair", pair, -1)
    lines = []
    for mapper in dict.fromkeys(row["mapper"] for row in rows):
        own = sorted((r for r in rows if r["mapper"] == mapper), key=lambda row: row["size"])
        points = [(row["size"], row["p@1"]) for row in own]
        lines.append(Line(mapper, points, [(row["p@1_low"], row["p@1_high"]) for row in own]))
    chart = charts.line_chart(f"P@1, {name}", lines, "source words in the training dictionary")
    return chart.titled()


def _rows_of(
    rows: Sequence[Mapping[str, Any]], column: str, name: str | None, default: int
) -> tuple[str, list[Mapping[str, Any]]]:
    """Return a retrieval or pair of languages, by default one by its place, and its scores."""
    rows = [row for row in rows if row.get("p@1") is not None]
    rows = [row for row in rows if row.get("task") == rows[0].get("task")]  # words come first
    known = list(dict.fromkeys(row[column] for row in rows))
    if not rows or (name is not None and name not in known):
        raise ParameterError(
            f"There are no scores (P@1) to draw of the {column} {name}; there are those of "
            f"{', '.join(known)}."
            if known
            else "There are no scores (P@1) to draw. Compare mappers on a test dictionary."
        )
    name = known[default] if name is None else name
    return name, [row for row in rows if row[column] == name]


def plot_regularization(report: FitReport) -> Chart:
    """Draw the held-out P@1 of every lambda that was tried, and the one that was chosen.

    Parameters
    ----------
    report
        The `report_` of a mapper that chose its regularization by validation.
    """
    choices = {name: choice for name, choice in report.choices().items() if choice.scores}
    if not choices:
        raise ParameterError(
            "This mapper tried no values of its regularization. Fit one with regularization=auto."
        )
    lines = [
        Line(name, sorted(choice.scores.items()), chosen=choice.value)
        for name, choice in choices.items()
    ]
    return charts.line_chart("P@1 on held-out words", lines, "λ (dashed: chosen)").titled()


def save_figure(chart: Chart, path: str | Path, *, fonts: Sequence[str] = ()) -> None:
    """Save a chart as SVG, PNG or PDF, as the suffix says; it appears whole or not at all.

    Parameters
    ----------
    fonts
        Tried before DejaVu Sans, which has no Chinese, Japanese, Korean or Indian letters.
    """
    path = check_suffix(Path(path))
    if path.suffix.lower() != ".svg":
        _save_by_matplotlib(chart, path, fonts)
        return
    with atomic_file(path) as part, disk.create(part) as stream:
        stream.write(chart.picture(fonts).encode())


def check_suffix(path: Path) -> Path:
    """Return the path if a picture can be saved to it."""
    if path.suffix.lower() not in SUFFIXES:
        raise ParameterError(
            f"A picture's suffix is one of {', '.join(SUFFIXES)}; {path} has none of them."
        )
    if path.suffix.lower() != ".svg":
        try:
            import matplotlib  # noqa: F401
        except ImportError as error:
            raise missing_extra("Drawing .png and .pdf", "plot") from error
    return path


def _save_by_matplotlib(chart: Chart, path: Path, fonts: Sequence[str]) -> None:
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    settings: Any = {"font.family": [*fonts, "DejaVu Sans"], "savefig.dpi": 200}
    suffix = path.suffix.lower()
    with rc_context(settings), atomic_file(path) as part, disk.create(part) as stream:
        figure = Figure(figsize=(chart.width / INCH, chart.height / INCH))
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, chart.width), ylim=(chart.height, 0))
        axes.set_axis_off()
        for mark in chart.marks:
            _draw(axes, mark)
        figure.savefig(stream, format=suffix[1:], metadata=METADATA[suffix], bbox_inches="tight")


def _draw(axes: Axes, mark: Mark) -> None:
    look, point = LOOKS[mark.look], 72 / INCH
    is_series = look.color == "series"
    color = SERIES["light"][mark.series % COUNT] if is_series else SURFACES["light"][look.color]
    across, up = zip(*mark.places, strict=True)
    if look.size:
        side = {"start": "left", "middle": "center", "end": "right"}[mark.anchor]
        weight = "bold" if look.bold else "normal"
        size = look.size * point
        text = axes.text(*mark.places[0], mark.text, size=size, color=color, ha=side, weight=weight)
        text.set_parse_math(False)  # dollar signs start no formula
    elif mark.radius:
        face = "white" if look.line else color
        size = 2 * mark.radius * point
        style: dict[str, Any] = {"marker": mark.shape, "markersize": size, "clip_on": False}
        axes.plot(across, up, mfc=face, mec=color, mew=look.line * point, **style)
    elif look.line:
        dashes = (0, (2, 3)) if look.dashed else "solid"
        axes.plot(across, up, color=color, lw=look.line * point, ls=dashes, clip_on=False)
    else:
        axes.fill(across, up, color=color, alpha=look.opacity, lw=0)
