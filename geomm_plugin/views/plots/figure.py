"""One look for all pictures; the same numbers always give the same file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geomm_plugin.errors import ParameterError, missing_extra
from geomm_plugin.files import disk
from geomm_plugin.files.atomic import atomic_file
from geomm_plugin.views.palette import SERIES, SURFACES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")
COLORS = SERIES["light"]
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
# No dates, and no random names inside the file.
METADATA: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}


def look(fonts: Sequence[str] = ()) -> dict[str, Any]:
    """Return matplotlib's settings for our pictures.

    Parameters
    ----------
    fonts
        Tried before DejaVu Sans, which has no Chinese, Japanese, Korean or Indian letters.
    """
    surfaces = SURFACES["light"]
    return {
        "font.family": [*fonts, "DejaVu Sans"],
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": surfaces["muted"],
        "axes.labelcolor": surfaces["text"],
        "axes.titlesize": 10,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": surfaces["line"],
        "grid.linewidth": 0.6,
        "legend.frameon": False,
        "svg.hashsalt": "geomm",
        "savefig.dpi": 200,
    }


@contextmanager
def new_figure(
    width: float, height: float, columns: int = 1, *, fonts: Sequence[str] = ()
) -> Iterator[tuple[Figure, list[Axes]]]:
    """Give a figure (in inches) and its axes in a row; drawing in the block has our look."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError as error:
        raise missing_extra("Drawing pictures", "plot") from error
    settings: Any = look(fonts)
    with rc_context(settings):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(1, columns, squeeze=False)
        yield figure, list(axes[0])


def save_figure(figure: Figure, path: str | Path, *, fonts: Sequence[str] = ()) -> None:
    """Save a figure as PNG, SVG or PDF, as the suffix says; it appears whole or not at all."""
    from matplotlib import rc_context

    path = check_suffix(Path(path))
    settings: Any = look(fonts)
    suffix = path.suffix.lower()
    with rc_context(settings), atomic_file(path) as part, disk.create(part) as stream:
        figure.savefig(stream, format=suffix[1:], metadata=METADATA[suffix])


def check_suffix(path: Path) -> Path:
    """Return the path if a picture can be saved to it."""
    if path.suffix.lower() not in SUFFIXES:
        raise ParameterError(
            f"A picture's suffix is one of {', '.join(SUFFIXES)}; {path} has none of them."
        )
    return path


def printable(word: str) -> str:
    """Return a word as fonts can show it: bytes that were not UTF-8 become visible escapes."""
    return word.encode("utf-8", "backslashreplace").decode("utf-8")


def add_legend(figure: Figure, axes: Axes) -> None:
    """Add a legend above the axes; dollar signs in names do not start a formula."""
    handles, names = axes.get_legend_handles_labels()
    widest = max(map(len, names))
    columns = max(1, min(len(names), int(figure.get_figwidth() * 13 / (widest + 6))))
    legend = figure.legend(
        handles, names, loc="outside upper left", ncols=columns, fontsize=8, columnspacing=1.5
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
