"""Curves: P@1 against the size of the dictionary, and held-out P@1 against lambda."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from geomm_plugin.errors import ParameterError
from geomm_plugin.fit_report import FitReport
from geomm_plugin.views.plots.figure import (
    COLORS,
    MARKERS,
    add_legend,
    new_figure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_learning_curve(
    rows: Sequence[Mapping[str, Any]], *, pair: str | None = None, fonts: Sequence[str] = ()
) -> Figure:
    """Draw P@1 against the number of training words, a line for each mapper.

    Parameters
    ----------
    rows
        What learning_curve() returns.
    pair
        Which language pair is drawn, e.g. "en-es"; by default the last, which is the average where
        there are several.
    """
    rows = [row for row in rows if row.get("p@1") is not None]
    known = list(dict.fromkeys(row["pair"] for row in rows))
    if not rows or (pair is not None and pair not in known):
        raise ParameterError(f"No mapper was scored on {pair}; there are {', '.join(known)}.")
    chosen = [row for row in rows if row["pair"] == (pair or known[-1])]
    with new_figure(4.6, 3.2, fonts=fonts) as (figure, (axis,)):
        for n, mapper in enumerate(dict.fromkeys(row["mapper"] for row in chosen)):
            own = sorted((row["size"], row) for row in chosen if row["mapper"] == mapper)
            sizes = [size for size, _ in own]
            style = _style(n)
            axis.plot(sizes, [row["p@1"] for _, row in own], label=mapper, **style)
            axis.fill_between(
                sizes,
                [row["p@1_low"] for _, row in own],
                [row["p@1_high"] for _, row in own],
                color=style["color"],
                alpha=0.12,
                lw=0,
            )
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter("{x:g}")
        axis.set_xlabel("source words in the training dictionary")
        axis.set_ylabel(f"P@1, {pair or known[-1]}")
        add_legend(figure, axis)
    return figure


def plot_regularization(report: FitReport, *, fonts: Sequence[str] = ()) -> Figure:
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
    with new_figure(4.6, 3.2, fonts=fonts) as (figure, (axis,)):
        for n, (name, choice) in enumerate(choices.items()):
            tried = sorted(choice.scores.items())
            axis.plot(*zip(*tried, strict=True), label=name, **_style(n))
            axis.axvline(choice.value, color=COLORS[n % len(COLORS)], lw=0.9, ls=":")
        shown = [x for choice in choices.values() for x in (choice.value, *choice.scores)]
        axis.set_xscale("log" if min(shown) > 0 else "symlog")
        axis.xaxis.set_major_formatter("{x:g}")
        axis.set_xlabel("λ (dotted: chosen)")
        axis.set_ylabel("P@1 on held-out words")
        add_legend(figure, axis)
    return figure


def _style(n: int) -> dict[str, Any]:
    return {
        "color": COLORS[n % len(COLORS)],
        "marker": MARKERS[n % len(MARKERS)],
        "markersize": 4,
        "lw": 1.4,
    }
