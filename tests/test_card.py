"""Cards: what a folder says of its mapper, for people, and whose README.md it is."""

import ast
import errno
import hashlib
import math
import re
import warnings
from pathlib import Path

import pytest

from geomm_plugin import align, get_mapper, load_mapper, save_mapper, write_embeddings
from geomm_plugin.alignment import check
from geomm_plugin.dictionary import Dictionary
from geomm_plugin.errors import ParameterError
from geomm_plugin.fit_report import HeldOut
from geomm_plugin.storage import CARD, is_card
from geomm_plugin.testing import make_toy


@pytest.fixture(scope="module")
def languages(demo):
    return {name: demo.embeddings[name].head(800) for name in ("en", "es")}


@pytest.fixture(scope="module")
def pairs(demo):
    return {("en", "es"): demo.train["en", "es"]}


@pytest.fixture(scope="module", params=["geomm", "geomm_plus", "geomm_multi", "procrustes"])
def fitted(request, languages, pairs):
    return get_mapper(request.param).fit(languages, pairs)


def indented(text):
    """Return the lines of code blocks: all that is data."""
    return [line[4:] for line in text.splitlines() if line.startswith("    ")]


def run_use(folder, monkeypatch, capsys):
    """Run the Python of a card in its folder, with a word of the vocabulary."""
    text = (folder / CARD).read_text(encoding="utf-8")
    code = "\n".join(indented(text.partition("in this folder:")[2]))
    ast.parse(code)
    monkeypatch.chdir(folder)
    exec(compile(code.replace('"word"', '"freedom"'), CARD, "exec"), {})
    return capsys.readouterr().out


def test_card_repr_and_notebook_say_the_same(fitted, tmp_path):
    save_mapper(fitted, tmp_path)
    loaded = load_mapper(tmp_path)
    lines = indented((tmp_path / CARD).read_text(encoding="utf-8"))
    facts = fitted.facts()
    assert facts["languages"] == "en, es" and "sha256" in facts["dictionary en-es"]
    for name, value in facts.items():
        assert f"{name}: {value}" in lines
        assert f"{name}: {value}" in repr(loaded)
        assert f"<td>{name}</td><td>{value}</td>" in loaded._repr_html_()
    assert any(line.startswith("held-out P@1") for line in lines)
    assert any(line.startswith("versions: python ") for line in lines)
    assert repr(loaded) == repr(fitted) and str(loaded) == str(type(fitted)())


def test_a_mapper_that_is_not_fitted_shows_what_makes_it():
    mapper = get_mapper("geomm", regularization=7.0)
    assert repr(mapper) == str(mapper) == "GeoMM(regularization=7.0)"
    assert mapper.facts() == {}


def test_the_hash_of_a_dictionary_is_that_of_its_sorted_lines(pairs):
    given = list(pairs["en", "es"])
    digest = Dictionary(given).sha256()
    assert Dictionary([*reversed(given), given[0]]).sha256() == digest
    assert Dictionary(given[1:]).sha256() != digest
    lines = sorted({f"{one}\t{other}\n".encode() for one, other in given})
    assert hashlib.sha256(b"".join(lines)).hexdigest() == digest
    Dictionary([("\udc80", "\ud800")]).sha256()  # bytes that were not UTF-8


@pytest.mark.parametrize(("precision", "words"), [(0.0, 3), (0.5, 10), (0.961, 1987), (1.0, 40)])
def test_the_interval_holds_the_shares_that_explain_what_was_seen(precision, words):
    """Wilson: its ends q are where p is 1.96 standard errors of q away."""
    shown = [float(x) for x in re.findall(r"\d\.\d{3}", str(HeldOut(precision, words)))]
    assert shown[0] == precision and f"{words} words" in str(HeldOut(precision, words))
    for end in shown[1:]:
        distance = 1.96 * math.sqrt(end * (1 - end) / words)
        assert abs(precision - end) == pytest.approx(distance, abs=3e-3)
    assert shown[1] <= precision <= shown[2]


def test_held_out_words_are_those_that_were_held_out(languages, pairs):
    mapper = get_mapper("geomm").fit(languages, pairs)
    choice, held_out = (
        getattr(mapper.report_, name)["en-es"] for name in ("regularization", "held_out")
    )
    assert held_out.precision == choice.scores[choice.value] == max(choice.scores.values())
    known = [a for a, b in pairs["en", "es"] if a in languages["en"] and b in languages["es"]]
    assert 0 < held_out.words <= len(set(known))
    given = get_mapper("geomm", regularization=1.0).fit(languages, pairs)
    assert given.report_.held_out == {}


def test_the_use_of_a_saved_mapper_runs(fitted, languages, tmp_path, monkeypatch, capsys):
    save_mapper(fitted, tmp_path)
    for name, value in languages.items():
        write_embeddings(value, tmp_path / f"{name}.vec")
    assert "libertad" in run_use(tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize("options", [{}, {"rerank": True}, {"into": "es"}], ids=str)
def test_the_use_of_an_aligned_folder_runs(
    options, languages, pairs, tmp_path, monkeypatch, capsys
):
    align(languages, pairs, mapper="procrustes", output=tmp_path, **options)
    if "into" in options:
        write_embeddings(languages["es"], tmp_path / "es.vec")
    assert ("reranked" in (tmp_path / CARD).read_text()) == ("rerank" in options)
    assert "libertad" in run_use(tmp_path, monkeypatch, capsys)


def test_equal_fits_have_equal_cards(languages, pairs, tmp_path):
    for name in ("one", "two"):
        save_mapper(get_mapper("geomm").fit(languages, pairs), tmp_path / name)
        align(languages, pairs, mapper="geomm", output=tmp_path / f"{name} aligned")
    for kind in ("", " aligned"):
        one, two = ((tmp_path / f"{name}{kind}" / CARD).read_bytes() for name in ("one", "two"))
        assert one == two
    before = (tmp_path / "one" / CARD).stat()
    save_mapper(load_mapper(tmp_path / "one"), tmp_path / "one")
    after = (tmp_path / "one" / CARD).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def written(kind, folder, toy, mapper="procrustes"):
    if kind == "save":
        save_mapper(toy.fit(get_mapper(mapper)), folder)
    else:
        align(toy.embeddings, toy.dictionaries, mapper=mapper, output=folder, resume=True)


@pytest.mark.parametrize("kind", ["save", "align"])
@pytest.mark.parametrize("case", ["own", "changed", "link", "linked", "folder"])
def test_a_readme_of_somebody_stays(kind, case, toy, tmp_path):
    folder = tmp_path / "out"
    written(kind, folder, toy)
    card = folder / CARD
    text = card.read_text(encoding="utf-8") + "\nOur notes.\n"
    if case in ("own", "changed"):
        card.write_text(text if case == "changed" else text.partition("\n")[2], encoding="utf-8")
    else:
        card.unlink()
        if case == "linked":
            (tmp_path / "notes").write_text(text, encoding="utf-8")
            card.symlink_to(tmp_path / "notes")
        elif case == "link":
            card.symlink_to(tmp_path / "elsewhere")
        else:
            card.mkdir()
    before = card.read_bytes() if card.is_file() else None
    with pytest.warns(UserWarning, match="README.md is not as geomm wrote it, so it stays"):
        written(kind, folder, toy, "regression")
    assert (card.read_bytes() if card.is_file() else None) == before
    assert not (tmp_path / "elsewhere").exists()
    assert load_mapper(folder).name == "regression"
    problems = [finding.problem for finding in check(folder) if finding.problem]
    assert (problems != []) == (case == "changed")


@pytest.mark.parametrize("kind", ["save", "align"])
def test_a_readme_that_may_not_be_read_stays(kind, toy, tmp_path, monkeypatch):
    written(kind, tmp_path, toy)
    before = (tmp_path / CARD).read_bytes()

    def unreadable(path):
        if path.name == CARD:
            raise PermissionError(errno.EACCES, "Permission denied")
        return read_bytes(path)

    read_bytes = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", unreadable)
    with pytest.warns(UserWarning, match="README.md is not as geomm wrote it, so it stays"):
        written(kind, tmp_path, toy, "regression")
    monkeypatch.undo()
    assert (tmp_path / CARD).read_bytes() == before
    assert load_mapper(tmp_path).name == "regression"


@pytest.mark.parametrize("kind", ["save", "align"])
def test_a_card_is_replaced_with_its_mapper_and_comes_back(kind, toy, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        written(kind, tmp_path, toy)
        first = (tmp_path / CARD).read_text(encoding="utf-8")
        written(kind, tmp_path, toy, "regression")
        assert is_card(tmp_path / CARD)
        second = (tmp_path / CARD).read_text(encoding="utf-8")
        assert "mapper: Procrustes()" in first and "mapper: Regression()" in second
        (tmp_path / CARD).unlink()
        written(kind, tmp_path, toy, "regression")
        assert (tmp_path / CARD).read_text(encoding="utf-8") == second
    assert [finding.problem for finding in check(tmp_path)] == [None]


def test_a_saved_mapper_with_its_card_is_replaced_by_an_aligned_one(toy, tmp_path):
    save_mapper(toy.fit(get_mapper("regression")), tmp_path / "mapper")
    align(toy.embeddings, toy.dictionaries, mapper="procrustes", output=tmp_path)
    assert load_mapper(tmp_path / "mapper").name == "procrustes"


def test_what_a_card_tells_is_data(tmp_path):
    odd = "`](x)\n# <b>|\u202e'\"```"
    toy = make_toy()
    renamed = {odd if name == "en" else name: value for name, value in toy.embeddings.items()}
    mapper = get_mapper("geomm").fit(renamed, {(odd, "es"): toy.dictionaries["en", "es"]})
    save_mapper(mapper, tmp_path)
    text = (tmp_path / CARD).read_text(encoding="utf-8")
    prose = [line for line in text.splitlines()[1:] if not line.startswith("    ")]
    save_mapper(toy.fit(get_mapper("geomm")), tmp_path / "plain")
    plain = (tmp_path / "plain" / CARD).read_text(encoding="utf-8").splitlines()[1:]
    assert prose == [line for line in plain if not line.startswith("    ")]
    assert "\u202e" not in text and repr(load_mapper(tmp_path)).isprintable()
    ast.parse("\n".join(indented(text.partition("in this folder:")[2])))


def test_no_aligned_file_takes_the_place_of_the_card(toy, tmp_path):
    files = {"README": toy.embeddings["en"], "es": toy.embeddings["es"]}
    pairs = {("README", "es"): toy.dictionaries["en", "es"]}
    with pytest.raises(ParameterError, match="README.md"):
        align(files, pairs, output=tmp_path, suffix=".md", format="vec")
