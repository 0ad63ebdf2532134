"""The command line, as users type it."""

import errno
import json

import numpy as np
import pytest
from click.testing import CliRunner

from geomm_plugin import (
    SharedSpace,
    evaluate,
    load_mapper,
    read_embeddings,
    registry,
    write_embeddings,
)
from geomm_plugin.cli import COMMANDS, group
from geomm_plugin.demo import FOLDER
from geomm_plugin.files import disk
from geomm_plugin.registry.parameters import parameters_of
from geomm_plugin.storage import load_reranking
from geomm_plugin.testing import make_toy

EN, ES, IT = (f"{name}={FOLDER / name}.vec.gz" for name in ("en", "es", "it"))
EN_ES, EN_IT = (f"{pair}={FOLDER / pair}.train.txt" for pair in ("en-es", "en-it"))
SMALL = ("--max-words", "2000")


def geomm(*arguments, status=0):
    done = CliRunner().invoke(group, [str(argument) for argument in arguments])
    assert done.exit_code == status, (done.output, done.exception)
    assert "Traceback" not in done.output
    return done


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_shows_an_example(command):
    assert f"geomm {command}" in geomm(command, "--help").output


def test_align_writes_files_that_gensim_reads_and_translate_answers(tmp_path):
    from gensim.models import KeyedVectors

    out = tmp_path / "new" / "out"
    summary = geomm("align", EN, ES, "-d", EN_ES, "--set", "regularization=100", "-o", out).output
    assert "regularization=100" in summary and "1987 pairs" in summary
    assert sorted(path.name for path in out.iterdir()) == [
        "align.json",
        "en.vec",
        "es.vec",
        "mapper",
    ]
    keyed = {name: KeyedVectors.load_word2vec_format(out / f"{name}.vec") for name in ("en", "es")}
    best = keyed["es"].similar_by_vector(keyed["en"]["parliament"], topn=1)
    assert best[0][0] == "parlamento"
    assert np.allclose(np.linalg.norm(keyed["en"].vectors, axis=1), 1, atol=1e-5)

    files = geomm("translate", f"en={out / 'en.vec'}", f"es={out / 'es.vec'}", "en-es", "freedom")
    model = geomm("translate", "--model", out / "mapper", EN, ES, "en-es", "freedom")
    assert files.stdout == model.stdout
    assert files.stdout.split()[:2] == ["freedom", "libertad"]


def test_aligned_files_score_as_the_mapper_does(tmp_path, demo):
    geomm("align", EN, ES, IT, "-d", EN_ES, "-d", EN_IT, "-m", "procrustes", "-o", tmp_path, "-q")
    languages = ("en", "es", "it")
    read = SharedSpace({name: read_embeddings(tmp_path / f"{name}.vec") for name in languages})
    mapped = load_mapper(tmp_path / "mapper").map(demo.embeddings)
    for pair, dictionary in demo.test.items():
        one, other = (evaluate(space, *pair, dictionary).scores for space in (read, mapped))
        assert one == pytest.approx(other, abs=0.004)


def test_neighborhoods_are_saved_and_answers_stay_the_same(tmp_path):
    output = tmp_path / "aligned"
    arguments = ("align", EN, ES, "-d", EN_ES, "-m", "procrustes", *SMALL, "-o", output)
    geomm(*arguments)
    files = [f"{language}={output / language}.vec" for language in ("en", "es")]
    before = geomm("translate", *files, "en-es", "freedom", "--json").output
    assert "neighborhoods" in geomm("neighborhoods", *files).output
    assert geomm("translate", *files, "en-es", "freedom", "--json").output == before
    saved = [output / f"{language}.vec.neighborhoods" for language in ("en", "es")]
    content = [path.read_bytes() for path in saved]
    for path in saved:
        path.unlink()
    geomm(*arguments, "--neighborhoods", "--resume")
    assert [path.read_bytes() for path in saved] == content


def test_keep_length_and_suffix(tmp_path):
    geomm("align", EN, ES, "-d", EN_ES, *SMALL, "-m", "procrustes", "--keep-length",
          "--suffix", ".vec.gz", "-o", tmp_path)  # fmt: skip
    vectors = read_embeddings(tmp_path / "es.vec.gz").vectors
    mapper = load_mapper(tmp_path / "mapper")
    raw = read_embeddings(FOLDER / "es.vec.gz", max_words=2000).vectors
    assert np.array_equal(vectors, mapper.transform("es", raw))


def test_identical_words_serve_as_a_dictionary(tmp_path):
    output = geomm("align", EN, ES, "--identical", "en-es", *SMALL, "-m", "procrustes",
                   "-o", tmp_path).output  # fmt: skip
    assert "missing" in output


def test_cognates_and_learnt_weights_go_into_an_alignment(tmp_path):
    geomm("align", EN, ES, "--cognates", "en-es", *SMALL, "-m", "procrustes", "--rerank",
          "-o", tmp_path)  # fmt: skip
    mapper = load_mapper(tmp_path / "mapper")
    assert {"letters", "learnt_letters", "residual"} <= set(mapper.reranking_["en", "es"])
    asked = ["en-es", "parliament", "--json", *SMALL, "-r"]
    model = ["--model", tmp_path / "mapper", EN, ES, *asked]
    learnt, fixed = (
        json.loads(geomm("translate", *model, retrieval).stdout)
        for retrieval in ("reranked", "reranked:weights=fixed")
    )
    assert learnt != fixed and learnt[0]["translations"][0]["word"] == "parlamento"
    aligned = [f"{language}={tmp_path / language}.vec" for language in ("en", "es")]
    beside, fixed_beside = (
        json.loads(geomm("translate", *aligned, *asked, retrieval).stdout)[0]["translations"]
        for retrieval in ("reranked", "reranked:weights=fixed")
    )
    assert [each["word"] for each in beside] == [w["word"] for w in learnt[0]["translations"]]
    assert beside != fixed_beside, "aligned files find the weights beside them"
    weights = load_reranking(tmp_path / "mapper")
    assert weights == mapper.reranking_
    pairs = tmp_path / "pairs.tsv"
    geomm("induce", *aligned, "-r", "reranked", "-o", pairs)
    space = SharedSpace({spec[:2]: read_embeddings(spec[3:]) for spec in aligned}, weights)
    expected = space.dictionary("en", "es", retrieval="reranked")
    written = [line.split("\t")[:2] for line in pairs.read_text("utf-8").splitlines()]
    assert written == [[source, target] for source, target, _ in expected]
    sure = learnt[0]["translations"]
    assert all(0 < each["probability"] < 1 for each in sure)
    assert sure[0]["probability"] == max(each["probability"] for each in sure)
    done = geomm("translate", *aligned, *asked[:2], "-r", "reranked")
    assert f", {sure[0]['probability']:.0%})" in done.stdout
    geomm("induce", *aligned, "--at-precision", "0.9", "-o", pairs)
    kept = [line.split("\t") for line in pairs.read_text("utf-8").splitlines()]
    probabilities = [float(probability) for *_, probability in kept]
    assert 0 < len(kept) < len(written) and 0.9 <= np.mean(probabilities) <= 1
    done = geomm("translate", *aligned, *asked[:2], "--coverage", "0.9", status=2)
    assert "no weights were learnt from a dictionary" in done.stderr
    (tmp_path / "mapper" / "mapper.json").write_text("{", "utf-8")
    done = geomm("translate", *aligned, *asked, "reranked")
    assert "No learnt weights are used" in done.stderr


def test_translate_as_json():
    done = geomm("translate", "--json", EN, EN.replace("en=", "xx="), "en-xx", "freedom", "-k", "2")
    (row,) = json.loads(done.stdout)
    assert row["word"] == "freedom" and row["translations"][0]["word"] == "freedom"
    assert len(row["translations"]) == 2


def test_mappers_lists_names_parameters_and_packages():
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


def test_demo_shows_translations_a_comparison_and_what_to_type_next():
    output = geomm("demo").output
    assert "libertad" in output and "geomm align en=wiki.en.vec" in output
    (line,) = (line for line in output.splitlines() if line.startswith("procrustes, csls"))
    assert all(float(score) > 0.85 for score in line.split()[2:])
    assert "within chance" in output and "This set is easy" in output
    assert "geomm_plus, reranked" in output and "without its self-learning" in output
    for title in ("Sentences, en to es", "Topics learnt in en, tested on es"):
        (line,) = (line for line in output.splitlines() if line.startswith(title))
        before, *aligned = (
            float(part.split()[-1]) for part in line.rpartition(": ")[2].split(", ")
        )
        assert min(aligned) > before + 0.3


def test_a_quiet_demo_says_nothing(monkeypatch):
    monkeypatch.setattr("geomm_plugin.cli.demo._story", lambda demo: iter(["a line"]))
    assert geomm("demo", "-q").output == ""
    assert geomm("demo").output == "a line\n"


def bad_file(path, content):
    path.write_bytes(content)
    return path


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
def test_bad_files_are_one_sentence_with_file_and_line(tmp_path, content, message):
    path = tmp_path / "bad.vec"
    if content is not None:
        bad_file(path, content)
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
        (["-d", "en-fr=x.txt"], "'en-fr' is no pair of the languages given (en, es)"),
        (["-d", "en-es=x.txt"], "There is no file x.txt"),
        (
            ["--suffix", ".foo"],
            "No format known here writes files that end in .foo. Choose one",
        ),
        (["--suffix", "vec"], "writes files that end in no suffix. Choose one of: "),
        (["-s", "lambda=3"], "no parameter 'lambda'. Did you mean 'regularization'?"),
    ],
)
def test_bad_options(tmp_path, changes, message):
    done = geomm("align", EN, ES, "-d", EN_ES, *SMALL, *changes, "-o", tmp_path / "out", status=2)
    assert message in done.stderr


def test_no_pair_in_both_vocabularies(tmp_path):
    upper = bad_file(tmp_path / "upper.txt", b"Dog Perro\n")
    done = geomm("align", EN, ES, "-d", f"en-es={upper}", *SMALL, "-o", tmp_path / "o", status=2)
    assert "None of the 1 pairs is in both vocabularies" in done.stderr
    assert "letter case" in done.stderr


def test_a_language_without_dictionary(tmp_path):
    done = geomm("align", EN, ES, IT, "-d", EN_ES, *SMALL, "-o", tmp_path / "o", status=2)
    assert "No dictionary links it to the others (en, es)" in done.stderr


def test_an_output_folder_that_cannot_be_made(tmp_path):
    blocked = bad_file(tmp_path / "file", b"")
    done = geomm("align", EN, ES, "-d", EN_ES, *SMALL, "-o", blocked / "out", status=2)
    assert "Cannot make the folder" in done.stderr


def test_an_output_folder_that_cannot_be_written(tmp_path):
    def refuse(operation, path):
        raise PermissionError(errno.EACCES, "Permission denied")

    with disk.watched(refuse):
        done = geomm("align", EN, ES, "-d", EN_ES, *SMALL, "-o", tmp_path, status=2)
    assert "Cannot write" in done.stderr and "Permission denied" in done.stderr


def test_unknown_words_languages_and_models(tmp_path):
    assert "are not among the" in geomm("translate", EN, ES, "en-es", "xyzzy", status=1).stderr
    near = geomm("translate", EN, ES, "en-es", "FREEDOM", "xyzzy", *SMALL, status=1)
    assert "FREEDOM  (unknown word; did you mean freedom?)\n" in near.stdout
    assert "xyzzy    (unknown word)\n" in near.stdout and "2 of 2 words" in near.stderr
    missing = tmp_path / "alinged"
    for line in (["translate", missing, "en-es", "a"], ["neighborhoods", missing]):
        assert f"There is no folder {missing}. Give one that" in geomm(*line, status=2).stderr
    assert "'en-fr' is no pair" in geomm("translate", EN, ES, "en-fr", "a", status=2).stderr
    assert "Give files, a pair" in geomm("translate", EN, ES, "en-es", status=2).stderr
    missing = geomm("translate", "--model", tmp_path / "no", EN, ES, "en-es", "a", status=2)
    assert "A saved mapper is a folder" in missing.stderr


def test_quiet_says_nothing(tmp_path):
    done = geomm("align", EN, ES, "-d", EN_ES, *SMALL, "-m", "procrustes", "-o", tmp_path, "-q")
    assert done.output == ""


def test_a_dictionary_in_latin_1(folder_of_latin_1):
    files, dictionary = folder_of_latin_1
    learn = ["diagnose", *files, "-d", f"en-es={dictionary}", "--json"]
    score = ["evaluate", *files, "-t", f"en-es={dictionary}", "--json"]
    for command in (learn, score):
        refused = CliRunner().invoke(group, command)
        assert refused.exit_code == 2
        assert "60 of 60 lines are not UTF-8" in refused.stderr and "latin-1" in refused.stderr
        read = CliRunner().invoke(group, [*command, "--encoding", "latin-1"])
        assert read.exit_code == 0, read.stderr


def test_vectors_in_latin_1(tmp_path):
    old, new, both = tmp_path / "old.vec", tmp_path / "new.vec", tmp_path / "both.parquet"
    old.write_bytes("2 1\naño 1\ndog 2\n".encode("latin-1"))
    geomm("convert", old, new, "--encoding", "latin-1", "--quiet")
    assert read_embeddings(new).words == ["año", "dog"]
    pytest.importorskip("pyarrow")
    geomm("convert", f"en={old}", f"es={old}", both, "--encoding", "latin-1", "--quiet")
    assert read_embeddings(both, language="es").words == ["año", "dog"]
    dictionary = tmp_path / "d.txt"
    dictionary.write_text("dog dog\n")
    files = [f"en={old}", f"es={old}", "-d", f"en-es={dictionary}", "-m", "procrustes"]
    done = geomm("align", *files, "-o", tmp_path / "aligned", "--quiet")
    assert "1 of 2 words are not UTF-8" in done.stderr and "'año'" in done.stderr


@pytest.fixture
def folder_of_latin_1(tmp_path):
    toy = make_toy(words=60, dimension=8)
    spelt = {"en": toy.embeddings["en"].words, "es": [f"ñ{n}" for n in range(60)]}
    for language, words in spelt.items():
        vectors = toy.embeddings[language].vectors
        write_embeddings((words, vectors), tmp_path / f"{language}.vec")
    lines = "".join(f"{a} {b}\n" for a, b in zip(*spelt.values(), strict=True))
    (tmp_path / "d.txt").write_bytes(lines.encode("latin-1"))
    return [f"{name}={tmp_path / name}.vec" for name in spelt], tmp_path / "d.txt"
