"""Charts, made once for the report, for pictures in papers and for the docs.

A chart is a list of marks in pixels (y downwards) that no drawing library has seen: `Chart.svg`
needs this package alone, and `plots.save_figure` draws the same marks by matplotlib.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from geomm_plugin.text import printable
from geomm_plugin.views.markup import Content, Markup, tag
from geomm_plugin.views.palette import COUNT, color_rules, schemes_by_address

Place = tuple[float, float]
Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True)
class Look:
    """How a kind of mark is drawn; a color is a name of the palette, or that of its series."""

    color: str = "series"
    line: float = 0  # the width of a line in pixels; 0: what it encloses is filled
    size: float = 0  # of a text
    bold: bool = False
    opacity: float = 1
    dashed: bool = False


LOOKS = {
    "grid": Look("line", line=1),
    "zero": Look("text", line=1.2),
    "pair": Look("muted", line=1),
    "lead": Look("muted", line=0.8, dashed=True),
    "chosen": Look(line=1, dashed=True),
    "curve": Look(line=1.8),
    "band": Look(opacity=0.13),
    "dot": Look(),
    "hollow": Look(line=1.8),
    "name": Look("text", size=12),
    "group": Look("text", size=12, bold=True),
    "value": Look("text", size=11),
    "faint": Look("muted", size=11),
}
SHAPES = ("o", "s", "^", "D", "v")  # a series has a color and a shape: 40 look different
_CORNERS = {
    "s": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "^": ((0, -1.2), (1.15, 0.9), (-1.15, 0.9)),
    "D": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    "v": ((0, 1.2), (-1.15, -0.9), (1.15, -0.9)),
}


@dataclass(frozen=True)
class Mark:
    """A line through places, a text at one (its baseline), or a dot if it has a radius."""

    look: str
    places: tuple[Place, ...]
    series: int = 0
    text: str = ""
    anchor: str = "start"  # or middle, end: which part of a text is at its place
    radius: float = 0

    @property
    def shape(self) -> str:
        """The shape of a dot."""
        return SHAPES[self.series % len(SHAPES)]

    def box(self) -> Box:
        """Return what a text covers, by an estimate that is rather too wide."""
        (x, y), look = self.places[0], LOOKS[self.look]
        width = text_width(self.text, look.size, look.bold)
        left = x - {"start": 0, "middle": width / 2, "end": width}[self.anchor]
        return left, y - 0.85 * look.size, left + width, y + 0.3 * look.size

    def corners(self) -> list[Place]:
        """Return the corners of a line, or of a dot that is not round."""
        (x, y), radius = self.places[0], self.radius
        if not radius:
            return list(self.places)
        return [(x + radius * a, y + radius * b) for a, b in _CORNERS[self.shape]]

    def element(self) -> Markup:
        """Return it as an element of SVG."""
        series = LOOKS[self.look].color == "series"
        about = {"class_": f"{self.look} color-{self.series % COUNT}" if series else self.look}
        x, y = self.places[0]
        if LOOKS[self.look].size:
            anchor = None if self.anchor == "start" else self.anchor
            return tag("text", self.text, x=x, y=y, text_anchor=anchor, **about)
        if self.radius and self.shape == "o":
            return tag("circle", cx=x, cy=y, r=self.radius, **about)
        path = "L".join(f"{a:.1f} {b:.1f}" for a, b in self.corners())
        is_open = LOOKS[self.look].line and not self.radius
        return tag("path", d=f"M{path}{'' if is_open else 'Z'}", **about)


@dataclass(frozen=True)
class Chart:
    """Marks on a surface of a size in pixels; `described` holds its numbers in words."""

    title: str
    described: str
    width: float
    height: float
    marks: tuple[Mark, ...]

    def svg(self, *before: Content, **attributes: str) -> Markup:
        """Return it for a page that has the rules of `chart_rules`."""
        return tag(
            "svg",
            before,
            [mark.element() for mark in self.marks],
            viewBox=f"0 0 {self.width:g} {self.height:g}",
            role="img",
            aria_label=printable(f"{self.title}: {self.described}."),
            **attributes,
        )

    def picture(self, fonts: Sequence[str] = ()) -> Markup:
        """Return it as a file of its own: on no ground, and in the colors of the reader's scheme.

        Addresses that end in #only-light or #only-dark show it in that one whatever the system has,
        as sites need them that have a switch of their own.
        """
        names = ", ".join(f"'{name}'" for name in fonts if name.replace(" ", "").isalnum())
        family = f"text {{ font-family: {names + ', ' if names else ''}DejaVu Sans, sans-serif; }}"
        rules = Markup(color_rules() + schemes_by_address() + chart_rules() + family)
        targets = tag("g", id="only-light"), tag("g", id="only-dark"), tag("style", rules)
        size = {"width": f"{self.width:g}", "height": f"{self.height:g}"}
        return self.svg(*targets, xmlns="http://www.w3.org/2000/svg", **size)

    _repr_svg_ = picture  # notebooks show it

    def titled(self) -> Chart:
        """Return it with its title drawn above, as pictures need it that have no caption."""
        down = 24
        marks = [replace(m, places=tuple((x, y + down) for x, y in m.places)) for m in self.marks]
        text = shortened(self.title, LOOKS["group"].size, self.width / 1.1)
        marks.append(Mark("group", ((0, 14),), text=text))
        return replace(self, height=self.height + down, marks=tuple(marks))


def chart_rules() -> str:
    """Return how marks look, as CSS."""
    rules = []
    for name, look in LOOKS.items():
        color = "var(--color)" if look.color == "series" else f"var(--{look.color})"
        if look.size:
            rule = f"fill: {color}; font-size: {look.size}px;" + " font-weight: 600;" * look.bold
            rule += " stroke: var(--surface); stroke-width: 3px; paint-order: stroke;"
        elif look.line:
            rule = f"fill: none; stroke: {color}; stroke-width: {look.line};"
            rule += " stroke-dasharray: 2 3;" * look.dashed
        else:
            rule = f"fill: {color}; fill-opacity: {look.opacity};"
        rules.append(f"svg .{name} {{ {rule} }}\n")
    return "".join([*rules, "svg .hollow { fill: var(--surface); }\n"])


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Return about how wide a text is, rather too wide: fonts are not known here."""
    return (1.1 if bold else 1) * size * sum(map(_em, text))


def _em(character: str) -> float:
    if unicodedata.category(character) in ("Mn", "Cf"):
        return 0
    if unicodedata.east_asian_width(character) in "WF" or character in "mwMW@%…":
        return 1
    if character in "fijlrtI.,:;'|! ()[]/-":
        return 0.42
    if character.isupper() or character in "+−=<>~±#&" or character > "\u024f":
        return 0.84
    return 0.64


def shortened(text: str, size: float, width: float) -> str:
    """Return a text as fonts can show it, its end left out where it is wider than so."""
    text = printable(text)
    if text_width(text, size) <= width:
        return text
    while text and text_width(f"{text}…", size) > width:
        text = text[:-1]
    return f"{text}…"


@dataclass(frozen=True)
class Axis:
    """Maps [low, high] to [start, stop] in pixels."""

    low: float
    high: float
    start: float
    stop: float

    def __call__(self, value: float) -> float:
        """Return where a value stands."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.stop - self.start)

    def ticks(self, count: int = 5) -> list[tuple[float, str]]:
        """Return about so many round values within the axis: where they stand, and their texts."""
        length = self.high - self.low
        step = round_step(length / count)
        first = math.ceil(self.low / step - 1e-9)
        values = [round((first + n) * step, 10) for n in range(2 * count + 2)]
        return [(self(v), number(v, "g")) for v in values if v <= self.high + 1e-9 * length]

    def powers(self) -> list[tuple[float, str]]:
        """Return such values, powers of ten at least, of an axis of their logarithms."""
        steps = (1,) if self.high - self.low > 2 else (1, 2, 5)
        powers = range(math.floor(self.low), math.ceil(self.high) + 1)
        values = [power + math.log10(step) for power in powers for step in steps]
        return [(self(v), number(10**v, "g")) for v in values if self.low <= v <= self.high]


def round_step(length: float) -> float:
    """Return the smallest of 1, 2, 5 times a power of ten that is not below a length."""
    power = 10.0 ** math.floor(math.log10(length))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= length * (1 - 1e-9))


def around(values: Iterable[float], least: float = 0.01) -> tuple[float, float]:
    """Return a range that holds all values with some room."""
    low, high = min(values := list(values)), max(values)
    room = max(0.08 * (high - low), least)
    return low - room, high + room


def number(value: float, form: str = "z.3f") -> str:
    """Return a number as text; its minus sign is as wide as a plus."""
    return format(value, form).replace("-", "−")


@dataclass(frozen=True)
class Interval:
    """A score of one row of a group, e.g. of a mapper on a pair; hollow where it says little."""

    group: str
    label: str
    series: str
    value: float
    low: float
    high: float
    hollow: bool = False


def with_ends(row: Mapping[str, Any], name: str) -> tuple[float, float, float]:
    """Return a value of a row, and the ends of its interval: itself, if the row has none."""
    value = row[name]
    return value, row.get(f"{name}_low", value), row.get(f"{name}_high", value)


def interval_chart(
    title: str, intervals: Sequence[Interval], *, differences: bool = False, width: float = 600
) -> Chart:
    """Return a dot with its interval for each score, those of a group below its name.

    Labels stand beside the lines, or above them where they are too long for that.

    Parameters
    ----------
    differences
        Whether values are signed, with a line at 0 (a forest plot).
    """
    names = list(dict.fromkeys(one.series for one in intervals))
    groups = list(dict.fromkeys(one.group for one in intervals))
    rows: dict[tuple[str, str], list[Interval]] = {}
    for one in sorted(intervals, key=lambda one: groups.index(one.group)):
        rows.setdefault((one.group, one.label), []).append(one)
    look, room = LOOKS["name"], 0.42 * width
    widest = max(text_width(printable(one.label), look.size) for one in intervals) + 14
    beside = widest <= room
    titles = (text_width(printable(group), look.size, bold=True) + 14 for group in groups)
    widest = max(widest, *(min(title, room) for title in titles))  # no line goes through them
    form = "+z.3f" if differences else "z.3f"
    ends = [end for one in intervals for end in (one.low, one.high, one.value)]
    low, high = around([*ends, 0] if differences else ends)
    low, high = low if min(ends) < 0 else max(low, 0), high if max(ends) > 1 else min(high, 1)
    axis = Axis(low, high, widest if beside else 12, width - 56)
    marks, y = _legend(names, width) if len(names) > 1 else ([], 4.0)
    top, last = y, None
    for (group, label), points in rows.items():
        if group != last and group:
            y += 22
            marks.append(Mark("group", ((0, y),), text=shortened(group, 12, width / 1.1)))
        last = group
        y += 4 if len(points) > 1 else 0
        line = 15 if len(points) > 1 else 20
        if beside:
            at = y + 4 + (len(points) * line + look.size) / 2
        else:
            at = y = y + 17
        name = shortened(label, look.size, widest - 10 if beside else width)
        marks.append(Mark("name", ((0, at),), text=name))
        for one in points:
            middle, order = y + 4 + line / 2, names.index(one.series)
            y += line
            line_ends = (axis(one.low), middle), (axis(one.high), middle)
            dot = "hollow" if one.hollow else "dot"
            shown = "faint" if one.hollow else "value"
            marks += [
                Mark("curve", line_ends, order),
                Mark(dot, ((axis(one.value), middle),), order, radius=4),
                Mark(shown, ((width, middle + 4),), text=number(one.value, form), anchor="end"),
            ]
    bottom = y + 8
    zero = [Mark("zero", ((axis(0), top), (axis(0), bottom)))] if differences else []
    described = "; ".join(
        " ".join(filter(None, (one.group, one.series if len(names) > 1 else "", one.label)))
        + " {} ({} to {})".format(*(number(x, form) for x in (one.value, one.low, one.high)))
        for one in intervals
    )
    grid = _across(axis.ticks(), top, bottom, width)
    return Chart(title, described, width, bottom + 20, (*grid, *zero, *marks))


@dataclass(frozen=True)
class Line:
    """A line through (x, y) in the order of x, with the ends of each interval, if there are any."""

    label: str
    points: Sequence[Place]
    ends: Sequence[Place] = ()
    chosen: float | None = None  # an x that is marked


def line_chart(
    title: str, lines: Sequence[Line], x_title: str, *, width: float = 440, height: float = 300
) -> Chart:
    """Return lines by the logarithm of x, with their intervals as bands.

    The title stands above, as that of the y axis. An x that has no logarithm is drawn left of all
    others.
    """
    chosen = [line.chosen for line in lines if line.chosen is not None]
    values = [x for line in lines for x, _ in line.points] + chosen
    positive = [x for x in values if x > 1e-12]
    floor = min(positive, default=1.0) * (1 if len(positive) == len(values) else 0.1)

    def exponent(x: float) -> float:
        return math.log10(min(max(x, floor), 1e12))

    marks, top = _legend([line.label for line in lines], width)
    height = max(height, top + 200)  # room for the lines below the names of many
    heights = [v for line in lines for v in [y for _, y in line.points] + [*sum(line.ends, ())]]
    x_axis = Axis(*around(map(exponent, values), least=0.1), 50, width - 14)
    y_axis = Axis(*around(heights), height - 40, top + 10)
    for order, line in enumerate(lines):
        across = [x_axis(exponent(x)) for x, _ in line.points]
        if line.ends:
            below, above = (
                zip(across, map(y_axis, end), strict=True) for end in zip(*line.ends, strict=True)
            )
            marks.append(Mark("band", (*below, *reversed([*above])), order))
        if line.chosen is not None:
            x = x_axis(exponent(line.chosen))
            marks.append(Mark("chosen", ((x, top + 6), (x, height - 40)), order))
        places = tuple(zip(across, [y_axis(y) for _, y in line.points], strict=True))
        marks.append(Mark("curve", places, order))
        marks += [Mark("dot", (at,), order, radius=3) for at in places]
    described = "; ".join(
        f"{line.label} {', '.join(f'{x:g}: {y:.3f}' for x, y in line.points)}" for line in lines
    )
    named = Mark("faint", ((width / 2, height - 4),), text=x_title, anchor="middle")
    up = _up(y_axis.ticks(), 50, width - 14)
    grid = _across(x_axis.powers(), top + 6, height - 40, width)
    return Chart(title, described, width, height, (*up, *grid, named, *marks))


@dataclass(frozen=True)
class Spot:
    """A named point."""

    label: str
    x: float
    y: float
    series: int = 0


def plane_chart(
    title: str,
    series: Sequence[str],
    panels: Mapping[str, tuple[Sequence[Spot], Sequence[tuple[int, int]]]],
    *,
    panel: float = 350,
) -> Chart:
    """Return panels of named points, each in a plane with one scale for both directions.

    Parameters
    ----------
    panels
        By name: points, and which of them are joined by lines.
    """
    gap = 18
    width = len(panels) * (panel + gap) - gap
    marks, y = _legend(series, width)
    y += 22
    described = []
    for n, (name, (spots, joined)) in enumerate(panels.items()):
        left, top = n * (panel + gap), y
        box = left, top, left + panel, top + panel
        places = _fitted([(spot.x, spot.y) for spot in spots], box)
        lines = [(places[a], places[b]) for a, b in joined]
        corners = (box[0], box[1]), (box[2], box[1]), (box[2], box[3]), (box[0], box[3])
        marks += [
            Mark("group", ((left, top - 7),), text=name),
            Mark("grid", (*corners, corners[0])),
            *(Mark("pair", ends) for ends in lines),
            *(Mark("dot", (at,), s.series, radius=4) for s, at in zip(spots, places, strict=True)),
            *place_labels([spot.label for spot in spots], places, lines, box),
        ]
        words = (f"{spots[a].label} and {spots[b].label}" for a, b in joined)
        described.append(f"{name}: {', '.join(words)}")
    return Chart(title, "; ".join(described), width, y + panel + 1, tuple(marks))


def _fitted(points: Sequence[Place], box: Box) -> list[Place]:
    """Return points moved and scaled into a box, with room for labels around them."""
    places = np.array(points, float)
    low, high = places.min(axis=0), places.max(axis=0)
    room = 0.7 * (box[2] - box[0]), 0.84 * (box[3] - box[1])
    factor = min(room / np.where(high > low, high - low, (high - low).max() or 1))
    middle = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return [
        (float(x), float(y)) for x, y in middle + factor * (places - (low + high) / 2) * (1, -1)
    ]


_AROUND = tuple(
    (distance, math.radians(angle))
    for distance in (7, 14, 22, 34, 50, 70, 95, 125)
    for angle in (0, 180, 270, 90, 330, 210, 30, 150, 300, 240, 60, 120)
)


def place_labels(
    texts: Sequence[str], dots: Sequence[Place], lines: Sequence[tuple[Place, Place]], inside: Box
) -> list[Mark]:
    """Return the label of each dot, beside it or farther away at the end of a thin line.

    No label covers a dot, a line or another label, and all stay inside a box. One that finds no
    such place is left out.
    """
    look = LOOKS["name"]
    dot_boxes = [(x - 6, y - 6, x + 6, y + 6) for x, y in dots]
    placed: list[Box] = []
    lines = list(lines)
    marks = []
    for text, (x, y) in zip(texts, dots, strict=True):
        text = shortened(text, look.size, 0.4 * (inside[2] - inside[0]))
        start = Mark("name", ((0, 0),), text=text).box()
        wide, high = start[2] - start[0], start[3] - start[1]
        for distance, angle in _AROUND:
            left = x + math.cos(angle) * (distance + wide / 2) - wide / 2
            top = y + math.sin(angle) * (distance + high / 2) - high / 2
            box = left, top, left + wide, top + high
            near = min(max(x, left), box[2]), min(max(y, top), box[3])
            lead = [((x, y), near)] if distance > 14 else []
            if (
                (inside[0] <= left and inside[1] <= top)
                and (box[2] <= inside[2] and box[3] <= inside[3])
                and not any(_overlap(box, other) for other in (*dot_boxes, *placed))
                and not any(_crosses(line, box) for line in lines)
                and not any(_crosses(line, other) for line in lead for other in placed)
            ):
                placed.append(box)
                lines += lead
                marks += [Mark("lead", ends) for ends in lead]
                marks.append(Mark("name", ((left, top - start[1]),), text=text))
                break
    return marks


def _overlap(box: Box, other: Box) -> bool:
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]


def _crosses(line: tuple[Place, Place], box: Box) -> bool:
    """True if a part of a line lies in a box (Liang and Barsky)."""
    (x, y), (end_x, end_y) = line
    first, last = 0.0, 1.0
    for start, step, low, high in ((x, end_x - x, box[0], box[2]), (y, end_y - y, box[1], box[3])):
        if step == 0:
            if not low < start < high:
                return False
        else:
            enter, leave = sorted(((low - start) / step, (high - start) / step))
            first, last = max(first, enter), min(last, leave)
    return first + 1e-6 < last  # more than a touch


def _legend(names: Sequence[str], width: float) -> tuple[list[Mark], float]:
    """Return dots with names in lines at the top, and where the last line ends."""
    marks, x, y = [], 0.0, 14.0
    for order, name in enumerate(names):
        text = shortened(name, LOOKS["name"].size, width - 20)
        wide = text_width(text, LOOKS["name"].size) + 20
        if x and x + wide > width:
            x, y = 0.0, y + 18
        marks.append(Mark("dot", ((x + 6, y - 4),), order, radius=4))
        marks.append(Mark("name", ((x + 16, y),), text=text))
        x += wide + 12
    return marks, y + 6


def _across(
    ticks: Iterable[tuple[float, str]], top: float, bottom: float, width: float
) -> list[Mark]:
    """Return a grid of upright lines with the values below them, as far as there is room."""
    marks, end = [], -math.inf
    for x, text in ticks:
        marks.append(Mark("grid", ((x, top), (x, bottom))))
        half = text_width(text, LOOKS["faint"].size) / 2
        middle = min(max(x, half), width - half)
        if middle - half > end:
            marks.append(Mark("faint", ((middle, bottom + 15),), text=text, anchor="middle"))
            end = middle + half + 4
    return marks


def _up(ticks: Iterable[tuple[float, str]], left: float, end: float) -> list[Mark]:
    marks = []
    for y, text in ticks:
        marks.append(Mark("grid", ((left, y), (end, y))))
        marks.append(Mark("faint", ((left - 6, y + 4),), text=text, anchor="end"))
    return marks
