"""Pictures: what is drawn is what was measured, in files that do not change by themselves."""

import json
import re
import sys
from itertools import pairwise

import numpy as np
import pytest
from click.testing import CliRunner

from geomm_plugin import (
    Embeddings,
    get_mapper,
    load_mapper,
    save_mapper,
    write_embeddings,
)
from geomm_plugin.cli import group
from geomm_plugin.errors import LanguagesError, ParameterError
from geomm_plugin.evaluation.comparison import learning_curve, part_of
from geomm_plugin.fit_report import Choice, FitReport
from geomm_plugin.normalize import unit
from geomm_plugin.views.palette import SERIES
from geomm_plugin.views.plots import (
    plot_learning_curve,
    plot_regularization,
    plot_scores,
    plot_space,
    save_figure,
)


def row(mapper, pair, score, **more):
    return {
        "mapper": mapper,
        "pair": pair,
        "retrieval": "csls",
        "p@1": score,
        "p@1_low": score - 0.1,
        "p@1_high": score + 0.05,
    } | more


ROWS = [row(m, p, 0.1 * n + 0.5) for n, (m, p) in enumerate((a, b) for a in "ab" for b in "xyz")]


@pytest.fixture
def embeddings():
    random = np.random.default_rng(0)
    vectors = random.normal(size=(30, 6)).astype(np.float32)
    turned = (vectors @ np.linalg.qr(random.normal(size=(6, 6)))[0]).astype(np.float32)
    english = [f"word{n}" for n in range(29)] + ["$\\frac{$"]
    return {
        "en": Embeddings(english, vectors),
        "es": Embeddings([f"palabra{n}" for n in range(29)] + ["half\udce9"], turned),
    }


@pytest.fixture
def pairs(embeddings):
    return list(zip(embeddings["en"].words, embeddings["es"].words, strict=True))


def described(chart):
    """Return the numbers of a chart, as it says them in words."""
    return [
        float(text.replace("−", "-")) for text in re.findall(r"[−+]?\d+\.\d{3}", chart.described)
    ]


def test_dots_have_the_heights_and_intervals_of_the_rows():
    chart = plot_scores(ROWS)
    numbers = [row[name] for row in ROWS for name in ("p@1", "p@1_low", "p@1_high")]
    assert described(chart) == pytest.approx(numbers)
    groups = [mark.text for mark in chart.marks if mark.look == "group"]
    assert groups == ["x", "y", "z", "P@1, csls"]
    dots = [mark.places[0][0] for mark in chart.marks if mark.look == "dot"]
    scores = [row["p@1"] for row in sorted(ROWS, key=lambda row: row["pair"])]
    np.testing.assert_allclose(np.polyval(np.polyfit(scores, dots, 1), scores), dots)


def test_a_mapper_that_failed_is_left_out():
    failed = [r | {"p@1": None, "mapper": "c"} for r in ROWS[:3]]
    assert {m.text for m in plot_scores(ROWS + failed).marks if m.look == "name"} == {"a", "b"}
    with pytest.raises(ParameterError, match=r"no scores \(P@1\) to draw\. Compare"):
        plot_scores(failed)
    with pytest.raises(ParameterError, match="csls"):
        plot_scores(ROWS, retrieval="cosine")


def test_scores_on_words_are_not_mixed_with_those_of_other_tasks():
    words = [row | {"task": "bli"} for row in ROWS]
    others = [row | {"task": "sentences", "p@1": 0.001} for row in ROWS]
    others += [{"task": "analogy", "mapper": "a", "language": "en", "accuracy": 0.5}]
    assert plot_scores(words + others).marks == plot_scores(ROWS).marks


def lines_of(chart):
    """Return the lengths of the lines that join pairs, those of the left panel first."""
    lines = [np.array(mark.places) for mark in chart.marks if mark.look == "pair"]
    return [float(np.linalg.norm(line[1] - line[0])) for line in lines]


def test_lines_join_the_pairs_and_are_short_after_a_perfect_mapper(embeddings, pairs):
    mapped = get_mapper("procrustes").fit(embeddings, {("en", "es"): pairs}).map(embeddings)
    chart = plot_space(embeddings, mapped, "en", "es", pairs[:5])
    lengths = lines_of(chart)
    assert len(lengths) == 10
    assert max(lengths[5:]) < 1e-3 < 1 < min(lengths[:5])
    texts = [m.text for m in chart.marks if m.look == "name" and m.text not in ("en", "es")]
    assert sorted(texts) == sorted(2 * [word for pair in pairs[:5] for word in pair])


def test_points_keep_their_distances_in_the_plane(embeddings, pairs):
    flat = {
        language: Embeddings(value.words, value.vectors[:, :2])
        for language, value in embeddings.items()
    }
    lengths = np.array(lines_of(plot_space(flat, flat, "en", "es", pairs[:5]))[:5])
    expected = unit(flat["en"].vectors[:5]) - unit(flat["es"].vectors[:5])
    expected = np.linalg.norm(expected, axis=1)
    np.testing.assert_allclose(lengths / lengths[0], expected / expected[0], rtol=1e-5)


def test_a_picture_needs_pairs_and_one_dimension(embeddings):
    with pytest.raises(ParameterError, match="no pair"):
        plot_space(embeddings, embeddings, "en", "es", [])
    narrow = {"en": embeddings["en"], "es": Embeddings(["a"], np.ones((1, 3)))}
    with pytest.raises(LanguagesError, match="6 dimensions and es has 3"):
        plot_space(narrow, embeddings, "en", "es", [("word0", "a")])


def test_the_learning_curve_is_drawn_in_the_order_of_sizes():
    rows = [row("a", "en-es", 1 / size, size=size) for size in (100, 10, 50)]
    chart = plot_learning_curve(rows)
    assert chart.described == "a 10: 0.100, 50: 0.020, 100: 0.010"
    (curve,) = [mark.places for mark in chart.marks if mark.look == "curve"]
    assert [x for x, _ in curve] == sorted(x for x, _ in curve)
    (band,) = [mark for mark in chart.marks if mark.look == "band"]
    assert len(band.places) == 2 * len(curve)
    with pytest.raises(ParameterError, match="en-es"):
        plot_learning_curve(rows, pair="en-fr")


def test_the_lambda_curve_shows_what_was_tried_and_chosen():
    report = FitReport(regularization={"en-es": Choice(10.0, {100: 0.5, 1: 0.3, 10: 0.6})})
    chart = plot_regularization(report)
    assert chart.described == "en-es 1: 0.300, 10: 0.600, 100: 0.500"
    (curve,) = [mark.places for mark in chart.marks if mark.look == "curve"]
    (chosen,) = [mark.places for mark in chart.marks if mark.look == "chosen"]
    assert chosen[0][0] == chosen[1][0] == curve[1][0]
    with pytest.raises(ParameterError, match="auto"):
        plot_regularization(FitReport())


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_the_same_numbers_give_the_same_file(suffix, tmp_path, embeddings, pairs):
    if suffix != ".svg":
        pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")
    files = [tmp_path / f"{n}{suffix}" for n in range(2)]
    for file in files:
        save_figure(plot_space(embeddings, embeddings, "en", "es", pairs[-3:]), file)
    first, second = (file.read_bytes() for file in files)
    assert first == second and len(first) > 1000


def test_a_file_of_another_kind_is_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"\.png, \.svg, \.pdf"):
        save_figure(plot_scores(ROWS), tmp_path / "x.docx")
    assert list(tmp_path.iterdir()) == []


def test_the_settings_of_matplotlib_stay_the_user_s(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    before = dict(matplotlib.rcParams)
    save_figure(plot_scores(ROWS), tmp_path / "x.png")
    assert dict(matplotlib.rcParams) == before


def test_svg_needs_no_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    save_figure(plot_scores(ROWS), tmp_path / "x.svg")
    assert "</svg>" in (tmp_path / "x.svg").read_text(encoding="utf-8")
    with pytest.raises(ImportError, match="plot"):
        save_figure(plot_scores(ROWS), tmp_path / "x.pdf")
    assert [path.name for path in tmp_path.iterdir()] == ["x.svg"]


def test_parts_of_a_dictionary_grow(pairs):
    several = pairs + [(a, b) for (a, _), (_, b) in pairwise(pairs)]
    parts = [set(part_of(several, size)) for size in (1, 5, 20, 30, 99)]
    assert all(small <= large for small, large in pairwise(parts))
    assert [len({word for word, _ in part}) for part in parts] == [1, 5, 20, 30, 30]
    assert set(part_of(several[::-1], 5)) == parts[1]
    assert parts[-1] == set(several)


def test_a_learning_curve_has_a_row_for_each_size_and_ends_with_the_whole(embeddings, pairs):
    train, test = {("en", "es"): pairs[:20]}, {("en", "es"): pairs[20:]}
    rows = learning_curve(["procrustes"], embeddings, train, test, sizes=(4, 10, 500), jobs=1)
    assert [r["size"] for r in rows] == [4, 10, 20]
    assert rows[-1]["p@1"] == 1
    with pytest.raises(ParameterError, match="from 1 on"):
        learning_curve(["procrustes"], embeddings, train, test, sizes=())


@pytest.fixture
def files(tmp_path, embeddings, pairs):
    """Files as a user has them, and a mapper that chose its lambda."""
    spelled = {"en": [f"word{n}" for n in range(30)], "es": [f"palabra{n}" for n in range(30)]}
    written = {lang: Embeddings(spelled[lang], e.vectors) for lang, e in embeddings.items()}
    for language, value in written.items():
        write_embeddings(value, tmp_path / f"{language}.vec")
    both = list(zip(spelled["en"], spelled["es"], strict=True))
    text = "".join(f"{a}\t{b}\n" for a, b in both)
    (tmp_path / "pairs.txt").write_text(text, encoding="utf-8")
    save_mapper(get_mapper("geomm").fit(written, {("en", "es"): both}), tmp_path / "mapper")
    (tmp_path / "scores.json").write_text(json.dumps(ROWS), encoding="utf-8")
    return tmp_path


def plot(files, *arguments):
    texts = [text.replace("@", f"{files}/") for text in arguments]
    return CliRunner().invoke(group, ["plot", *texts])


EMBEDDINGS = ("en=@en.vec", "es=@es.vec")


@pytest.mark.parametrize(
    "arguments",
    [
        ("space", "@mapper", *EMBEDDINGS, "en-es", "word1", "word2"),
        ("space", "@mapper", *EMBEDDINGS, "en-es", "word1", "--dictionary", "@pairs.txt"),
        ("scores", "@scores.json"),
        ("lambda", "@mapper"),
        (
            "learning", *EMBEDDINGS, "--dictionary", "en-es=@pairs.txt", "--test",
            "en-es=@pairs.txt", "--mapper", "procrustes", "--size", "10", "--size", "20",
        ),
    ],
)  # fmt: skip
def test_the_command_line_draws(files, arguments):
    result = plot(files, *arguments, "--output", "@out.svg")
    assert result.exit_code == 0, result.output
    text = (files / "out.svg").read_text(encoding="utf-8")
    assert SERIES["light"][0] in text


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("scores", "@nothing.json", "-o", "@x.svg"), "Cannot read"),
        (("scores", "@pairs.txt", "-o", "@x.svg"), "not JSON"),
        (("scores", "@scores.json", "-o", "@x.doc"), "suffix"),
        (("space", "@mapper", *EMBEDDINGS, "en-es", "-o", "@x.svg"), "Give a saved mapper"),
        (
            (
                "space", "@mapper", *EMBEDDINGS, "en-es", "nix", "-d", "@pairs.txt", "-o",
                "@x.svg",
            ),
            "no translation",
        ),
        (("space", "@mapper", *EMBEDDINGS, "en-es", "nix", "-o", "@x.svg"), "'nix'"),
    ],
)  # fmt: skip
def test_mistakes_are_told_in_a_sentence(files, arguments, message):
    result = plot(files, *arguments)
    assert result.exit_code == 2
    assert message in result.output and result.output.rstrip().endswith(".")
    assert not list(files.glob("x.*"))


def test_a_report_in_another_form_is_a_sentence(files):
    mapper = load_mapper(files / "mapper")
    mapper.report_ = FitReport.from_json({"regularization": ["en-es"]})
    save_mapper(mapper, files / "odd")
    result = plot(files, "lambda", "@odd", "-o", "@x.svg")
    assert result.exit_code == 2, result.exception
    assert result.output.startswith("This mapper's report does not hold how lambda was chosen")
    assert not (files / "x.svg").exists()


def test_choices_of_lambda_are_read_as_they_were_reported(files):
    report = load_mapper(files / "mapper").report_
    (choice,) = report.choices().values()
    assert choice.value in choice.scores
    assert FitReport().choices() == {}
    with pytest.raises(ParameterError, match="tried no values"):
        plot_regularization(FitReport(regularization={"en-es": Choice(1, {})}))
