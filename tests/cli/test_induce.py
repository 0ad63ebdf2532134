"""`geomm induce`, and the dictionaries that a shared space holds."""

import numpy as np
import pytest
from click.testing import CliRunner

from geomm_plugin import (
    SharedSpace,
    get_mapper,
    read_dictionary,
    write_embeddings,
)
from geomm_plugin.cli import group
from geomm_plugin.retrieval import both_ways
from geomm_plugin.storage import save_mapper
from geomm_plugin.testing import make_toy


def induce(*arguments):
    return CliRunner().invoke(group, ["induce", *map(str, arguments)])


@pytest.fixture
def folder(tmp_path):
    """Write two languages, a dictionary, a fitted mapper and aligned files."""
    toy = make_toy(words=150)
    mapper = toy.fit(get_mapper("procrustes"))
    space = mapper.map(toy.embeddings)
    for language, value in toy.embeddings.items():
        write_embeddings(value, tmp_path / f"{language}.vec")
        write_embeddings(space[language], tmp_path / f"aligned.{language}.vec")
    lines = ["\t".join(pair) for pair in toy.dictionaries["en", "es"]]
    (tmp_path / "seed.txt").write_text("\n".join(lines), encoding="utf-8")
    save_mapper(mapper, tmp_path / "mapper")
    return tmp_path


def read_scores(path):
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    return [(a, b, float(score)) for a, b, score in rows]


def test_aligned_files_a_model_and_a_dictionary_all_do(folder):
    raw = [f"en={folder / 'en.vec'}", f"es={folder / 'es.vec'}"]
    aligned = [f"en={folder / 'aligned.en.vec'}", f"es={folder / 'aligned.es.vec'}"]
    ways = {
        "aligned": aligned,
        "model": [*raw, "--model", folder / "mapper"],
        "fitted": [*raw, "--dictionary", f"en-es={folder / 'seed.txt'}", "--mapper=procrustes"],
    }
    found = {}
    for name, arguments in ways.items():
        result = induce(*arguments, "--output", folder / f"{name}.tsv")
        assert result.exit_code == 0, result.output
        found[name] = read_scores(folder / f"{name}.tsv")
        assert f"{len(found[name])} pairs" in result.output
    pairs = {name: [row[:2] for row in rows] for name, rows in found.items()}
    assert pairs["aligned"] == pairs["model"] == pairs["fitted"]
    right = np.mean([a[2:] == b[2:] for a, b in pairs["model"]])
    assert right > 0.95


def test_what_is_written_can_be_read_as_a_dictionary(folder):
    files = [f"en={folder / 'aligned.en.vec'}", f"es={folder / 'aligned.es.vec'}"]
    induce(*files, "--output", folder / "scored.tsv")
    result = induce(*files, "--output", folder / "plain.tsv", "--without-scores", "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    scored = read_scores(folder / "scored.tsv")
    assert read_dictionary(folder / "plain.tsv") == [row[:2] for row in scored]
    assert read_dictionary(folder / "scored.tsv") == [row[:2] for row in scored]
    refit = ["-d", f"en-es={folder / 'scored.tsv'}", "-m", "procrustes", "-o", folder / "again.tsv"]
    assert induce(f"en={folder / 'en.vec'}", f"es={folder / 'es.vec'}", *refit).exit_code == 0


ODD = ["a\tb", "a\nb", "", " a", "a ", "a\0b", "\ufeffa", "x\ud800", "\udcc3\udca9", "1\t2"]


@pytest.mark.parametrize("scores", [[], ["--without-scores"]])
def test_words_that_no_line_gives_back_are_left_out_and_counted(tmp_path, scores):
    odd = [*ODD, "a\r"] if scores else ODD  # which a line without a score ends in
    words = [*odd, "two words", "#", "ÿ", "é", "a\rb"]
    vectors = np.random.default_rng(0).standard_normal((len(words), 30))
    for language in ("en", "es"):
        write_embeddings((words, vectors), tmp_path / f"{language}.safetensors")
    files = [f"{language}={tmp_path / language}.safetensors" for language in ("en", "es")]
    result = induce(*files, "--output", tmp_path / "x.tsv", "--quiet", *scores)
    assert result.exit_code == 0
    assert f"{len(odd)} pairs are left out" in result.output and r"'a\tb'" in result.output
    assert read_dictionary(tmp_path / "x.tsv") == [(word, word) for word in words[len(odd) :]]
    result = induce(*files, "--output", tmp_path / "y.tsv", "--max-words", 3)
    assert result.exit_code == 2 and "No pair is left" in result.output
    assert not (tmp_path / "y.tsv").exists()


def test_no_pair_is_an_error_and_writes_nothing(folder):
    files = [f"en={folder / 'aligned.en.vec'}", f"es={folder / 'aligned.es.vec'}"]
    result = induce(*files, "--output", folder / "x.tsv", "--min-score", 5)
    assert result.exit_code == 2 and "lower --min-score" in result.output
    assert not (folder / "x.tsv").exists()


@pytest.mark.parametrize("ignored", [["--mapper=nonexistent"], ["--set=foo=1"], ["-m", "geomm"]])
@pytest.mark.parametrize("way", ["aligned", "model"])
def test_a_mapper_is_not_chosen_where_nothing_is_fitted(folder, ignored, way):
    files = [f"en={folder / 'aligned.en.vec'}", f"es={folder / 'aligned.es.vec'}"]
    model = ["--model", folder / "mapper"] if way == "model" else []
    result = induce(*files, *model, *ignored, "--output", folder / "x.tsv")
    assert result.exit_code == 2 and "--mapper and --set choose what is fitted" in result.output
    assert not (folder / "x.tsv").exists()


def test_a_minimal_score_leaves_the_lower_ones_out(folder):
    files = [f"en={folder / 'aligned.en.vec'}", f"es={folder / 'aligned.es.vec'}"]
    induce(*files, "--output", folder / "all.tsv")
    everything = read_scores(folder / "all.tsv")
    middle = float(np.median([score for *_, score in everything]))
    induce(*files, "--output", folder / "best.tsv", "--min-score", middle)
    assert read_scores(folder / "best.tsv") == [row for row in everything if row[2] >= middle]


def test_what_cannot_be_done_is_said_in_a_sentence(folder):
    three = [f"{name}={folder / 'aligned.en.vec'}" for name in ("a", "b", "c")]
    result = induce(*three, "--output", folder / "x.tsv")
    assert result.exit_code == 2
    assert "Name one pair of the languages a, b, c with --pair" in result.output
    two = [f"en={folder / 'en.vec'}", f"es={folder / 'es.vec'}"]
    model = ["--model", folder / "mapper", "--identical", "en-es", "--output", folder / "x.tsv"]
    assert "needs no dictionary" in induce(*two, *model).output
    assert not (folder / "x.tsv").exists()


def test_a_space_pairs_words_that_choose_each_other():
    toy = make_toy(words=150, noise=0.6)
    space = toy.fit(get_mapper("procrustes")).map(toy.embeddings)
    found = space.dictionary("en", "es")
    for word, translation, score in found:
        best, top = space.translate(word, "en", "es", k=1)[0]
        assert best == translation
        assert space.translate(translation, "es", "en", k=1)[0][0] == word
        assert score == pytest.approx(top, abs=1e-5)
    assert {a for a, _, _ in space.dictionary("en", "es", max_words=50)} <= set(
        toy.embeddings["en"].words[:50]
    )
    assert isinstance(space, SharedSpace)
    assert 20 < len(found) < 150


def test_jobs_and_saved_means_find_the_same_dictionary(folder, monkeypatch):
    aligned = [f"en={folder / 'aligned.en.vec'}", f"es={folder / 'aligned.es.vec'}"]
    paths = [folder / f"{name}.tsv" for name in ("alone", "jobs", "saved")]
    assert induce(*aligned, "-o", paths[0]).exit_code == 0
    assert induce(*aligned, "--jobs", 2, "-o", paths[1]).exit_code == 0
    saved = CliRunner().invoke(group, ["neighborhoods", *aligned, "--jobs", "2"])
    assert saved.exit_code == 0, saved.output
    monkeypatch.setattr(both_ways, "_means", None)  # nothing is left to compute
    assert induce(*aligned, "-o", paths[2]).exit_code == 0
    assert len({path.read_bytes() for path in paths}) == 1
    refused = induce(*aligned, "--jobs", 0, "-o", folder / "none.tsv")
    assert refused.exit_code and "jobs is a number" in refused.output
