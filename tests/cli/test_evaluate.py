"""evaluate, compare and diagnose on the command line say what Python says."""

import csv
import io
import json

import numpy as np
import pytest

from geomm_plugin import compare, evaluate, get_mapper, load_mapper, registry, save_mapper
from geomm_plugin.demo import FOLDER, load_demo
from geomm_plugin.errors import ParameterError
from geomm_plugin.evaluation.calibration import reliability
from geomm_plugin.evaluation.diagnosis import diagnose, language_similarity
from geomm_plugin.evaluation.mapper_choice import choose_mappers
from geomm_plugin.files.text_lines import read_lines
from geomm_plugin.registry import as_mapper, as_retrieval
from geomm_plugin.registry.parameters import split_choice
from geomm_plugin.retrieval import CSLS, Cosine

WORDS = 1500
FILES = [f"{language}={FOLDER / language}.vec.gz" for language in ("en", "es")]
LIMIT = ["--max-words", str(WORDS), "--quiet"]
TRAIN, TEST = (f"en-es={FOLDER}/en-es.{part}.txt" for part in ("train", "test"))


@pytest.fixture(scope="module")
def run(geomm):
    """Run a command on the first words of two languages of the demo data."""
    return lambda command, *line, **status: geomm(command, *FILES, *LIMIT, *line, **status)


@pytest.fixture(scope="module")
def rows_of(run):
    """Run a command with --json, and return the rows that it prints."""
    return lambda *line: json.loads(run(*line, "--json").stdout)


@pytest.fixture(scope="module")
def demo():
    whole = load_demo()
    two = {language: whole.embeddings[language].head(WORDS) for language in ("en", "es")}
    pair = ("en", "es")
    return two, {pair: whole.train[pair]}, {pair: whole.test[pair]}


@pytest.fixture(scope="module")
def model(demo, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "mapper"
    save_mapper(get_mapper("procrustes").fit(*demo[:2]), folder)
    return folder


def numbers(row):
    """Return a row without where it comes from."""
    assert set(row["versions"]) > {"numpy"} and "embeddings en" in row["files"]
    origin = ("files", "parameters", "regularization", "versions")
    return {name: row[name] for name in row if name not in origin}


def test_evaluate_prints_what_python_returns(run, rows_of, demo, model):
    space = get_mapper("procrustes").fit(*demo[:2]).map(demo[0])
    line = ["evaluate", "--model", model, "-d", TEST]
    both = [*line, "-r", "csls", "-r", "cosine"]
    rows = rows_of(*both)
    for row, retrieval in zip(rows, ("csls", "cosine"), strict=True):
        expected = evaluate(space, "en", "es", demo[2]["en", "es"], retrieval).row()
        assert numbers(row) == {"mapper": "procrustes", **expected}
    text = run(*line, "--oov", "wrong").stdout
    assert f"{rows[0]['p@1'] * rows[0]['coverage']:.3f}" in text
    assert rows_of(*both, "--jobs", "2") == rows


def test_a_language_of_analogies_that_is_not_there_is_named(run, tmp_path):
    questions = tmp_path / "questions.txt"
    questions.write_text(": numbers\ntwo second three third\n", "utf-8")
    wrong = run("evaluate", "--task", "analogy", "-d", f"en-es={questions}", status=2)
    assert "no language 'en-es' in this space" in wrong.stderr


def test_compare_prints_what_python_returns(run, rows_of, demo):
    line = ["compare", "-d", TRAIN, "--test", TEST, "--baseline", "procrustes"]
    line += ["-m", "procrustes", "-m", "geomm:regularization=10"]
    expected = compare(["procrustes", get_mapper("geomm", regularization=10)], *demo)
    for row, other in zip(rows_of(*line), expected.rows, strict=True):
        for name in set(other) - {"fit_seconds", "peak_memory_mb"}:
            assert row[name] == other[name], name
    assert len(run(*line, "--markdown").stdout.splitlines()) == 4
    assert len(list(csv.DictReader(io.StringIO(run(*line, "--csv").stdout)))) == 2
    assert "procrustes" in run(*line).stdout
    assert "Choose one" in run(*line, "--csv", "--json", status=2).stderr


def test_compare_fails_where_every_mapper_fails(run, tmp_path):
    line = ["compare", "--test", TEST]
    assert "nothing to learn from" in run(*line, status=2).stderr
    (tmp_path / "upper.txt").write_text("DOG PERRO\n")
    line += ["-d", f"en-es={tmp_path}/upper.txt", "-m", "procrustes", "-m", "regression"]
    failed = run(*line, "--json", status=2)
    rows = [(row["mapper"], row["pair"], row["p@1"]) for row in json.loads(failed.stdout)]
    assert rows == [("procrustes", "en-es", None), ("regression", "en-es", None)]
    assert failed.stderr.startswith("No mapper could be compared. procrustes: DictionaryError: ")
    assert len(failed.stderr.splitlines()) == 1
    none = run(*line, "--jobs", "0", status=2)
    assert "number of processes" in none.stderr and not none.stdout


def test_diagnose_prints_what_python_returns(run, rows_of, demo):
    line = ["diagnose", "-d", TRAIN]
    (expected,) = diagnose(*demo[:2])
    assert rows_of(*line) == [json.loads(json.dumps(expected.row()))]
    assert f"{expected.relational_similarity:.3f}" in run(*line).stdout
    (expected,) = language_similarity(demo[0])
    assert rows_of("diagnose") == [json.loads(json.dumps(expected.row()))]
    text = run("diagnose").stdout
    assert f"cognates {expected.seeds['cognates']}" in text
    assert f"{expected.relational_similarity:.3f}" in text


def test_choices_carry_parameters():
    assert split_choice("csls") == ("csls", {})
    assert split_choice("geomm:normalize=unit,center,regularization=5") == (
        "geomm",
        {"normalize": "unit,center", "regularization": "5"},
    )
    assert [as_retrieval(text) for text in ("csls:k=5", "cosine")] == [CSLS(k=5), Cosine()]
    first, second = choose_mappers(["geomm:normalize=unit,center,unit", "procrustes"], [])
    assert first.normalize == ("unit", "center", "unit") and second.name == "procrustes"
    with pytest.raises(ParameterError, match="not understood"):
        split_choice("geomm:100")


def test_choices_mean_the_same_in_every_command(run, rows_of, demo, model, tmp_path):
    fit = ["-d", TRAIN, "-m", "geomm:regularization=100"]
    wanted = get_mapper("geomm", regularization=100)
    expected = diagnose(*demo[:2], wanted)[0].row()
    assert rows_of("diagnose", *fit) == [json.loads(json.dumps(expected))]
    for command in ("align", "induce"):
        run(command, *fit, "-o", tmp_path / command)
    saved = load_mapper(tmp_path / "align" / "mapper")
    assert saved.regularization == 100
    wanted.fit(*demo[:2])
    assert np.array_equal(saved.W("en", "es"), wanted.W("en", "es"))
    induced = read_lines(tmp_path / "induce")
    assert sum(1 for _ in induced) == len(wanted.map(demo[0]).dictionary("en", "es"))
    space = load_mapper(model).map(demo[0])
    expected = space.translate("house", "en", "es", k=5, retrieval=CSLS(k=3))
    asked = ["--model", model, "en-es", "house", "-r"]
    (found,) = rows_of("translate", *asked, "csls:k=3")
    assert [(one["word"], one["score"]) for one in found["translations"]] == expected
    wrong = run("translate", *asked, "csls:n=3", status=2)
    assert "'csls' has no parameter 'n'" in wrong.stderr


def test_settings_go_to_the_mappers_that_know_them():
    geomm, procrustes = choose_mappers(["geomm", "procrustes"], ["regularization=7"])
    assert geomm.regularization == 7 and not hasattr(procrustes, "regularization")
    with pytest.raises(ParameterError, match="None of the mappers"):
        choose_mappers(["procrustes"], ["regularisation=7"])
    for one in (
        as_mapper("geomm:regularization=5", ["regularization=7"]),  # a choice goes before it
        *choose_mappers(["geomm:regularization=5"], ["regularization=7"]),
    ):
        assert one.regularization == 5
    assert as_mapper("geomm:regularization=5", ["seed=7"]).seed == 7


def test_all_is_every_registered_mapper_once():
    made = choose_mappers(["geomm:regularization=5", "all"], [])
    names = [mapper.name for mapper in made]
    assert names[0] == "geomm" and set(names) == set(registry.mappers)
    assert made[0].regularization == 5
    twice = [mapper.name for mapper in choose_mappers(["all", "geomm", "all"], [])]
    assert twice == [mapper.name for mapper in choose_mappers(["all", "geomm"], [])]
    assert twice[-1] == "geomm"


def test_test_words_that_are_learnt_by_heart_are_told(run):
    line = ["compare", "-m", "procrustes", "-d", TRAIN, "--test"]
    known = run(*line, TRAIN).stderr
    assert "test words of en-es are in its training dictionary, too" in known
    assert "by heart" not in run(*line, TEST).stderr


def test_a_saved_mapper_among_the_files_is_told_its_option(geomm, tmp_path):
    (tmp_path / "mapper.json").write_text("{}")
    for line in (["evaluate", tmp_path, *FILES, "-d", "en-es=x"], ["translate", tmp_path, "a"]):
        assert f"give it as --model {tmp_path}" in geomm(*line, status=2).stderr


def test_a_mistyped_command_or_option_is_one_sentence(geomm, run):
    assert geomm("algin", status=2).stderr.startswith("There is no command 'algin'. Did you mean")
    told = run("align", status=2).stderr
    assert told.startswith("Missing option '--output' / '-o'. See ")
    assert told.endswith(" align --help.\n") and told.count("\n") == 1


@pytest.mark.parametrize("command", ["compare", "evaluate", "diagnose", "align"])
def test_swapped_columns_are_refused_by_every_command(run, command, tmp_path):
    further = {
        "compare": ["--test", TEST, "-m", "procrustes"],
        "align": ["-m", "procrustes", "-o", tmp_path / "out"],
    }
    line = [command, "-d", f"es-en={FOLDER}/en-es.train.txt", *further.get(command, [])]
    told = run(*line, status=2).stderr
    assert told.count("columns seem to be swapped: give it as the dictionary en-es") == 1
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


def test_files_that_share_no_space_are_told(run, geomm):
    apart = "en and es do not seem to share a space"
    assert apart in run("evaluate", "-d", TEST).stderr
    assert apart in geomm("translate", *FILES, "en-es", "house").stderr


def test_reliability_is_what_python_says(run, rows_of, demo, model):
    line = ["evaluate", "--model", model, "-t", TEST, "--reliability"]
    found = reliability(load_mapper(model).map(demo[0]), "en", "es", demo[2]["en", "es"])
    rows = rows_of(*line, "-r", "reranked:weights=fixed", "-r", "reranked")
    assert [numbers(row) for row in rows if row["retrieval"] == "reranked"] == found.rows
    assert {row["retrieval"] for row in rows} == {"reranked", "reranked(weights='fixed')"}
    text = run(*line).stdout
    assert all(note in " ".join(text.split()) for note in found.notes())


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["-r", "csls"], "--retrieval csls has none"),
        (["--by", "spelling"], "--by is not for --reliability"),
        (["--task", "sentences"], "--task bli"),
    ],
)
def test_reliability_is_of_probable_translations(run, more, said):
    assert said in run("evaluate", "-t", TEST, "--reliability", *more, status=2).stderr
