"""The space before and after the mapper: pairs of words, joined by lines that should be short."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import LanguagesError, ParameterError
from geomm_plugin.normalize import unit
from geomm_plugin.views.palette import SURFACES
from geomm_plugin.views.plots.figure import (
    COLORS,
    MARKERS,
    add_legend,
    new_figure,
    printable,
)
from geomm_plugin.views.principal_plane import principal_plane

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

EDGE = 2  # points between a label and the edge of the figure
OFFSETS = ((5, 0), (-5, 0), (0, 6), (0, -6), (5, 5), (-5, 5), (5, -5), (-5, -5))


def plot_space(
    before: Mapping[str, Embeddings],
    after: Mapping[str, Embeddings],
    source: str,
    target: str,
    pairs: Sequence[tuple[str, str]],
    *,
    fonts: Sequence[str] = (),
) -> Figure:
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
    with new_figure(7.4, 3.8, 2, fonts=fonts) as (figure, axes):
        for axis, space, title in zip(axes, (before, after), ("before", "after"), strict=True):
            vectors = (
                unit(np.array([space[source][a] for a, _ in pairs])),
                unit(np.array([space[target][b] for _, b in pairs])),
            )
            _draw(axis, vectors, (source, target), pairs)
            axis.set_title(title)
        add_legend(figure, axes[0])
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # what is laid out stays, now that labels move
        for axis in axes:
            spread_labels(axis)
    return figure


def _draw(
    axis: Axes,
    vectors: tuple[Matrix, Matrix],
    languages: tuple[str, str],
    pairs: Sequence[tuple[str, str]],
) -> None:
    count = len(pairs)
    plane, _ = principal_plane(np.concatenate(vectors))
    sides = plane[:count], plane[count:]
    for start, end in zip(*sides, strict=True):
        axis.plot(*zip(start, end, strict=True), color=SURFACES["light"]["muted"], lw=0.7, zorder=1)
    for n, (points, language) in enumerate(zip(sides, languages, strict=True)):
        axis.scatter(
            points[:, 0], points[:, 1], s=18, color=COLORS[n], marker=MARKERS[n], label=language
        )
        for point, words in zip(points, pairs, strict=True):
            label = axis.annotate(
                printable(words[n]),
                (point[0], point[1]),
                OFFSETS[0],
                textcoords="offset points",
                fontsize=7,
                va="center",
            )
            label.set_parse_math(False)
            label.set_in_layout(False)  # spread_labels finds its place
    axis.set_aspect("equal", adjustable="datalim")
    axis.margins(0.12)
    axis.tick_params(labelbottom=False, labelleft=False, length=0)


def spread_labels(axis: Axes) -> None:
    """Move each label around its point to where it covers no other one, or else the fewest.

    All of it stays in the figure: a label that would be cut is moved in, or shortened.
    """
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

    figure = axis.get_figure()
    assert figure is not None
    inside = figure.bbox.padded(-EDGE * figure.dpi / 72)
    taken: list[Any] = [
        Bbox.from_bounds(x - 6, y - 6, 12, 12)
        for points in axis.collections
        for x, y in axis.transData.transform(np.asarray(points.get_offsets()))
    ]
    for label in [text for text in axis.texts if isinstance(text, Annotation)]:
        _shorten(label, inside.width)
        faults = []
        for offset in OFFSETS:
            _place(label, offset)
            box = label.get_window_extent()
            is_cut = any(_cut(box, inside))
            faults.append((is_cut, sum(box.overlaps(other) for other in taken)))
            if faults[-1] == (False, 0):
                break
        _place(label, OFFSETS[faults.index(min(faults))])
        x, y = _cut(label.get_window_extent(), inside)
        across, up = label.xyann
        label.xyann = (across - x * 72 / figure.dpi, up - y * 72 / figure.dpi)
        taken.append(label.get_window_extent())


def _cut(box: Bbox, inside: Bbox) -> tuple[float, float]:
    """Return by how much a box sticks out, across (to the left: negative) and up; 0 if not."""
    return (
        min(box.x0 - inside.x0, 0) + max(box.x1 - inside.x1, 0),
        min(box.y0 - inside.y0, 0) + max(box.y1 - inside.y1, 0),
    )


def _shorten(label: Annotation, width: float) -> None:
    """Leave out the end of a text that is wider than the figure."""
    text = label.get_text()
    share = width / label.get_window_extent().width
    while share < 1 and len(text) > 1:
        text = text[: max(1, int(min(share, 0.95) * len(text)) - 1)]
        label.set_text(f"{text}…")
        share = width / label.get_window_extent().width


def _place(label: Annotation, offset: tuple[int, int]) -> None:
    x, y = offset
    label.xyann = offset
    label.set_horizontalalignment("left" if x > 0 else "right" if x < 0 else "center")
    label.set_verticalalignment("bottom" if y > 0 else "top" if y < 0 else "center")
