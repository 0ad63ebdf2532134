"""Reports: what is written is read back, and what anybody wrote does no harm."""

import json

import pytest

from geomm_plugin import get_mapper
from geomm_plugin.dictionary import Dictionary
from geomm_plugin.errors import FormatError
from geomm_plugin.fit_report import (
    Choice,
    FitReport,
    HeldOut,
    PairCounts,
    RoundReport,
    SolverRun,
    report_of,
)

WHOLE = FitReport(
    pairs={"en-es": PairCounts(80, {"en": 3, "es": 0}, "0f")},
    hub="es",
    regularization={"en-es": Choice(0.1, {0.1: 0.5, 1e-05: 0.25})},
    held_out={"en-es": HeldOut(0.75, 40)},
    solver={"en-es": SolverRun("conjugate gradient", 7, "It was enough.", -1.5)},
    rounds=[RoundReport(100, 60, -0.01, 0.5, 3.0, 1.25), RoundReport(0, 0)],
    kept_round=0,
    cpu_seconds=2.5,
    extras={"anything": [1, None]},
)


def through_json(content):
    return json.loads(json.dumps(content))


@pytest.mark.parametrize("report", [FitReport(), WHOLE], ids=["empty", "whole"])
def test_a_report_is_read_back(report):
    assert FitReport.from_json(through_json(report.to_json())) == report


def test_times_are_told_but_need_not_be_written():
    again = FitReport.from_json(through_json(WHOLE.to_json(times=False)))
    assert again.cpu_seconds is None and again.rounds[0].cpu_seconds is None
    assert again.rounds[0].held_out_precision == 0.5
    assert "cpu seconds" not in json.dumps(WHOLE.to_json(times=False))


@pytest.mark.parametrize("name", list(WHOLE.to_json()))
@pytest.mark.parametrize("odd", [None, True, -1, "much", [3], {"en-es": 3}, {"en-es": {"used": 1}}])
def test_what_is_odd_is_left_as_it_is(name, odd):
    report = FitReport.from_json(WHOLE.to_json() | {name: odd})
    if name == "hub" and odd == "much":
        assert report.hub == odd
    else:
        assert report.extras[name] == odd
    assert report.to_json() == WHOLE.to_json() | {name: odd}


@pytest.mark.parametrize(
    "odd",
    [
        "much",
        3,
        ["en-es"],
        {"en-es": 3},
        {"en-es": {"chosen": 1}},
        {"en-es": {"chosen": 1, "held-out p@1": [0.5]}},
        {"en-es": {"held-out p@1": {"1": 0.5}}},
        {"en-es": {"chosen": "much", "held-out p@1": {"1": 0.5}}},
        {"en-es": {"chosen": 10**400, "held-out p@1": {"1": 0.5}}},
        {"en-es": {"chosen": True, "held-out p@1": {"1": 0.5}}},
        {"en-es": {"chosen": None, "held-out p@1": {"1": 0.5}}},
        {"en-es": {"chosen": 1, "held-out p@1": {"one": 0.5}}},
        {"en-es": {"chosen": 1, "held-out p@1": {"1": "half"}}},
        {"en-es": {"chosen": 1, "held-out p@1": {"1": [0.5]}}},
        {"en-es": {"chosen": 1, "held-out p@1": {"nan": 0.5}}},
        {"en-es": {"chosen": -1, "held-out p@1": {"1": 0.5}}},
        {"en-es": {"chosen": 1, "held-out p@1": {"1": 1e308}}},
    ],
    ids=str,
)
def test_a_choice_that_is_told_in_another_form_is_a_sentence(odd):
    assert WHOLE.choices() == WHOLE.regularization
    report = FitReport.from_json({"regularization": odd})
    assert report.to_json() == {"regularization": odd}
    with pytest.raises(FormatError, match="how lambda was chosen as that of geomm does"):
        report.choices()


def test_every_mapper_has_a_report(toy):
    assert report_of(get_mapper("geomm")) == FitReport()
    mapper = toy.fit(get_mapper("geomm"))
    assert report_of(mapper) is mapper.report_
    digest = Dictionary(toy.dictionaries["en", "es"]).sha256()
    assert mapper.report_.pairs == {"en-es": PairCounts(80, {"en": 0, "es": 0}, digest)}
    assert mapper.report_.hub == "es" and mapper.report_.cpu_seconds >= 0
    mapper.report_ = {"mine": 1}  # as a mapper that was written before reports had types
    assert report_of(mapper).extras == {"mine": 1}


def test_pairs_are_counted_in_words():
    assert str(WHOLE.pairs["en-es"]) == "80 pairs, 3 missing in en, 0 missing in es"
