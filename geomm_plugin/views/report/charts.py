"""Charts as SVG with a text alternative, narrow enough to be read on a phone without zooming."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from geomm_plugin.views.markup import Content, Markup, tag
from geomm_plugin.views.palette import COUNT
from geomm_plugin.views.report.axis import Axis, around, around_logarithmic

WIDTH = 420
CHARACTER_WIDTH = 6.7  # pixels, the mean at a font size of 12 pixels
DASHES = ("", "6 3", "2 3")


@dataclass(frozen=True)
class Series:
    """One mapper in a chart: its place in the order gives colour and dash."""

    label: str
    order: int
    values: tuple[float, ...]
    low: float = 0.0
    high: float = 0.0

    @property
    def color(self) -> str:
        """The class that colours it."""
        return f"color-{self.order % COUNT}"

    @property
    def dash(self) -> str | None:
        """The dashes of its line, so that two lines of one colour look different."""
        return DASHES[self.order // COUNT % len(DASHES)] or None


def bar_chart(title: str, bars: Sequence[Series]) -> Markup:
    """Return horizontal bars with the interval of each, with its name above and value after it."""
    row, top = 38, 6
    height = top + row * len(bars) + 24
    most = max([bar.high for bar in bars] + [bar.values[0] for bar in bars] + [0.05])
    axis = Axis(0, min(1.0, most * 1.02), 8, WIDTH - 52)
    parts: list[Content] = [_grid(axis, top, height - 22)]
    for n, bar in enumerate(bars):
        y, value = top + row * n, bar.values[0]
        end, middle = axis(value), y + 25
        parts += [
            tag("text", _short(bar.label, 58), x=8, y=y + 12, class_="name halo"),
            tag("rect", x=8, y=y + 17, width=max(end - 8, 0.5), height=16, class_="bar"),
            tag("path", d=_whisker(axis(bar.low), axis(bar.high), middle), class_="whisker"),
            tag(
                "text",
                f"{value:.3f}",
                x=max(end, axis(bar.high)) + 6,
                y=middle + 4,
                class_="value",
            ),
        ]
        parts[-4:] = [tag("g", *parts[-4:], class_=bar.color)]
    described = "; ".join(
        f"{b.label} {b.values[0]:.3f} ({b.low:.3f} to {b.high:.3f})" for b in bars
    )
    return chart(title, described, height, parts)


def forest_chart(title: str, points: Sequence[Series]) -> Markup:
    """Return a point with its interval for each series, and a line at 0: differences."""
    row, top = 34, 6
    height = top + row * len(points) + 24
    farthest = max(max(abs(point.low), abs(point.high), abs(point.values[0])) for point in points)
    limit = max(1.08 * farthest, 0.01)
    axis = Axis(-limit, limit, 8, WIDTH - 60)
    parts: list[Content] = [
        _grid(axis, top, height - 22),
        tag("path", d=f"M{axis(0):.1f} {top}V{height - 22}", class_="whisker"),
    ]
    for n, point in enumerate(points):
        y, value = top + row * n, point.values[0]
        parts.append(
            tag(
                "g",
                tag("text", _short(point.label, 58), x=8, y=y + 12, class_="name halo"),
                tag(
                    "path", d=_whisker(axis(point.low), axis(point.high), y + 23), class_="interval"
                ),
                tag("circle", cx=axis(value), cy=y + 23, r=5, class_="dot"),
                tag("text", _signed(value), x=WIDTH - 52, y=y + 27, class_="value"),
                class_=point.color,
            )
        )
    described = "; ".join(
        f"{p.label} {_signed(p.values[0])} ({_signed(p.low)} to {_signed(p.high)})" for p in points
    )
    return chart(title, described, height, parts)


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


def line_chart(title: str, lines: Sequence[Series], x_title: str) -> Markup:
    """Return a line for each series over 1, 2, 3, ..."""
    height = 270
    count = max(len(line.values) for line in lines)
    x = Axis(1, count, 44, WIDTH - 12)
    low, high = around([value for line in lines for value in line.values])
    y = Axis(low, high, height - 40, 10)
    parts: list[Content] = [_y_grid(y, 44, WIDTH - 12)]
    for k in range(1, count + 1):
        parts.append(tag("text", k, x=x(k), y=height - 22, class_="tick middle"))
    parts.append(tag("text", x_title, x=(44 + WIDTH) / 2, y=height - 5, class_="tick middle"))
    for line in lines:
        points = [(x(k), y(value)) for k, value in enumerate(line.values, 1)]
        path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in points)
        dots = [tag("circle", cx=a, cy=b, r=2.5, class_="dot") for a, b in points]
        name = tag("title", line.label)
        curve = tag("path", d=path, class_="curve", stroke_dasharray=line.dash)
        parts.append(tag("g", name, curve, dots, class_=line.color))
    described = "; ".join(
        f"{line.label} {', '.join(f'{v:.3f}' for v in line.values)}" for line in lines
    )
    return chart(title, described, height, parts)


def scatter_chart(title: str, points: Sequence[Series], x_title: str) -> Markup:
    """Return a point for each series at (values[0], values[1]) with the interval of the second."""
    height = 300
    x = Axis(
        *around_logarithmic([point.values[0] for point in points]),
        start=44,
        stop=WIDTH - 12,
        logarithmic=True,
    )
    limits = [limit for point in points for limit in (point.low, point.high, point.values[1])]
    y = Axis(*around(limits), start=height - 40, stop=10)
    parts: list[Content] = [_y_grid(y, 44, WIDTH - 12)]
    for value in x.ticks():
        parts.append(tag("text", f"{value:g}", x=x(value), y=height - 22, class_="tick middle"))
    parts.append(tag("text", x_title, x=(44 + WIDTH) / 2, y=height - 5, class_="tick middle"))
    places = [(x(point.values[0]), y(point.values[1])) for point in points]
    for point, (a, b) in zip(points, places, strict=True):
        whisker = f"M{a:.1f} {y(point.low):.1f}V{y(point.high):.1f}"
        parts.append(
            tag(
                "g",
                tag("title", point.label),
                tag("path", d=whisker, class_="interval"),
                tag("circle", cx=a, cy=b, r=5, class_="dot"),
                class_=point.color,
            )
        )
    labels = place_labels(points, places, height - 40)
    for point, (a, b), (left, baseline) in zip(points, places, labels, strict=True):
        if abs(baseline - 4 - b) > 7:  # the label had to move away: a line joins it to its point
            near = left if left > a else left + CHARACTER_WIDTH * len(_short(point.label, 30))
            parts.append(
                tag("path", d=f"M{a:.1f} {b:.1f}L{near:.1f} {baseline - 4:.1f}", class_="lead")
            )
        parts.append(tag("text", _short(point.label, 30), x=left, y=baseline, class_="name halo"))
    described = "; ".join(f"{p.label} {p.values[0]:.3g} s, {p.values[1]:.3f}" for p in points)
    return chart(title, described, height, parts)


def place_labels(
    points: Sequence[Series], places: Sequence[tuple[float, float]], bottom: float
) -> list[tuple[float, float]]:
    """Return where each label begins: beside its point, moved up or down until it is free."""
    taken = [(a - 6, a + 6, b + 4) for a, b in places]
    label_starts: dict[int, tuple[float, float]] = {}
    for n in sorted(range(len(points)), key=lambda n: places[n][1]):
        a, b = places[n]
        width = CHARACTER_WIDTH * len(_short(points[n].label, 30))
        left = a + 9 if a + 9 + width <= WIDTH else a - 9 - width
        left = max(left, 2)
        shifts = [sign * step for step in range(0, int(bottom), 7) for sign in (1, -1)]
        free = [
            b + 4 + shift
            for shift in shifts
            if 12 <= b + 4 + shift <= bottom
            and all(
                abs(b + 4 + shift - y) >= 14 or left + width < start or stop < left
                for start, stop, y in taken
            )
        ]
        y = free[0] if free else b + 4
        taken.append((left, left + width, y))
        label_starts[n] = left, y
    return [label_starts[n] for n in range(len(points))]


def legend(series: Sequence[Series]) -> Markup:
    """Return names with the look of their lines."""
    items = [
        tag(
            "li",
            tag(
                "svg",
                tag("path", d="M1 7H27", class_="curve", stroke_dasharray=one.dash),
                tag("circle", cx=14, cy=7, r=3, class_="dot"),
                viewBox="0 0 28 14",
                width=28,
                height=14,
                class_=one.color,
                aria_hidden="true",
            ),
            one.label,
        )
        for one in series
    ]
    return tag("ul", items, class_="legend")


def chart(title: str, described: str, height: float, parts: Sequence[Content]) -> Markup:
    """Return a figure: its title, and a picture with its numbers as text, for screen readers."""
    picture = tag(
        "svg",
        parts,
        viewBox=f"0 0 {WIDTH} {height:g}",
        role="img",
        aria_label=f"{title}: {described}.",
        class_="chart",
    )
    return tag("figure", tag("figcaption", title), picture)


def _grid(axis: Axis, top: float, bottom: float) -> Markup:
    return tag(
        "g",
        [
            [
                tag("path", d=f"M{axis(value):.1f} {top}V{bottom}", class_="grid"),
                tag("text", f"{value:g}", x=axis(value), y=bottom + 16, class_="tick middle"),
            ]
            for value in axis.ticks()
        ],
    )


def _y_grid(axis: Axis, left: float, end: float) -> Markup:
    return tag(
        "g",
        [
            [
                tag("path", d=f"M{left} {axis(value):.1f}H{end}", class_="grid"),
                tag("text", f"{value:g}", x=left - 6, y=axis(value) + 4, class_="tick end"),
            ]
            for value in axis.ticks()
        ],
    )


def _whisker(low: float, high: float, y: float) -> str:
    return f"M{low:.1f} {y - 4}V{y + 4}M{low:.1f} {y}H{high:.1f}M{high:.1f} {y - 4}V{y + 4}"


def _short(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
