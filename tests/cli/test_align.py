"""`geomm align`: what it says, and what it refuses before anything is written."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from geomm_plugin import Embeddings, read_embeddings, write_embeddings
from geomm_plugin.formats import writing_format
from geomm_plugin.mappers import Procrustes
from geomm_plugin.testing import Toy, make_toy

OUT = ("-m", "procrustes", "-o", "out")


@pytest.mark.parametrize(
    ("further", "message"),
    [
        (["--identical", "en-es", "--suffix", "/../x.vec"], "no name of a file"),
        ([], "--dictionary LANG-LANG=FILE"),
    ],
)
def test_what_is_refused_before_anything_is_written(geomm, write_toy, further, message):
    files = write_toy()[:2]
    before = sorted(Path().rglob("*"))
    assert message in geomm("align", *files, *further, "-o", "out", status=2).stderr
    assert sorted(Path().rglob("*")) == before


def test_text_that_grows_says_how_it_becomes_smaller(geomm, write_toy):
    toy = make_toy(words=1500, pairs=60, dimension=50)
    line = ["align", *write_toy(toy), "-m", "procrustes", "-o"]
    for language, embeddings in toy.embeddings.items():
        path = Path(f"{language}.vec")
        write_embeddings(embeddings, path, format=writing_format(path, precision=3))
    told = geomm(*line, "one").output
    assert re.search(r"The text is \d\.\d times its input: --precision 5 writes fewer", told)
    for more in (["--precision", "3"], ["--json"], ["-q"], ["--suffix", ".npy"]):
        assert "times its input" not in geomm(*line, "two", *more).output


@pytest.mark.parametrize("told", [[1], 3, {"en-es": 3}, {"en-es": {}}])
def test_a_mapper_may_report_what_it_likes(geomm, write_toy, monkeypatch, told):
    def learn(self, vectors, pairs, report):
        report.pairs.clear()
        report.extras |= {"pairs": told, "regularization": told}
        return {language: np.eye(vectors[language].shape[1]) for language in vectors}

    monkeypatch.setattr(Procrustes, "learn", learn)
    assert "Wrote out/mapper" in geomm("align", *write_toy(), *OUT).output


def test_files_of_an_earlier_run_in_another_space_are_told(geomm, write_toy):
    en, es, it, *dictionaries = write_toy(languages=("en", "es", "it"))
    line = ["align", en, es, it, *dictionaries, *OUT]
    assert geomm(*line).stderr == ""
    assert geomm(*line, "--suffix", ".vec.gz").stderr == ""  # the same space, in other files
    two = ["align", en, es, *dictionaries[:2], *OUT, "-m", "cca", "--suffix", ".vec.gz"]
    told = geomm(*two).stderr
    assert "out/it.vec.gz" in told and "in another space" in told
    assert Path("out/it.vec.gz").exists()


def test_an_extra_word_without_a_vector_names_its_language_and_the_way_out(geomm, write_toy):
    line = ["align", *write_toy(), *OUT, "--extra-words", "en=words.txt"]
    Path("words.txt").write_text("unheard\n")
    told = geomm(*line, status=2).stderr
    assert told.startswith("--extra-words of en: The word 'unheard' is not among")
    assert "give a fastText .bin" in told


def test_a_lambda_that_follows_a_rule_is_told_without_scores(geomm, write_toy):
    line = ["align", *write_toy(dimension=8, pairs=40), "-o", "out"]
    told = geomm(*line, "-m", "geomm_plus:max_rounds=0").stdout
    assert "en-es: regularization 2\n" in told  # 10 d / pairs


def test_json_is_one_object_of_what_was_written(geomm, write_toy):
    line = ["align", *write_toy(words=60, pairs=40), *OUT, "--json"]
    written = json.loads(geomm(*line).stdout)
    for row in written["files"]:
        aligned = read_embeddings(row["path"])
        assert (len(aligned), aligned.dimension) == (row["words"], row["dimension"])
    assert [row["language"] for row in written["files"]] == ["en", "es"]
    assert {row["state"] for row in written["files"]} == {"written"}
    assert Path(written["mapper"]["path"], "mapper.json").is_file()
    assert written["mapper"]["name"] == "procrustes"
    assert written["report"]["pairs"]["en-es"]["used"] == 40
    kept = json.loads(geomm(*line, "--resume").stdout)
    assert {row["state"] for row in [*kept["files"], kept["mapper"]]} == {"kept"}


@pytest.fixture
def wrong_line(write_toy):
    """Return the arguments of an align whose dictionary pairs words by chance."""
    toy = make_toy(words=300, pairs=150, dimension=12)
    random = np.random.default_rng(0)
    sources, targets = zip(*toy.dictionaries["en", "es"], strict=True)
    toy.dictionaries["en", "es"] = list(zip(sources, random.permutation(targets), strict=True))
    return ["align", *write_toy(toy), *OUT]


def test_a_fit_that_found_nothing_ends_the_run_and_writes_nothing(geomm, wrong_line):
    told = geomm(*wrong_line, status=1)
    assert told.stdout == ""
    assert told.stderr.startswith("The fit found no translations: held-out words of en-es are")
    assert told.stderr.endswith("Nothing was written; --force writes it all the same.\n")
    assert not list(Path("out").iterdir())
    forced = geomm(*wrong_line, "--force")
    assert forced.stderr.startswith("Warning: The fit found no translations")
    assert sorted(path.name for path in Path("out").iterdir()) == [
        "README.md",
        "align.json",
        "en.vec",
        "es.vec",
        "mapper",
    ]
    again = geomm("align", "--config", "out/align.json", "-o", "again")  # forced, as recorded
    assert again.stderr == forced.stderr
    geomm(*wrong_line, "-o", "out", "--precision", "3", status=1)
    geomm(*wrong_line, "-o", "out", "--resume", status=1)  # what was forced is not taken over
    assert Path("out/en.vec").read_bytes() == Path("again/en.vec").read_bytes()


def test_force_lets_a_fit_without_a_dictionary_go_on(geomm, write_toy):
    random = np.random.default_rng(0)
    noise = {}
    for name in ("en", "es"):
        noise[name] = Embeddings([f"{name}{n}" for n in range(300)], random.normal(size=(300, 60)))
    line = ["align", *write_toy(Toy(noise)), "-m", "icp", "-o", "out"]
    told = geomm(*line, status=1).stderr
    assert "found no translations without a dictionary" in told and "--force goes on" in told
    assert "found no translations" in geomm(*line, "--force").stderr


def test_a_space_that_is_narrower_than_the_vectors_says_why(geomm, write_toy):
    files = write_toy(dimension=12, pairs=9)
    told = geomm("align", *files, "-m", "geomm:regularization=1", "-o", "out").stdout
    assert re.search(r"(\d+) of 12 dimensions: 9 pairs span no more", told)
    files = write_toy(dimension=12, pairs=60)
    told = geomm("align", *files, "-m", "cca", "-o", "two").stdout
    assert "7 of 12 dimensions: CCA() keeps no more" in told
    assert "dimensions:" not in geomm("align", *files, "-m", "procrustes", "-o", "three").stdout


def test_the_encoding_of_dictionaries_is_recorded(geomm, write_toy):
    toy = make_toy(words=60)
    for language, embeddings in list(toy.embeddings.items()):
        words = [f"{word}é" for word in embeddings.words]
        toy.embeddings[language] = Embeddings(words, embeddings.vectors)
    pairs = [(f"{one}é", f"{other}é") for one, other in toy.dictionaries["en", "es"]]
    toy.dictionaries["en", "es"] = pairs
    line = write_toy(toy)
    Path("en-es.txt").write_text("".join(f"{one}\t{other}\n" for one, other in pairs), "latin-1")
    first = geomm("align", *line, *OUT, "--encoding", "latin-1").stdout
    assert json.loads(Path("out/align.json").read_text())["options"]["encoding"] == "latin-1"
    again = geomm("align", "--config", "out/align.json", "-o", "again").stdout
    assert again.replace("again/", "out/") == first
