"""evaluate, compare and diagnose on the command line say what Python says."""

import csv
import io
import json

import numpy as np
import pytest
from click.testing import CliRunner

from geomm_plugin import (
    compare,
    evaluate,
    get_mapper,
    load_mapper,
    registry,
    save_mapper,
)
from geomm_plugin.cli import group
from geomm_plugin.demo import FOLDER, load_demo
from geomm_plugin.errors import ParameterError
from geomm_plugin.evaluation.analogy import Analogy
from geomm_plugin.evaluation.calibration import reliability
from geomm_plugin.evaluation.diagnosis import diagnose, language_similarity
from geomm_plugin.evaluation.mapper_choice import choose_mappers
from geomm_plugin.evaluation.similarity import Similarity
from geomm_plugin.files.text_lines import read_lines
from geomm_plugin.registry import as_mapper, as_retrieval
from geomm_plugin.registry.parameters import split_choice
from geomm_plugin.retrieval import CSLS, Cosine

WORDS = 1500
FILES = [f"{language}={FOLDER / language}.vec.gz" for language in ("en", "es")]
LIMIT = ["--max-words", str(WORDS), "--quiet"]


def run(*arguments, status=0):
    found = CliRunner().invoke(group, list(arguments))
    assert found.exit_code == status, found.output
    return found


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


def test_evaluate_scores_the_same_with_jobs(model):
    test = ["-d", f"en-es={FOLDER}/en-es.test.txt", "-r", "csls", "-r", "cosine", "--json"]
    arguments = ["evaluate", *FILES, "--model", str(model), *test, *LIMIT]
    assert run(*arguments, "--jobs", "2").stdout == run(*arguments).stdout


def test_evaluate_prints_what_python_returns(demo, model):
    space = get_mapper("procrustes").fit(*demo[:2]).map(demo[0])
    arguments = [*FILES, "--model", str(model), "-d", f"en-es={FOLDER}/en-es.test.txt", *LIMIT]
    rows = json.loads(run("evaluate", *arguments, "-r", "csls", "-r", "cosine", "--json").stdout)
    for row, retrieval in zip(rows, ("csls", "cosine"), strict=True):
        expected = evaluate(space, "en", "es", demo[2]["en", "es"], retrieval).row()
        assert numbers(row) == {"mapper": "procrustes", **expected}
    text = run("evaluate", *arguments, "--oov", "wrong").stdout
    assert f"{rows[0]['p@1'] * rows[0]['coverage']:.3f}" in text


def test_evaluate_does_the_other_tasks(demo, model, tmp_path):
    space = get_mapper("procrustes").fit(*demo[:2]).map(demo[0])
    pairs = [(here, there, float(i % 5)) for i, (here, there) in enumerate(demo[2]["en", "es"])]
    scored, questions = tmp_path / "scored.txt", tmp_path / "questions.txt"
    scored.write_text("".join(f"{a}\t{b}\t{c}\n" for a, b, c in pairs), "utf-8")
    questions.write_text(": numbers\ntwo second three third\n", "utf-8")
    base = [*FILES, "--model", str(model), *LIMIT, "--json"]
    (row,) = json.loads(
        run("evaluate", *base, "--task", "similarity", "-d", f"en-es={scored}").stdout
    )
    (expected,) = Similarity({("en", "es"): pairs}).score(space)
    assert numbers(row) == {"mapper": "procrustes", **expected.row()}
    rows = json.loads(run("evaluate", *base, "--task", "analogy", "-d", f"en={questions}").stdout)
    asked = {"numbers": [("two", "second", "three", "third")]}
    expected = Analogy({"en": asked}).score(space)
    assert [numbers(row) for row in rows] == [
        {"mapper": "procrustes", **one.row()} for one in expected
    ]
    wrong = run("evaluate", *base, "--task", "analogy", "-d", f"en-es={questions}", status=2)
    assert "no language 'en-es' in this space" in wrong.stderr


@pytest.mark.parametrize("task, test", [("similarity", "en-es=x"), ("analogy", "en=x")])
@pytest.mark.parametrize("option", [("--metric", "p@1"), ("--oov", "skip"), ("-r", "csls")])
def test_options_of_another_task_are_refused(task, test, option):
    wrong = run("evaluate", *FILES, *LIMIT, "-d", test, "--task", task, *option, status=2)
    assert f"is not for --task {task}. Leave it out." in wrong.stderr
    assert wrong.stderr.startswith("--retrieval" if option[0] == "-r" else option[0])


def test_compare_prints_what_python_returns(demo):
    arguments = [*FILES, "-d", f"en-es={FOLDER}/en-es.train.txt"]
    arguments += ["--test", f"en-es={FOLDER}/en-es.test.txt", *LIMIT]
    arguments += ["-m", "procrustes", "-m", "geomm:regularization=10", "--baseline", "procrustes"]
    mappers = ["procrustes", get_mapper("geomm", regularization=10)]
    expected = compare(mappers, *demo)
    found = json.loads(run("compare", *arguments, "--json").stdout)
    for row, other in zip(found, expected.rows, strict=True):
        for name in set(other) - {"fit_seconds", "peak_memory_mb"}:
            assert row[name] == other[name], name
    assert len(run("compare", *arguments, "--markdown").stdout.splitlines()) == 4
    assert len(list(csv.DictReader(io.StringIO(run("compare", *arguments, "--csv").stdout)))) == 2
    assert "procrustes" in run("compare", *arguments).stdout
    both = run("compare", *arguments, "--csv", "--json", status=2)
    assert "Choose one" in both.stderr


def test_compare_fails_where_every_mapper_fails(tmp_path):
    arguments = [*FILES, "--test", f"en-es={FOLDER}/en-es.test.txt", *LIMIT]
    assert "nothing to learn from" in run("compare", *arguments, status=2).stderr
    (tmp_path / "upper.txt").write_text("DOG PERRO\n")
    arguments += ["-d", f"en-es={tmp_path}/upper.txt"]
    arguments += ["-m", "procrustes", "-m", "regression"]
    failed = run("compare", *arguments, "--json", status=2)
    rows = json.loads(failed.stdout)
    assert [(row["mapper"], row["pair"], row["p@1"]) for row in rows] == [
        ("procrustes", "en-es", None),
        ("regression", "en-es", None),
    ]
    assert failed.stderr.startswith("No mapper could be compared. procrustes: DictionaryError: ")
    assert len(failed.stderr.splitlines()) == 1
    none = run("compare", *arguments, "--jobs", "0", status=2)
    assert "number of processes" in none.stderr and not none.stdout


def test_diagnose_prints_what_python_returns(demo):
    arguments = [*FILES, "-d", f"en-es={FOLDER}/en-es.train.txt", *LIMIT]
    (expected,) = diagnose(*demo[:2])
    (row,) = json.loads(run("diagnose", *arguments, "--json").stdout)
    assert row == json.loads(json.dumps(expected.row()))
    text = run("diagnose", *arguments).stdout
    assert f"{expected.relational_similarity:.3f}" in text


def test_diagnose_without_a_dictionary_prints_what_python_returns(demo):
    (expected,) = language_similarity(demo[0])
    (row,) = json.loads(run("diagnose", *FILES, *LIMIT, "--json").stdout)
    assert row == json.loads(json.dumps(expected.row()))
    text = run("diagnose", *FILES, *LIMIT).stdout
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


def test_choices_mean_the_same_in_every_command(demo, model, tmp_path):
    trained = [*FILES, "-d", f"en-es={FOLDER}/en-es.train.txt", *LIMIT]
    mapper = ["-m", "geomm:regularization=100"]
    wanted = get_mapper("geomm", regularization=100)
    (row,) = json.loads(run("diagnose", *trained, *mapper, "--json").stdout)
    assert row == json.loads(json.dumps(diagnose(*demo[:2], wanted)[0].row()))
    for command in ("align", "induce"):
        run(command, *trained, *mapper, "-o", str(tmp_path / command))
    saved = load_mapper(tmp_path / "align" / "mapper")
    assert saved.regularization == 100
    wanted.fit(*demo[:2])
    assert np.array_equal(saved.W("en", "es"), wanted.W("en", "es"))
    induced = read_lines(tmp_path / "induce")
    assert sum(1 for _ in induced) == len(wanted.map(demo[0]).dictionary("en", "es"))
    translate = ["translate", "--model", str(model), *FILES, *LIMIT, "--json"]
    (found,) = json.loads(run(*translate, "-r", "csls:k=3", "en-es", "house").stdout)
    space = load_mapper(model).map(demo[0])
    expected = space.translate("house", "en", "es", k=5, retrieval=CSLS(k=3))
    assert [(one["word"], one["score"]) for one in found["translations"]] == expected
    wrong = run(*translate, "-r", "csls:n=3", "en-es", "house", status=2)
    assert "'csls' has no parameter 'n'" in wrong.stderr
    wrong = run("diagnose", *trained, "-m", "geomm:regularisation=1", status=2)
    assert "Did you mean 'regularization'?" in wrong.stderr


def test_a_choice_goes_before_a_setting():
    assert as_mapper("geomm:regularization=5", ["regularization=7"]).regularization == 5
    assert as_mapper("geomm:regularization=5", ["seed=7"]).seed == 7
    (one,) = choose_mappers(["geomm:regularization=5"], ["regularization=7"])
    assert one.regularization == 5


def test_all_is_every_registered_mapper_once():
    made = choose_mappers(["geomm:regularization=5", "all"], [])
    names = [mapper.name for mapper in made]
    assert names[0] == "geomm" and set(names) == set(registry.mappers)
    assert made[0].regularization == 5


def test_all_twice_is_all_once():
    once = [mapper.name for mapper in choose_mappers(["all", "geomm"], [])]
    twice = [mapper.name for mapper in choose_mappers(["all", "geomm", "all"], [])]
    assert twice == once and twice[-1] == "geomm"


def test_settings_go_to_the_mappers_that_know_them():
    geomm, procrustes = choose_mappers(["geomm", "procrustes"], ["regularization=7"])
    assert geomm.regularization == 7 and not hasattr(procrustes, "regularization")
    with pytest.raises(ParameterError, match="None of the mappers"):
        choose_mappers(["procrustes"], ["regularisation=7"])


def test_test_words_that_are_learnt_by_heart_are_told():
    train, test = f"en-es={FOLDER}/en-es.train.txt", f"en-es={FOLDER}/en-es.test.txt"
    arguments = [*FILES, *LIMIT, "-m", "procrustes", "-d", train]
    known = run("compare", *arguments, "--test", train).stderr
    assert "test words of en-es are in its training dictionary, too" in known
    assert "by heart" not in run("compare", *arguments, "--test", test).stderr


def test_a_saved_mapper_among_the_files_is_told_its_option(tmp_path):
    (tmp_path / "mapper.json").write_text("{}")
    mapper = str(tmp_path)
    for command in (["evaluate", mapper, *FILES, "-d", "en-es=x"], ["translate", mapper, "a"]):
        assert f"give it as --model {mapper}" in run(*command, status=2).stderr


def test_a_mistyped_command_or_option_is_one_sentence():
    assert run("algin", status=2).stderr.startswith("There is no command 'algin'. Did you mean")
    told = run("align", *FILES, status=2).stderr
    assert told.startswith("Missing option '--output' / '-o'. See ")
    assert told.endswith(" align --help.\n") and told.count("\n") == 1


@pytest.mark.parametrize("command", ["compare", "evaluate", "diagnose", "align"])
def test_swapped_columns_are_told_once_by_every_command(command, tmp_path):
    swapped = f"es-en={FOLDER}/en-es.train.txt"
    further = {
        "compare": ["--test", f"en-es={FOLDER}/en-es.test.txt", "-m", "procrustes"],
        "align": ["-m", "procrustes", "-o", str(tmp_path / "out")],
    }
    told = run(command, *FILES, *LIMIT, "-d", swapped, *further.get(command, [])).stderr
    assert told.count("columns seem to be swapped: it may be a dictionary en-es") == 1


def test_reliability_is_what_python_says(demo, model):
    two, _, test = demo
    given = ["evaluate", *FILES, *LIMIT, "--model", str(model), "-t"]
    given += [f"en-es={FOLDER / 'en-es.test.txt'}", "--reliability"]
    found = reliability(load_mapper(model).map(two), "en", "es", test["en", "es"])
    fixed = ["-r", "reranked:weights=fixed", "-r", "reranked"]
    rows = json.loads(run(*given, *fixed, "--json").stdout)
    assert [numbers(row) for row in rows if row["retrieval"] == "reranked"] == found.rows
    assert {row["retrieval"] for row in rows} == {"reranked", "reranked(weights='fixed')"}
    text = run(*given).stdout
    assert all(note in " ".join(text.split()) for note in found.notes())


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["-r", "csls"], "--retrieval csls has none"),
        (["--by", "spelling"], "--by is not for --reliability"),
        (["--task", "sentences"], "--task bli"),
    ],
)
def test_reliability_is_of_probable_translations(more, said):
    path = f"en-es={FOLDER / 'en-es.test.txt'}"
    result = run("evaluate", *FILES, "-t", path, "--reliability", *more, status=2)
    assert said in result.stderr
