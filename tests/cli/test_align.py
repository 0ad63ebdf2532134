"""`geomm align`: what it refuses before anything is written."""

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from geomm_plugin import write_embeddings
from geomm_plugin.cli import group
from geomm_plugin.formats import writing_format
from geomm_plugin.mappers import Procrustes
from geomm_plugin.testing import make_toy


@pytest.fixture
def refused(tmp_path, monkeypatch):
    """Run an align of en.vec and es.vec with further arguments; return why it is refused."""
    monkeypatch.chdir(tmp_path)
    for language, embeddings in make_toy().embeddings.items():
        write_embeddings(embeddings, f"{language}.vec")

    def run(*further):
        before = sorted(tmp_path.rglob("*"))
        done = CliRunner().invoke(group, ["align", *further, "-o", "out"])
        assert done.exit_code == 2, (done.output, done.exception)
        assert sorted(tmp_path.rglob("*")) == before
        return done.output

    return run


@pytest.mark.parametrize("name", ["../evil", "a/b", "/tmp/evil", "new\nline"])
def test_a_language_does_not_lead_out_of_the_folder(refused, name):
    told = refused(f"{name}=en.vec", "es=es.vec", "--identical", f"{name}-es")
    assert "no name of a file" in told


def test_a_suffix_does_not_lead_out_of_the_folder(refused):
    told = refused("en=en.vec", "es=es.vec", "--identical", "en-es", "--suffix", "/../x.vec")
    assert "no name of a file" in told


def test_text_that_grows_says_how_it_becomes_smaller(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    toy = make_toy(words=1500, pairs=60, dimension=50)
    for language, embeddings in toy.embeddings.items():
        path = Path(f"{language}.vec")
        write_embeddings(embeddings, path, format=writing_format(path, precision=3))
    Path("en-es.txt").write_text("".join(f"{s} {t}\n" for s, t in toy.dictionaries["en", "es"]))
    line = ["align", "en=en.vec", "es=es.vec", "-d", "en-es=en-es.txt", "-m", "procrustes", "-o"]
    told = CliRunner().invoke(group, [*line, "one"]).output
    assert re.search(r"The text is \d\.\d times its input: --precision 5 writes fewer", told)
    for more in (["--precision", "3"], ["--json"], ["-q"], ["--suffix", ".npy"]):
        assert "times its input" not in CliRunner().invoke(group, [*line, "two", *more]).output


def test_without_a_dictionary_it_says_how_to_give_one(refused):
    assert "--dictionary LANG-LANG=FILE" in refused("en=en.vec", "es=es.vec")


@pytest.mark.parametrize("told", [[1], 3, {"en-es": 3}, {"en-es": {}}])
def test_a_mapper_may_report_what_it_likes(tmp_path, monkeypatch, told):
    def learn(self, vectors, pairs, report):
        report.pairs.clear()
        report.extras |= {"pairs": told, "regularization": told}
        return {language: np.eye(vectors[language].shape[1]) for language in vectors}

    monkeypatch.setattr(Procrustes, "learn", learn)
    monkeypatch.chdir(tmp_path)
    for language, embeddings in make_toy().embeddings.items():
        write_embeddings(embeddings, f"{language}.vec")
    Path("en-es.txt").write_text("en1 es1\n")
    arguments = ["en=en.vec", "es=es.vec", "-d", "en-es=en-es.txt", "-m", "procrustes", "-o", "out"]
    done = CliRunner().invoke(group, ["align", *arguments])
    assert done.exit_code == 0, (done.output, done.exception)
    assert "Wrote out/mapper" in done.output


def test_files_of_an_earlier_run_in_another_space_are_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for language, embeddings in make_toy(("en", "es", "it")).embeddings.items():
        write_embeddings(embeddings, f"{language}.vec")
    for language in ("es", "it"):
        Path(f"en-{language}.txt").write_text("".join(f"en{n} {language}{n}\n" for n in range(9)))

    def align(*further, languages=("es", "it"), mapper="procrustes"):
        files = [f"{language}={language}.vec" for language in ("en", *languages)]
        pairs = [f"--dictionary=en-{language}=en-{language}.txt" for language in languages]
        done = CliRunner().invoke(group, ["align", *files, *pairs, "-m", mapper, *further])
        assert done.exit_code == 0, (done.output, done.exception)
        return done.stderr

    assert align("-o", "out") == ""
    assert align("-o", "out", "--suffix", ".vec.gz") == ""  # the same space, in other files
    told = align("-o", "out", "--suffix", ".vec.gz", languages=("es",), mapper="cca")
    assert "out/it.vec.gz" in told and "in another space" in told
    assert Path("out/it.vec.gz").exists()


def test_an_extra_word_without_a_vector_names_its_language_and_the_way_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for language, embeddings in make_toy().embeddings.items():
        write_embeddings(embeddings, f"{language}.vec")
    Path("en-es.txt").write_text("en1 es1\nen2 es2\n")
    Path("words.txt").write_text("unheard\n")
    arguments = ["en=en.vec", "es=es.vec", "-d", "en-es=en-es.txt", "-m", "procrustes", "-o", "out"]
    done = CliRunner().invoke(group, ["align", *arguments, "--extra-words", "en=words.txt"])
    assert done.exit_code == 2
    assert done.stderr.startswith("--extra-words of en: The word 'unheard' is not among")
    assert "give a fastText .bin" in done.stderr


def test_a_lambda_that_follows_a_rule_is_told_without_scores(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for language, embeddings in make_toy(dimension=8).embeddings.items():
        write_embeddings(embeddings, f"{language}.vec")
    Path("en-es.txt").write_text("".join(f"en{n} es{n}\n" for n in range(40)))
    arguments = ["en=en.vec", "es=es.vec", "-d", "en-es=en-es.txt", "-o", "out"]
    done = CliRunner().invoke(group, ["align", *arguments, "-m", "geomm_plus:max_rounds=0"])
    assert done.exit_code == 0, (done.output, done.exception)
    assert "en-es: regularization 2\n" in done.stdout  # 10 d / pairs
