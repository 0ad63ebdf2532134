"""Charts: all that is drawn stays inside, and no line goes through a label."""

import xml.etree.ElementTree as ElementTree
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from geomm_plugin.views import charts
from geomm_plugin.views.charts import LOOKS, Axis, Interval, Line, Spot
from geomm_plugin.views.palette import SERIES, SURFACES

LABELS = st.text(max_size=40)
SHARES = st.floats(0, 1)


def outside(chart):
    """Return marks of which something is not on the chart."""
    found = []
    for mark in chart.marks:
        left, top, right, bottom = mark.box() if mark.text else (*mark.places[0],) * 2
        places = [(left, top), (right, bottom)] if mark.text else mark.places
        if not all(-0.01 <= x <= chart.width + 0.01 for x, _ in places):
            found.append(mark)
        if not all(-0.01 <= y <= chart.height + 0.01 for _, y in places):
            found.append(mark)
    return found


@st.composite
def intervals(draw, lowest=0, highest=1):
    ends = sorted(draw(st.lists(st.floats(lowest, highest), min_size=3, max_size=3)))
    names = [draw(st.sampled_from(texts)) for texts in (("en-es", ""), ("csls", "cosine"))]
    return Interval(
        names[0], draw(LABELS), names[1], ends[1], ends[0], ends[2], draw(st.booleans())
    )


@given(st.lists(intervals(-1), min_size=1, max_size=9), st.booleans(), st.sampled_from((340, 600)))
@example([Interval("", "a", "", -0.0512, -0.06, 0.01)], True, 340)
@example([Interval("", "b" * 50, "", -0.05, -0.0501, 0.05)], True, 340)
def test_intervals_stay_inside_with_their_minus_signs(intervals, differences, width):
    chart = charts.interval_chart("Scores", intervals, differences=differences, width=width)
    assert outside(chart) == []
    assert not any("-" in mark.text for mark in chart.marks if mark.look in ("value", "faint"))
    dots = [m for m in chart.marks if m.radius and m.places[0][0] > 6.5]
    assert sum(mark.look == "hollow" for mark in dots) == sum(one.hollow for one in intervals)


def test_differences_are_drawn_where_they_are():
    rows = [
        Interval("en-es", f"m{n}", "csls", v, v - 0.1, v + 0.2) for n, v in enumerate((-0.2, 0.3))
    ]
    chart = charts.interval_chart("Differences", rows, differences=True)
    (zero,) = [mark.places[0][0] for mark in chart.marks if mark.look == "zero"]
    lines = [mark.places for mark in chart.marks if mark.look == "curve"]
    dots = [mark.places[0][0] for mark in chart.marks if mark.look == "dot"]
    scale = (dots[1] - dots[0]) / 0.5
    assert dots[0] == pytest.approx(zero - 0.2 * scale)
    for ((start, y), (end, other)), dot in zip(lines, dots, strict=True):
        assert y == other
        assert (dot - start, end - dot) == pytest.approx((0.1 * scale, 0.2 * scale))
    assert "en-es m0 −0.200 (−0.300 to +0.000)" in chart.described


@pytest.mark.parametrize("group", ["en-es", "language en, section plurals"])
def test_no_line_goes_through_the_title_of_a_group(group):
    rows = [Interval(name, "cca", "", 0.1, -0.1, 0.3) for name in (group, "it")]
    chart = charts.interval_chart("Differences", rows, differences=True, width=570)
    boxes = [mark.box() for mark in chart.marks if mark.look == "group"]
    lines = [mark.places for mark in chart.marks if mark.look in ("grid", "zero", "curve")]
    assert len(boxes) == 2
    assert not any(charts._crosses(line, box) for line in lines for box in boxes)


POINTS = st.lists(st.tuples(st.floats(0, 1e4), SHARES), min_size=1)


@given(st.lists(st.tuples(LABELS, POINTS), min_size=1))
@example([(f"a line of a long name, {number}", [(1.0, 0.5)]) for number in range(60)])
def test_lines_stay_inside(named):
    lines = [Line(label, sorted(points), chosen=points[0][0]) for label, points in named]
    chart = charts.line_chart("P@1", lines, "size", height=400)
    assert [m for m in outside(chart) if m.look != "name"] == []


def assert_readable(chart):
    """No label covers a dot, a line, or another label."""
    boxes = [mark.box() for mark in chart.marks if mark.look == "name"]
    for one, other in combinations(boxes, 2):
        assert not charts._overlap(one, other)
    for mark in chart.marks:
        for box in boxes:
            if mark.radius:
                ((x, y),) = mark.places
                assert not charts._overlap(box, (x - 1, y - 1, x + 1, y + 1))
            elif mark.look in ("pair", "curve", "lead"):
                assert not any(charts._crosses(line, box) for line in pairwise(mark.places))


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 15), st.sampled_from(("w", "水", "árbol")))
@example(3, 12, "w" * 300)
def test_no_line_goes_through_a_label_of_the_plane_and_none_leaves_its_panel(seed, count, word):
    random = np.random.default_rng(seed)
    panels = {
        name: (
            [Spot(f"{word}{n}", *random.normal(size=2), n % 2) for n in range(2 * count)],
            [(2 * n, 2 * n + 1) for n in range(count)],
        )
        for name in ("before", "after")
    }
    chart = charts.plane_chart("en and es", ("en", "es"), panels)
    assert outside(chart) == []
    assert_readable(chart)
    for frame in [mark for mark in chart.marks if mark.look == "grid"]:
        for box in [mark.box() for mark in chart.marks if mark.look == "name"]:
            assert not any(charts._crosses(side, box) for side in pairwise(frame.places))
    labels = [mark for mark in chart.marks if mark.look == "name"]
    if count <= 5 and len(word) < 9:
        assert len(labels) == 2 + 4 * count, "every word has a place"


@given(st.text())
def test_a_picture_is_whole_whatever_it_says(text):
    chart = charts.interval_chart(text, [Interval(text, text, text, 0.5, 0.4, 0.6)]).titled()
    root = ElementTree.fromstring(chart.picture(fonts=[text]))
    assert {element.tag.rpartition("}")[2] for element in root.iter()} <= {
        "svg", "g", "style", "path", "circle", "text",
    }  # fmt: skip
    assert root.attrib["role"] == "img" and "0.500" in root.attrib["aria-label"]


def test_a_picture_follows_the_scheme_or_its_address():
    picture = charts.interval_chart("x", [Interval("", "a", "", 0.5, 0.4, 0.6)]).picture()
    for scheme, surfaces in SURFACES.items():
        assert f"#only-{scheme}:target ~ *" in picture and surfaces["text"] in picture
    assert "prefers-color-scheme: dark" in picture


def test_texts_are_as_wide_as_believed():
    font_manager = pytest.importorskip("matplotlib.font_manager")
    from matplotlib.ft2font import FT2Font

    font = FT2Font(font_manager.findfont("DejaVu Sans"))
    font.set_size(12, 72)
    for text in ("farmers", "agricultores", "0.3125", "−0.05", "geomm(regularization=100.0)",
                 "энергия", "ελευθερία", "mammal", "WWW", "P@1, en-es"):  # fmt: skip
        font.set_text(text)
        width = font.get_width_height()[0] / 64
        assert width <= charts.text_width(text, 12) <= 1.6 * width, text


@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e3), st.integers(1, 10))
def test_ticks_are_few_round_and_within_the_axis(low, length, count):
    axis = Axis(low, low + length, 0, 100)
    ticks = axis.ticks(count)
    assert count // 2.5 - 1 <= len(ticks) <= count + 1
    assert ticks == sorted(ticks, key=lambda tick: tick[0])
    assert all(-1e-3 <= place <= 100 + 1e-3 for place, _ in ticks)


@given(st.floats(-12, 11), st.floats(0.2, 12))
def test_ticks_of_logarithms_are_powers_of_ten_or_the_steps_between(low, length):
    for place, text in Axis(low, low + length, 0, 100).powers():
        value = float(text.replace("−", "-"))
        assert value == pytest.approx(10 ** (low + place / 100 * length))
        assert f"{value:e}"[0] in ("1" if length > 2 else "125")


@given(st.floats(1e-6, 1e6))
def test_a_step_is_not_below_its_length_nor_far_above(length):
    assert length * (1 - 1e-6) <= charts.round_step(length) <= 2.5 * length * (1 + 1e-6)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_color_is_readable_on_its_surface(scheme):
    def light(color):
        parts = [int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    surfaces = SURFACES[scheme]
    for color in (*SERIES[scheme], surfaces["text"], surfaces["muted"], surfaces["accent"]):
        for ground in (surfaces["ground"], surfaces["surface"]):
            bright, dim = sorted((light(color), light(ground)), reverse=True)
            assert (bright + 0.05) / (dim + 0.05) >= 4.5, (color, ground)


def test_every_look_has_a_color():
    names = {*SURFACES["light"], "series"}
    assert {look.color for look in LOOKS.values()} <= names
