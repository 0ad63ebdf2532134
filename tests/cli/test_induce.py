"""`geomm induce`, and the dictionaries that a shared space holds."""

import json
from pathlib import Path

import numpy as np
import pytest

from geomm_plugin import get_mapper, read_dictionary, write_embeddings
from geomm_plugin.storage import save_mapper
from geomm_plugin.testing import make_toy

ALIGNED = ("en=aligned.en.vec", "es=aligned.es.vec")
MODEL = ("en=en.vec", "es=es.vec", "--model", "mapper")


@pytest.fixture
def induce(geomm, write_toy):
    """Write two languages, a dictionary, a mapper and aligned files to induce from."""
    toy = make_toy(words=150)
    write_toy(toy)
    mapper = toy.fit(get_mapper("procrustes"))
    for language, value in mapper.map(toy.embeddings).items():
        write_embeddings(value, f"aligned.{language}.vec")
    save_mapper(mapper, "mapper")
    return lambda *line, **settings: geomm("induce", *line, **settings)


def read_scores(path):
    rows = [line.split("\t") for line in Path(path).read_text(encoding="utf-8").splitlines()]
    return [(a, b, float(score)) for a, b, score in rows]


def test_aligned_files_a_model_and_a_dictionary_all_do(induce):
    fitted = [*MODEL[:2], "--dictionary", "en-es=en-es.txt", "--mapper=procrustes"]
    for name, line in {"aligned": ALIGNED, "model": MODEL, "fitted": fitted}.items():
        done = induce(*line, "--output", f"{name}.tsv")
        found = read_scores(f"{name}.tsv")
        assert f"{len(found)} pairs" in done.output
        pairs = [row[:2] for row in found]
        assert pairs == [row[:2] for row in read_scores("aligned.tsv")]
    assert np.mean([a[2:] == b[2:] for a, b in pairs]) > 0.95


def test_what_is_written_can_be_read_as_a_dictionary(induce):
    row = json.loads(induce(*ALIGNED, "--output", "scored.tsv", "--json").stdout)
    assert induce(*ALIGNED, "-o", "plain.tsv", "--without-scores", "--quiet").output == ""
    pairs = [row[:2] for row in read_scores("scored.tsv")]
    assert read_dictionary("plain.tsv") == read_dictionary("scored.tsv") == pairs
    assert row == {"path": "scored.tsv", "pair": "en-es", "pairs": len(pairs), "mutual": len(pairs)}
    induce(*MODEL[:2], "-d", "en-es=scored.tsv", "-m", "procrustes", "-o", "again.tsv")


ODD = ["a\tb", "a\nb", "", " a", "a ", "a\0b", "\ufeffa", "x\ud800", "\udcc3\udca9", "1\t2"]


@pytest.mark.parametrize("scores", [[], ["--without-scores"]])
def test_words_that_no_line_gives_back_are_left_out_and_counted(geomm, tmp_path, scores):
    odd = [*ODD, "a\r"] if scores else ODD  # which a line without a score ends in
    words = [*odd, "two words", "#", "ÿ", "é", "a\rb"]
    vectors = np.random.default_rng(0).standard_normal((len(words), 30))
    for language in ("en", "es"):
        write_embeddings((words, vectors), tmp_path / f"{language}.safetensors")
    files = [f"{language}={tmp_path / language}.safetensors" for language in ("en", "es")]
    told = geomm("induce", *files, "--output", tmp_path / "x.tsv", "--quiet", *scores).output
    assert f"{len(odd)} pairs are left out" in told and r"'a\tb'" in told
    assert read_dictionary(tmp_path / "x.tsv") == [(word, word) for word in words[len(odd) :]]
    done = geomm("induce", *files, "-o", tmp_path / "y.tsv", "--max-words", 3, status=2)
    assert "No pair is left" in done.output and not (tmp_path / "y.tsv").exists()


NOT_FITTED = "--mapper and --set choose what is fitted"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ([*ALIGNED, "--min-score", 5], "lower --min-score"),
        ([*ALIGNED, "--mapper=nonexistent"], NOT_FITTED),
        ([*ALIGNED, "--set=foo=1"], NOT_FITTED),
        ([*MODEL, "-m", "geomm"], NOT_FITTED),
        ([*MODEL, "--identical", "en-es"], "needs no dictionary"),
        (["a=en.vec", "b=en.vec", "c=es.vec"], "Name one pair of the languages a, b, c with --p"),
        ([*ALIGNED, "--jobs", 0], "jobs is a number"),
    ],
)
def test_what_cannot_be_done_is_a_sentence_and_writes_nothing(induce, line, message):
    assert message in induce(*line, "--output", "x.tsv", status=2).output
    assert not Path("x.tsv").exists()


def test_a_minimal_score_leaves_the_lower_ones_out(induce):
    induce(*ALIGNED, "--output", "all.tsv")
    everything = read_scores("all.tsv")
    middle = float(np.median([score for *_, score in everything]))
    induce(*ALIGNED, "--output", "best.tsv", "--min-score", middle)
    assert read_scores("best.tsv") == [row for row in everything if row[2] >= middle]


def test_a_space_pairs_words_that_choose_each_other():
    toy = make_toy(words=150, noise=0.6)
    space = toy.fit(get_mapper("procrustes")).map(toy.embeddings)
    found = space.dictionary("en", "es")
    for word, translation, score in found:
        best, top = space.translate(word, "en", "es", k=1)[0]
        assert best == translation
        assert space.translate(translation, "es", "en", k=1)[0][0] == word
        assert score == pytest.approx(top, abs=1e-5)
    few = {source for source, _, _ in space.dictionary("en", "es", max_words=50)}
    assert few <= set(toy.embeddings["en"].words[:50]) and 20 < len(found) < 150


def test_jobs_find_the_same_dictionary(induce):
    induce(*ALIGNED, "-o", "alone.tsv")
    induce(*ALIGNED, "--jobs", 2, "-o", "jobs.tsv")
    assert Path("alone.tsv").read_bytes() == Path("jobs.tsv").read_bytes()
