"""The command line, as users type it."""

import errno
import json
from pathlib import Path

import numpy as np
import pytest

from geomm_plugin import (
    SharedSpace,
    evaluate,
    load_mapper,
    read_embeddings,
    registry,
)
from geomm_plugin.cli import COMMANDS
from geomm_plugin.demo import FOLDER
from geomm_plugin.files import disk
from geomm_plugin.registry.parameters import parameters_of
from geomm_plugin.storage import load_reranking
from geomm_plugin.testing import Toy, make_toy

EN, ES, IT = (f"{name}={FOLDER / name}.vec.gz" for name in ("en", "es", "it"))
EN_ES, EN_IT = (f"{pair}={FOLDER / pair}.train.txt" for pair in ("en-es", "en-it"))
SMALL = ("--max-words", "2000")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_shows_an_example(geomm, command):
    assert f"geomm {command}" in geomm(command, "--help").output


@pytest.mark.parametrize("typed", [["--top"], ["--null", "a=x"], ["--top", "x"], ["--tpo"]])
def test_what_cannot_be_parsed_is_a_sentence_and_the_help_of_that_command(geomm, typed):
    assert geomm("drift", *typed, status=2).stderr.endswith(". See geomm drift --help.\n")
    assert geomm("demo", "x", status=2).stderr.endswith("(x). See geomm demo --help.\n")


def test_align_writes_files_that_gensim_reads_and_translate_answers(geomm, tmp_path):
    from gensim.models import KeyedVectors

    out = tmp_path / "new" / "out"
    summary = geomm("align", EN, ES, "-d", EN_ES, "--set", "regularization=100", "-o", out).output
    assert "regularization=100" in summary and "1987 pairs" in summary
    written = ["README.md", "align.json", "en.vec", "es.vec", "mapper"]
    assert sorted(path.name for path in out.iterdir()) == written
    keyed = {name: KeyedVectors.load_word2vec_format(out / f"{name}.vec") for name in ("en", "es")}
    best = keyed["es"].similar_by_vector(keyed["en"]["parliament"], topn=1)
    assert best[0][0] == "parlamento"
    assert np.allclose(np.linalg.norm(keyed["en"].vectors, axis=1), 1, atol=1e-5)

    files = geomm("translate", f"en={out / 'en.vec'}", f"es={out / 'es.vec'}", "en-es", "freedom")
    model = geomm("translate", "--model", out / "mapper", EN, ES, "en-es", "freedom")
    assert files.stdout == model.stdout
    assert files.stdout.split()[:2] == ["freedom", "libertad"]


def test_aligned_files_score_as_the_mapper_does(geomm, tmp_path, demo):
    line = ["align", EN, ES, IT, "-d", EN_ES, "-d", EN_IT, "-m", "procrustes", "-o", tmp_path]
    assert geomm(*line, "-q").output == ""
    languages = ("en", "es", "it")
    read = SharedSpace({name: read_embeddings(tmp_path / f"{name}.vec") for name in languages})
    mapped = load_mapper(tmp_path / "mapper").map(demo.embeddings)
    for pair, dictionary in demo.test.items():
        one, other = (evaluate(space, *pair, dictionary).scores for space in (read, mapped))
        assert one == pytest.approx(other, abs=0.004)


def test_neighborhoods_are_saved_and_answers_stay_the_same(geomm, write_toy):
    line = ["align", *write_toy(), "-m", "procrustes", "-o", "out"]
    geomm(*line)
    asked = ["translate", "out", "en-es", "en7", "--json"]
    before = geomm(*asked).output
    assert "neighborhoods" in geomm("neighborhoods", "out").output
    assert geomm(*asked).output == before
    saved = sorted(Path("out").glob("*.neighborhoods"))
    content = [path.read_bytes() for path in saved]
    for path in saved:
        path.unlink()
    geomm(*line, "--neighborhoods", "--resume")
    assert [path.read_bytes() for path in saved] == content and len(content) == 2


@pytest.fixture(scope="module")
def reranked(geomm, tmp_path_factory):
    """Files that were aligned by cognates, with learnt weights beside them."""
    folder = tmp_path_factory.mktemp("reranked")
    line = ["align", EN, ES, "--cognates", "en-es", *SMALL, "-m", "procrustes", "--rerank"]
    geomm(*line, "-o", folder)
    return folder


def test_learnt_weights_go_with_a_mapper_and_with_aligned_files(geomm, reranked):
    weights = load_mapper(reranked / "mapper").reranking_
    assert {"letters", "learnt_letters", "residual"} <= set(weights["en", "es"])
    assert load_reranking(reranked / "mapper") == weights

    def answers(*files, retrieval="reranked"):
        asked = ("en-es", "parliament", "--json", *SMALL, "-r", retrieval)
        return json.loads(geomm("translate", *files, *asked).stdout)[0]["translations"]

    model = ["--model", reranked / "mapper", EN, ES]
    learnt, beside = answers(*model), answers(reranked)
    assert learnt[0]["word"] == "parlamento"
    assert [each["word"] for each in beside] == [each["word"] for each in learnt]
    for files, found in ((model, learnt), ([reranked], beside)):
        assert answers(*files, retrieval="reranked:weights=fixed") != found
    assert all(0 < each["probability"] <= learnt[0]["probability"] < 1 for each in learnt)
    shown = geomm("translate", reranked, "en-es", "parliament", "-r", "reranked").stdout
    assert f", {learnt[0]['probability']:.0%})" in shown


def test_a_dictionary_holds_its_precision(geomm, reranked, tmp_path):
    pairs = tmp_path / "pairs.tsv"
    geomm("induce", reranked, "-r", "reranked", "-o", pairs)
    written = [line.split("\t")[:2] for line in pairs.read_text("utf-8").splitlines()]
    read = {name: read_embeddings(reranked / f"{name}.vec") for name in ("en", "es")}
    space = SharedSpace(read, load_reranking(reranked / "mapper"))
    expected = space.dictionary("en", "es", retrieval="reranked")
    assert written == [[source, target] for source, target, _ in expected]
    geomm("induce", reranked, "--at-precision", "0.9", "-o", pairs)
    sure = [float(line.split("\t")[2]) for line in pairs.read_text("utf-8").splitlines()]
    assert 0 < len(sure) < len(written) and 0.9 <= np.mean(sure) <= 1


@pytest.mark.parametrize(
    ("further", "message"),
    [
        ([], "no weights were learnt from a dictionary"),
        (["-r", "csls"], "Probabilities come from the retrieval 'reranked'; this one is 'csls'."),
    ],
)
def test_a_coverage_needs_weights_from_a_dictionary(geomm, reranked, further, message):
    line = ["translate", reranked, "en-es", "parliament", "--coverage", "0.9", *further]
    assert message in geomm(*line, status=2).stderr


def test_weights_that_cannot_be_read_are_told(geomm, reranked):
    path = reranked / "mapper" / "mapper.json"
    content = path.read_bytes()
    path.write_text("{", "utf-8")
    done = geomm("translate", reranked, "en-es", "parliament", "-r", "reranked")
    path.write_bytes(content)
    assert "No learnt weights are used" in done.stderr


def test_mappers_lists_names_parameters_and_packages(geomm):
    output = geomm("mappers").output
    for text in ("procrustes", "regularization=auto", "from geomm-plugin", "the paper's method"):
        assert text in output
    rows = json.loads(geomm("mappers", "--json").stdout)
    assert {"name", "summary", "parameters", "package"} == set(rows[0])
    for row in rows:
        parameters = parameters_of(registry.mappers[row["name"]])
        defaults = {name: known.default for name, known in parameters.items()}
        assert row["parameters"] == json.loads(json.dumps(defaults))
    told = next(row["parameters"] for row in rows if row["name"] == "geomm")
    assert told["hub"] is None and told["seed"] == 0 and told["regularization"] == "auto"
    assert told["normalize"] == ["unit", "center"]


def test_demo_shows_translations_a_comparison_and_what_to_type_next(geomm):
    output = geomm("demo").output
    assert "libertad" in output and "geomm align en=wiki.en.vec" in output
    (line,) = (line for line in output.splitlines() if line.startswith("procrustes, csls"))
    assert all(float(score) > 0.85 for score in line.split()[2:])
    assert "within chance" in output and "This set is easy" in output
    assert "geomm_plus, reranked" in output and "without its self-learning" in output
    for title in ("Sentences, en to es", "Topics learnt in en, tested on es"):
        (line,) = (line for line in output.splitlines() if line.startswith(title))
        scores = line.rpartition(": ")[2].split(", ")
        before, *aligned = (float(part.split()[-1]) for part in scores)
        assert min(aligned) > before + 0.3


def test_a_quiet_demo_says_nothing(geomm, monkeypatch):
    monkeypatch.setattr("geomm_plugin.cli.demo._story", lambda demo: iter(["a line"]))
    assert geomm("demo", "-q").output == ""
    assert geomm("demo").output == "a line\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "There is no file"),
        (b"", "empty"),
        (b"5 2\na 1 2\nb 3 4\n", "5"),
        (b"2 2\na 1 2\nb 3\n", "line 3: expected 2 numbers, found 1"),
        (b"2 2\na 1 2\nb 3 x\n", "line 3"),
        (b"2 2\na 1 2\nb 3 nan\n", "line 3"),
    ],
)
def test_bad_files_are_one_sentence_with_file_and_line(geomm, tmp_path, content, message):
    path = tmp_path / "bad.vec"
    if content is not None:
        path.write_bytes(content)
    done = geomm("align", f"en={path}", ES, "-d", EN_ES, "-o", tmp_path / "out", status=2)
    assert "bad.vec" in done.stderr and message in done.stderr
    assert done.stderr.count("\n") == 1 and done.stdout == ""


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["-m", "procustes"], "There is no mapper 'procustes'. Did you mean 'procrustes'?"),
        (["-m", "x"], "Registered: procrustes, geomm, geomm_plus, geomm_multi, geomm_semi, and "),
        (["-m", "x"], " more that `geomm mappers` lists."),
        (["-s", "regularisation=1"], "no parameter 'regularisation'. Did you mean"),
        (["-s", "regularization=much"], "regularization takes a number of at least 0 or 'auto'"),
        (["-s", "regularization=-4"], "regularization takes a number of at least 0"),
        (["-s", "regularization"], "is not understood; write PARAMETER=VALUE"),
        (["-s", "lambda=3"], "no parameter 'lambda'. Did you mean 'regularization'?"),
        (["-d", "en-fr=x.txt"], "'en-fr' is no pair of the languages given (en, es)"),
        (["-d", "en-es=x.txt"], "There is no file x.txt"),
        (["--suffix", ".foo"], "No format known here writes files that end in .foo. Choose one"),
        (["--suffix", "vec"], "writes files that end in no suffix. Choose one of: "),
        (["-o", "en.vec/out"], "Cannot make the folder"),
    ],
)
def test_bad_options(geomm, write_toy, changes, message):
    done = geomm("align", *write_toy(), "-o", "out", *changes, status=2)
    assert message in done.stderr


def test_an_output_folder_that_cannot_be_written(geomm, write_toy):
    def refuse(operation, path):
        raise PermissionError(errno.EACCES, "Permission denied")

    line = ["align", *write_toy(), "-o", "out"]
    Path("out").mkdir()
    with disk.watched(refuse):
        done = geomm(*line, status=2)
    assert "Cannot write" in done.stderr and "Permission denied" in done.stderr


def test_unknown_words_languages_and_models(geomm, tmp_path):
    near = geomm("translate", EN, ES, "en-es", "FREEDOM", "xyzzy", *SMALL, status=1)
    assert "FREEDOM  (unknown word; did you mean freedom?)\n" in near.stdout
    assert "xyzzy    (unknown word)\n" in near.stdout and "2 of 2 words" in near.stderr
    missing = tmp_path / "alinged"
    for line in (["translate", missing, "en-es", "a"], ["neighborhoods", missing]):
        assert f"There is no folder {missing}. Give one that" in geomm(*line, status=2).stderr
    assert "'en-fr' is no pair" in geomm("translate", EN, ES, "en-fr", "a", status=2).stderr
    missing = geomm("translate", "--model", tmp_path / "no", EN, ES, "en-es", "a", status=2)
    assert "A saved mapper is a folder" in missing.stderr


def test_a_dictionary_in_latin_1(geomm, write_toy):
    toy = make_toy(words=60, dimension=8)
    spanish = [f"ñ{n}" for n in range(60)]
    two = {"en": toy.embeddings["en"], "es": (spanish, toy.embeddings["es"].vectors)}
    pairs = list(zip(two["en"].words, spanish, strict=True))
    *files, _, dictionary = write_toy(Toy(two, {("en", "es"): pairs}))
    path = Path("en-es.txt")
    path.write_bytes(path.read_text("utf-8").encode("latin-1"))
    for command in (["diagnose", "-d", dictionary], ["evaluate", "-t", dictionary]):
        line = [*command, *files, "--json"]
        refused = geomm(*line, status=2).stderr
        assert "60 of 60 lines are not UTF-8" in refused and "latin-1" in refused
        geomm(*line, "--encoding", "latin-1")


def test_vectors_in_latin_1(geomm, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("old.vec").write_bytes("2 1\naño 1\ndog 2\n".encode("latin-1"))
    geomm("convert", "old.vec", "new.vec", "--encoding", "latin-1", "--quiet")
    assert read_embeddings("new.vec").words == ["año", "dog"]
    pytest.importorskip("pyarrow")
    both = ["en=old.vec", "es=old.vec"]
    geomm("convert", *both, "both.parquet", "--encoding", "latin-1", "--quiet")
    assert read_embeddings("both.parquet", language="es").words == ["año", "dog"]
    Path("d.txt").write_text("dog dog\n")
    done = geomm("align", *both, "-d", "en-es=d.txt", "-m", "procrustes", "-o", "out", "--quiet")
    assert "1 of 2 words are not UTF-8" in done.stderr and "'año'" in done.stderr
