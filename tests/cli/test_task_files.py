"""--task of evaluate and compare: files in, rows out, and what no task looks at is refused."""

import json
from pathlib import Path

import pytest

from geomm_plugin import hookimpl, registry
from geomm_plugin.demo import FOLDER
from geomm_plugin.evaluation import Score
from geomm_plugin.evaluation.task import WordTask
from geomm_plugin.testing import make_toy

FILES = [f"{language}={FOLDER / language}.vec.gz" for language in ("en", "es")]
TEXTS = [x for n in ("en", "es") for x in ("--texts", f"{n}={FOLDER}/sentences.{n}.txt.gz")]
TRAIN = ["--train", f"en={FOLDER}/topics.en.tsv.gz"]
TEST = ["--test", f"es={FOLDER}/topics.es.tsv.gz"]
LIMIT = ["--max-words", "800", "-q"]
TRAINED = ["-d", f"en-es={FOLDER}/en-es.train.txt", "-t", f"en-es={FOLDER}/en-es.test.txt"]


def test_sentences_are_ranked_as_chosen(geomm):
    line = ["evaluate", *FILES, *LIMIT, "--task", "sentences", *TEXTS, "--json"]
    rows = json.loads(geomm(*line, "-r", "csls:k=5").stdout)
    assert [row["retrieval"] for row in rows] == ["csls(k=5)"] * 2


def test_rows_of_a_task_name_every_file(geomm):
    line = ["evaluate", *FILES, *LIMIT, "--task", "classify", *TRAIN, *TEST]
    (row,) = json.loads(geomm(*line, "--json").stdout)
    assert set(row["files"]) == {"embeddings en", "embeddings es", "train en", "test es"}
    assert all(row["files"].values()) and row["versions"]
    shown = geomm(*line).stdout.splitlines()
    assert shown[0].split()[:4] == ["train", "test", "accuracy", "macro-f1"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (["--task", "sentence", *TEXTS], "There is no task 'sentence'. Did you mean 'sentences'?"),
        (["--task", "sentences"], "--task sentences needs --texts LANG=FILE."),
        (["--task", "classify", *TRAIN], "--task classify needs --test LANG=FILE."),
        (["--task", "similarity"], "--task similarity needs --test LANG-LANG=FILE"),
        (["--task", "classify", *TRAIN, *TEST, "-r", "csls"], "--retrieval is not for"),
        (["--task", "sentences", *TEXTS, "--oov", "wrong"], "--oov is not for --task sentences"),
        (["--task", "sentences", *TEXTS, *TRAIN], "--train is not for --task sentences"),
        (["--task", "bli", *TEXTS, "-d", "en-es=x"], "--texts is not for --task bli"),
        (["--task", "similarity", "-d", "en-es=x", "--metric", "p@1"], "--metric is not for --tas"),
        (["--task", "analogy", "-d", "en=x", "-r", "csls"], "--retrieval is not for --task analo"),
        (["--task", "analogy", "-d", "en=x", "--encoding", "latin-1"], "--encoding is not for --t"),
    ],
)
def test_what_a_task_cannot_use_is_refused(geomm, line, message):
    assert message in geomm("evaluate", *FILES, *line, status=2).stderr


def test_compare_scores_tasks_beside_words(geomm, tmp_path):
    page, saved = tmp_path / "page.html", tmp_path / "rows.jsonl"
    line = ["compare", *FILES, *TRAINED, *LIMIT, "--json", "--html", page, "--save", saved]
    line += ["-m", "procrustes", "-m", "cca", "-r", "csls", "-r", "reranked"]
    line += ["--task", "sentences", *TEXTS, "--task", "classify", *TRAIN, *TEST]
    rows = json.loads(geomm(*line).stdout)
    assert [(row["task"], row["mapper"]) for row in rows if row["task"] != "sentences"] == [
        *(("bli", "procrustes"),) * 2,
        *(("bli", "cca"),) * 2,
        *(("classify", "procrustes"), ("classify", "cca")),
    ]
    sentences = [row for row in rows if row["task"] == "sentences"]
    assert {row["retrieval"] for row in sentences} == {"csls"}  # re-ranking reads words
    assert {"difference", "p_holm", "C", "macro-f1", "parameters", "seed"} <= set(rows[-1])
    assert set(rows[-1]["files"]) == {
        *("embeddings en", "embeddings es", "dictionary en-es", "test en-es"),
        *("texts en", "texts es", "train en", "test es"),
    }
    assert all(rows[-1]["files"].values())
    text = page.read_text(encoding="utf-8")
    assert "Task: sentences" in text and "Task: classify" in text
    kept = [json.loads(line) for line in saved.read_text(encoding="utf-8").splitlines()]
    assert len(kept) == len(rows) and kept[-1]["files"] == rows[-1]["files"]


@pytest.mark.parametrize(
    ("task", "test", "about"),
    [
        ("similarity", "en-es=scored.tsv", {"task": "similarity", "pair": "en-es"}),
        ("analogy", "en=questions.txt", {"task": "analogy", "language": "en", "section": "total"}),
    ],
)
def test_compare_reads_the_files_of_a_task_as_evaluate_does(geomm, write_toy, task, test, about):
    toy = make_toy(words=40, pairs=30)
    *files, option, train = write_toy(toy)
    pairs = [*toy.dictionaries["en", "es"]]
    lines = [f"{a}\t{b}\t{at % 3}" for at, (a, b) in enumerate(pairs)]
    Path("scored.tsv").write_text("\n".join(lines), encoding="utf-8")
    words = [" ".join(word for word, _ in pairs[at : at + 4]) for at in range(8)]
    Path("questions.txt").write_text("\n".join(words), encoding="utf-8")
    scored = ["--task", task, "--test", test, "--json"]
    geomm("align", *files, option, train, "-m", "procrustes", "-o", "out")
    alone = json.loads(geomm("evaluate", "out", *scored).stdout)
    line = ["compare", *files, option, train, "-m", "procrustes", "-m", "cca", *scored]
    rows = json.loads(geomm(*line, "--html", "page.html").stdout)
    assert {row["task"] for row in rows} == {task} and len(rows) == 2 * len(alone)
    assert alone[0].items() >= about.items() and rows[0].items() >= about.items()
    main = "pearson" if task == "similarity" else "accuracy"
    assert [row[main] for row in rows[: len(alone)]] == pytest.approx(
        [row[main] for row in alone], abs=1e-4
    )
    assert {f"test {test.partition('=')[0]}"} < set(rows[0]["files"])
    assert f"Task: {task}" in Path("page.html").read_text(encoding="utf-8")


def test_compare_scores_words_only_where_it_has_a_test_dictionary(geomm, write_toy):
    *files, option, train = write_toy(make_toy(words=40, pairs=30))
    line = ["compare", *files, option, train, "-m", "procrustes", "--json"]
    assert "--task bli needs --test LANG-LANG=FILE." in geomm(*line, status=2).stderr
    Path("lines.txt").write_text("en0 en1\nen2 en3\n" * 3, encoding="utf-8")
    line += ["--task", "sentences", "--texts", "en=lines.txt", "--texts", "es=lines.txt"]
    done = geomm(*line, status=2)
    assert "No line has words" in json.loads(done.stdout)[0]["error"]
    assert "No mapper could be compared. procrustes: " in done.stderr
    assert geomm(*line[:-7], *line[-6:], status=2).stdout.startswith("procrustes, sentences: ")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (TEXTS, "--texts is not for --task bli"),
        (["--task", "sentences", *TEXTS, *TRAIN], "--train is not for --task sentences"),
        (["--task", "classify", *TRAIN], "--task classify needs --test LANG=FILE"),
        (["--task", "bli", "--task", "similarity"], "--task bli and --task similarity both read"),
        (["--task", "classify", "--task", "analogy"], "--test LANG=FILE is for one task at a time"),
        (["--task", "analogy", "-t", "fr=x"], "needs --test LANG=FILE. Languages are en, es."),
        (["--task", "similarity", *TRAINED[2:]], "'en-es' is given twice"),
        (["--task", "similarity", "--by", "spelling"], "--by is not for --task similarity"),
        (TEST, "'es' is no pair of the languages given"),
    ],
)
def test_compare_refuses_what_no_task_uses(geomm, line, message):
    assert message in geomm("compare", *FILES, *TRAINED, *LIMIT, *line, status=2).stderr


class Lines(WordTask):
    name = "lines"
    of_pairs = True

    @staticmethod
    def read(path):
        return len(Path(path).read_text(encoding="utf-8").splitlines())

    def score(self, space):
        return [Score(self.name, {"pair": "-".join(p)}, {"n": n}) for p, n in self.tests.items()]


class Plugin:
    @hookimpl
    def register_tasks(self):
        return [Lines]


def test_a_task_of_ones_own_may_be_of_pairs_and_of_several_files_for_one(geomm, write_toy):
    toy = make_toy(("zh-hans", "en"), pairs=7)
    *files, option, test = write_toy(toy)
    plugin = Plugin()
    registry.plugins.register(plugin)
    try:
        done = geomm("evaluate", *files, option, test, "-t", test, "--task", "lines", "--json")
    finally:
        registry.plugins.unregister(plugin)
    rows = [(row["pair"], row["n"]) for row in json.loads(done.stdout)]
    assert rows == [("zh-hans-en", 7)] * 2
