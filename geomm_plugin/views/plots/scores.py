"""P@1 of several mappers as bars, with the interval of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from geomm_plugin.errors import ParameterError
from geomm_plugin.views.palette import SURFACES
from geomm_plugin.views.plots.figure import COLORS, add_legend, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HATCHES = ("", "//", "..")  # so that mappers of the same colour look different


def plot_scores(
    rows: Sequence[Mapping[str, Any]], *, retrieval: str | None = None, fonts: Sequence[str] = ()
) -> Figure:
    """Draw a group of bars for each language pair, a bar for each mapper.

    Parameters
    ----------
    rows
        Those of a comparison: `comparison.rows`, or what `geomm compare --json` prints.
    retrieval
        Which one is drawn; by default the first.
    """
    rows = [row for row in rows if row.get("p@1") is not None]
    known = list(dict.fromkeys(row["retrieval"] for row in rows))
    if not rows or (retrieval is not None and retrieval not in known):
        raise ParameterError(
            f"There are no scores to draw by the retrieval {retrieval!r}; there are "
            f"{', '.join(known) or 'none at all'}."
        )
    chosen = [row for row in rows if row["retrieval"] == (retrieval or known[0])]
    pairs = list(dict.fromkeys(row["pair"] for row in chosen))
    mappers = list(dict.fromkeys(row["mapper"] for row in chosen))
    width = 0.8 / len(mappers)
    with new_figure(max(4.0, 1.2 + 0.28 * len(pairs) * len(mappers)), 3.2, fonts=fonts) as drawn:
        figure, (axis,) = drawn
        for n, mapper in enumerate(mappers):
            row_of_pair = {row["pair"]: row for row in chosen if row["mapper"] == mapper}
            places = [i for i, pair in enumerate(pairs) if pair in row_of_pair]
            own = [row_of_pair[pairs[i]] for i in places]
            scores = np.array([row["p@1"] for row in own])
            lengths = [
                scores - np.array([row.get("p@1_low", row["p@1"]) for row in own]),
                np.array([row.get("p@1_high", row["p@1"]) for row in own]) - scores,
            ]
            axis.bar(
                np.array(places) + (n - (len(mappers) - 1) / 2) * width,
                scores,
                0.9 * width,
                yerr=np.clip(lengths, 0, None),
                color=COLORS[n % len(COLORS)],
                hatch=HATCHES[n // len(COLORS) % len(HATCHES)],
                edgecolor="white",
                label=mapper,
                error_kw={"lw": 0.9, "capsize": 2, "ecolor": SURFACES["light"]["text"]},
            )
        axis.set_xticks(range(len(pairs)), pairs)
        axis.grid(axis="x", visible=False)
        axis.set_ylabel(f"P@1 ({retrieval or known[0]})")
        add_legend(figure, axis)
    return figure
