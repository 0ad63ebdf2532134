"""Words are data in every form of a table."""

import re

import pytest

from geomm_plugin.evaluation import table
from geomm_plugin.evaluation.table import Cell, Table, places


class Words(Table):
    """A table of one word a row."""

    rows = ()

    def __init__(self, *words):
        self.words = words

    def cells(self):
        return [[Cell("word"), Cell("n")]] + [
            [Cell(w), Cell("1", 1, "*", True)] for w in self.words
        ]


@pytest.mark.parametrize("word", ["[2em]", "*", "  [x]", "* a"])
def test_a_word_is_never_the_argument_of_the_line_before_it(word):
    latex = Words("first", word).to_latex()
    assert not re.search(r"\\\\\s*[\[*]", latex)


@pytest.mark.parametrize("character", "&%$#_{}~^\\<>|`[*")
def test_what_means_something_in_latex_is_escaped(character):
    line = Words(f"a{character}b").to_latex().splitlines()[4]
    inner = line.removeprefix("a").partition("b &")[0]
    assert inner.startswith(("\\", "{")) and inner != character


@pytest.mark.parametrize("dashes", ["--", "---", "-----"])
def test_hyphens_stay_hyphens(dashes):
    (line,) = (line for line in Words(dashes).to_latex().splitlines() if "textbf" in line)
    assert "--" not in line and line.count("-") == len(dashes)


def test_the_best_is_bold_and_has_its_mark():
    assert r"w & \textbf{1}$^{*}$ \\" in Words("w").to_latex()


@pytest.mark.parametrize("width", [40, 60, 79])
def test_a_table_is_folded_to_the_width_of_a_terminal(monkeypatch, width):
    rows = [["mapper", "pair", "p@1", "why"]]
    rows += [[f"geomm_plus(regularization={n})", "en-es", f"0.{n}31", "word " * 20] for n in "123"]
    plain = table.text_table(rows)
    monkeypatch.setattr(table, "terminal_width", lambda: 400)
    assert table.text_table(rows) == plain, "there is room"
    monkeypatch.setattr(table, "terminal_width", lambda: width)
    folded = table.text_table(rows)
    assert max(map(len, folded.splitlines())) <= width
    assert folded.count("en-es") == 1 and folded.count("word") == 20, "the same in all rows: once"
    letters = sorted("".join(folded.split()).replace(",", ""))
    assert letters == sorted(
        "".join("".join(rows[0] + rows[1] + [r[0] + r[2] for r in rows[2:]]).split())
    )


def test_what_follows_a_number_stands_below_it_on_a_narrow_terminal(monkeypatch):
    cells = [[Cell("mapper"), Cell("P@1 [95 %]")]]
    cells += [[Cell(name), Cell(f"0.{name}", after=" [0.1, 0.9]")] for name in ("12", "34")]
    monkeypatch.setattr(table, "terminal_width", lambda: 18)
    lines = table.text_of_cells(cells).splitlines()
    assert list(map(str.strip, lines[1:])) == [
        *("12      0.12", "[0.1, 0.9]", "34      0.34", "[0.1, 0.9]"),
    ]


def test_words_are_words_in_markdown():
    markdown = pytest.importorskip("markdown")
    words = ["<script>x</script>", "a|b", "a\\|b", "\\<i>", "[x](javascript:y)", "\\", "&lt;"]
    page = markdown.markdown(Words(*words).to_markdown(), extensions=["tables"])
    assert page.count("<tr>") == 1 + len(words) and page.count("<td>") == 2 * len(words)
    elements = {"table", "thead", "tbody", "tr", "th", "td", "strong"}
    assert set(re.findall(r"<(\w+)", page)) <= elements, page


def test_scores_that_are_shown_alike_share_a_place():
    assert places([0.9451, 0.9449, 0.91, 0.9101, 0.5], ["x"] * 5) == [1, 1, 2, 2, None]
    assert places([0.2, None, 0.9, 0.8], ["x", "x", "y", "y"]) == [1, None, 1, 2]
    assert places([], []) == []
