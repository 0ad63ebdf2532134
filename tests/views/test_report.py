"""The report page: everything escaped, everything inline, and the numbers those of the table."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geomm_plugin.evaluation.outcome import Comparison
from geomm_plugin.evaluation.provenance import Provenance
from geomm_plugin.evaluation.runs import Run
from geomm_plugin.evaluation.task import Score
from geomm_plugin.evaluation.translation import Evaluation, WordResult
from geomm_plugin.fit_report import Choice, FitReport, PairCounts
from geomm_plugin.source_file import SourceFile
from geomm_plugin.text import escaped
from geomm_plugin.views.markup import (
    Markup,
    data_block,
    join,
    tag,
)
from geomm_plugin.views.report.page import changes_data, checksum, verdict

ATTACKS = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "\"' onload=x",
    "&lt;",
)


class Parsed(HTMLParser):
    """The elements and the texts of a page, as a browser would find them."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.texts, self._open = [], [], []
        self.feed(page)

    def handle_starttag(self, name, attributes):
        self.elements.append((name, dict(attributes)))
        self._open.append(name)

    def handle_endtag(self, name):
        while self._open and self._open.pop() != name:
            pass

    def handle_data(self, data):
        self.texts.append((self._open[-1] if self._open else "", data))

    def attributes(self, name):
        return [attributes for found, attributes in self.elements if found == name]

    def text_in(self, name):
        return [text for where, text in self.texts if where == name]


def evaluation(ranks, words=None, targets=None, pair=("en", "es"), retrieval="csls"):
    words = words or [f"word{n}" for n in range(len(ranks))]
    targets = targets or [f"target{n}" for n in range(len(ranks))]
    ranks = np.array(ranks)
    results = tuple(
        WordResult(word, (target,), int(rank), ((target, 0.5), ("other", 0.4)))
        for word, target, rank in zip(words, targets, ranks, strict=True)
    )
    scores = {f"p@{k}": float(np.mean(ranks <= k)) for k in (1, 5, 10)}
    return Evaluation(
        "bli",
        {"pair": "-".join(pair), "retrieval": retrieval},
        scores,
        (ranks == 1).astype(float),
        {"coverage": 0.5, "n_words": len(ranks)},
        pair=pair,
        words=results,
        missing=("lost<b>",),
        ranks=ranks,
    )


def run(label, *evaluations, seconds=0.5, error=None, **more):
    return Run(label, {"text": "<i>"}, seconds, 10_000_000, error, evaluations, **more)


@pytest.fixture
def comparison():
    first = evaluation([1, 1, 2, 1, 9, 1])
    second = evaluation([1, 3, 1, 1, 1, 1])
    other = {"pair": ("es", "it"), "about": {"pair": "es-it", "retrieval": "csls"}}
    return Comparison(
        (
            run("plain", first, replace(first, **other)),
            run("fancy(x=1)", second, replace(second, **other), seconds=3.0),
            run("broken<b>", error="ValueError: <b>no</b>", seconds=None),
        ),
        "plain",
    )


@given(st.text(), st.text())
def test_any_text_stays_text(text, attribute):
    parsed = Parsed(tag("p", text, title=attribute, data_value=attribute))
    assert [name for name, _ in parsed.elements] == ["p"]
    (attributes,) = parsed.attributes("p")
    shown = attribute.encode("utf-8", "backslashreplace").decode()
    assert attributes == {"title": shown, "data-value": shown}
    assert "".join(parsed.text_in("p")) == text.encode("utf-8", "backslashreplace").decode()


@given(st.text())
def test_markup_is_taken_in_as_it_is_and_text_never(text):
    inner = tag("b", text)
    assert join([inner, text]) == inner + escaped(text)
    assert isinstance(join([inner]), Markup)


@given(
    st.recursive(st.text(), lambda values: st.lists(values) | st.dictionaries(st.text(), values))
)
def test_data_comes_back_and_cannot_end_its_element(value):
    block = data_block("data", value)
    assert block.count("<") == 2
    assert json.loads(block[block.index(">") + 1 : block.rindex("</")]) == value


def test_attributes_that_do_not_apply_are_left_out():
    assert tag("p", class_=None, hidden=False, inert=True, x=1.5) == '<p inert x="1.5"></p>'


def test_the_page_loads_nothing_and_runs_only_its_own_script(comparison):
    parsed = Parsed(comparison.to_html())
    policy = next(a["content"] for a in parsed.attributes("meta") if "http-equiv" in a)
    assert policy.startswith("default-src 'none';") and "unsafe" not in policy
    (style,) = parsed.text_in("style")
    script = parsed.text_in("script")[-1]
    assert f"'{checksum(style)}'" in policy and f"'{checksum(script)}'" in policy
    assert [
        a for name, a in parsed.elements for key in a if key in ("src", "style", "action")
    ] == []
    assert {a["href"] for name, a in parsed.elements if "href" in a} == {"data:,"}
    assert not re.search(r"\bon\w+\s*=", "".join(str(a) for _, a in parsed.elements))


def test_words_labels_files_and_errors_are_escaped():
    attacks = list(ATTACKS)
    found = evaluation([1, 2, 1, 2], words=attacks, targets=attacks)
    page = Comparison(
        (
            run(
                attacks[0],
                found,
                warnings=(attacks[1],),
                report=FitReport({attacks[0]: PairCounts(1, {attacks[2]: 1})}),
            ),
            run(attacks[1], found, report=FitReport(regularization={attacks[1]: Choice(1.0, {})})),
            run(attacks[2], error=attacks[3], seconds=None),
        ),
        attacks[0],
        provenance=Provenance(((attacks[0], SourceFile(attacks[1], 5, attacks[2])),), attacks[1]),
    ).to_html()
    parsed = Parsed(page)
    assert parsed.attributes("img") == []
    assert len(parsed.attributes("script")) == 2
    data = json.loads(next(t for n, t in parsed.texts if n == "script"))
    assert data["pairs"][0]["words"] == attacks
    assert data["mappers"] == attacks[:2]


def test_the_table_holds_the_numbers_of_the_comparison(comparison):
    parsed = Parsed(comparison.to_html())
    shown = {
        *parsed.text_in("td"),
        *parsed.text_in("b"),
        *parsed.text_in("u"),
        *parsed.text_in("small"),
    }
    for row in comparison.rows:
        if row["error"] is None:
            numbers = row["p@1"], row["coverage"]
            assert {f"{number:.3f}" for number in numbers} | {f"{row['fit_seconds']:.2f}"} <= shown
            assert f" [{row['p@1_low']:.3f}, {row['p@1_high']:.3f}]" in shown
        if row["difference"] is not None:
            assert f"{row['difference']:+z.3f}".replace("-", "−") in shown
    assert "ValueError: <b>no</b>" in parsed.text_in("td")


def test_rows_of_a_pair_stand_together(comparison):
    page = comparison.to_html()
    body = page[page.index("<tbody>", page.index('id="numbers"')) :]
    rows = re.findall(r"<tr><th[^>]*>(\w+).*?</th><td>([\w-]+)</td>", body.partition("</tbody>")[0])
    mappers = ["plain", "fancy", "broken"]
    assert "fancy<wbr><small>(x=1)</small>" in page
    assert rows == [(m, pair) for pair in ("en-es", "es-it", "average") for m in mappers]


def test_readers_can_choose_a_pair(comparison):
    parsed = Parsed(comparison.to_html())
    (column,) = [a["data-column"] for a in parsed.attributes("select") if "data-column" in a]
    assert column == "1", "one retrieval needs no choice"
    assert [a["value"] for a in parsed.attributes("option")] == ["", "en-es", "es-it", "average"]


def pictures(comparison, kind):
    """Return what the charts of a kind say: wide, narrow, or None for those of one width."""
    found = Parsed(comparison.to_html()).attributes("svg")
    return [a["aria-label"] for a in found if a.get("class") == kind]


def test_differences_are_drawn_with_their_intervals(comparison):
    (drawn,) = [text for text in pictures(comparison, "wide") if "less that of plain" in text]
    for row in comparison.rows:
        if row["difference"] is not None:
            gap, low, high = (
                f"{row[f'difference{end}']:+z.3f}".replace("-", "−")
                for end in ("", "_low", "_high")
            )
            assert f"{row['pair']} fancy(x=1) {gap} ({low} to {high})" in drawn


def test_a_task_has_one_chart_of_scores_and_one_of_differences(comparison):
    wide, narrow = pictures(comparison, "wide"), pictures(comparison, "narrow")
    assert wide == narrow
    assert [text.partition(":")[0] for text in wide] == [
        "P@1", "P@1 less that of plain (hollow", "P@1 by spelling",
    ]  # fmt: skip
    for row in comparison.rows:
        if row["error"] is None:
            assert f"{row['pair']} {row['mapper']} {row['p@1']:.3f} (" in wide[0]
    assert pictures(comparison, None) == [], "each in two widths"


def test_what_is_folded_is_there(comparison):
    parsed = Parsed(comparison.to_html())
    assert parsed.text_in("summary") == [
        "Each pair", "Where the points come from", "What went in",
    ]  # fmt: skip
    sentences = [text for text in parsed.text_in("dd") if "P@1 of" in text]
    assert len(sentences) == 3 and parsed.text_in("dt")[0] == "average, csls"


def test_probabilities_are_drawn_beside_what_is_right(comparison):
    sure = evaluation([1, 1, 2, 1], retrieval="reranked")
    words = [replace(word, probability=0.95) for word in sure.words]
    words[2] = replace(words[2], answers=(("other", 0.4),))
    scored = Comparison((run("plain", replace(sure, words=tuple(words))),), "plain")
    (text,) = [text for text in pictures(scored, "wide") if text.startswith("Right")]
    assert "en-es, reranked: plain share of right answers 0.9 to 1.0: 4 0.750 (" in text
    assert "en-es, reranked: plain mean probability 0.9 to 1.0: 4 0.950 (0.950 to 0.950)" in text
    assert "How sure the answers are" in Parsed(scored.to_html()).text_in("summary")
    assert "How sure the answers are" not in Parsed(comparison.to_html()).text_in("summary")


def test_what_changed_can_be_told_from_the_data(comparison):
    data = changes_data(comparison)
    assert data["mappers"] == ["plain", "fancy(x=1)"]
    pair = data["pairs"][0]
    for m, run in enumerate(comparison.runs[:2]):
        for n, result in enumerate(run.evaluations[0].words):
            assert pair["words"][n] == result.word
            assert pair["ranks"][m][n] == result.rank
            assert [pair["targets"][t] for t in pair["gold"][n]] == list(result.gold)
            answers = [pair["targets"][t] for t in pair["answers"][m][n]]
            assert answers == [word for word, _ in result.answers]


def test_a_comparison_in_which_everything_failed_is_still_a_page():
    page = Comparison((run("a", error="No.", seconds=None),), "a").to_html()
    assert "a failed: No." in page and "No mapper could be scored." in page


def test_a_task_that_failed_for_every_mapper_is_told_beside_the_others(comparison):
    failed = Score("sentences", {}, {}, error="<b>No line.</b>")
    runs = [replace(each, scores=(*each.scores, failed)) for each in comparison.runs]
    page = replace(comparison, runs=tuple(runs)).to_html()
    assert f"{runs[0].label}, sentences failed: &lt;b&gt;No line.&lt;/b&gt;" in page


def test_a_lead_is_within_chance_unless_the_test_says_otherwise():
    def sentence(ranks_a, ranks_b):
        pair = Comparison((run("a", evaluation(ranks_a)), run("b", evaluation(ranks_b))), "a")
        return verdict(pair.parts[0].rows, "p@1", "a")

    wrong, right = [2] * 60, [1] * 60
    assert "b leads" in sentence(wrong, right) and "beyond chance" in sentence(wrong, right)
    assert "within chance" in sentence([*right, 2], [*right, 1])
    assert "b is behind, beyond chance" in sentence(right, wrong)
    assert "behind within chance" in sentence([*right, 1], [*right, 2])
