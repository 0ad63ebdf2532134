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
    axis.set_aspect("equal", adjustable="datalim")
    axis.margins(0.12)
    axis.tick_params(labelbottom=False, labelleft=False, length=0)


def spread_labels(axis: Axes) -> None:
    """Move each label around its point to where it covers no other one, or else the fewest."""
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

    taken: list[Any] = [
        Bbox.from_bounds(x - 6, y - 6, 12, 12)
        for points in axis.collections
        for x, y in axis.transData.transform(np.asarray(points.get_offsets()))
    ]
    for label in [text for text in axis.texts if isinstance(text, Annotation)]:
        covered = []
        for offset in OFFSETS:
            _place(label, offset)
            box = label.get_window_extent()
            covered.append(sum(box.overlaps(other) for other in taken))
            if not covered[-1]:
                break
        _place(label, OFFSETS[covered.index(min(covered))])
        taken.append(label.get_window_extent())


def _place(label: Annotation, offset: tuple[int, int]) -> None:
    x, y = offset
    label.xyann = offset
    label.set_horizontalalignment("left" if x > 0 else "right" if x < 0 else "center")
    label.set_verticalalignment("bottom" if y > 0 else "top" if y < 0 else "center")
