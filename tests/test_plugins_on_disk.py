"""Packages of other people, as they are found when installed."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NAMES = ("your_own_mapper", "your_own_loss", "your_own_format", "plugin_template")
EXAMPLES = [ROOT / "examples" / name for name in NAMES]


DATA = ROOT / "geomm_plugin" / "demo" / "data"


def run(*arguments, path, cwd=None):
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={"PYTHONPATH": ":".join([str(path), str(ROOT), str(ROOT / "adapters")])},
    )


def test_an_installed_plugin_is_found_and_a_broken_one_named():
    done = run("-m", "geomm_plugin", "mappers", path=ROOT / "tests" / "plugin_on_disk")
    assert done.returncode == 0, done.stderr
    assert "someone" in done.stdout and "from geomm_someone 1.2" in done.stdout
    assert "Warning: Skipped the plugin 'zbroken' (geomm_someone): No module named" in done.stderr


def plugins(*arguments, path=ROOT / "tests" / "plugin_on_disk", python=()):
    return run(*python, "-m", "geomm_plugin", "plugins", *arguments, path=path)


def test_plugins_are_listed_with_their_packages_and_what_they_register():
    lines = plugins().stdout.splitlines()
    assert lines[lines.index("someone  from geomm_someone 1.2") + 1] == "    mappers: someone"
    sloppy = lines.index("sloppy  from geomm_sloppy 0.3")
    assert lines[sloppy + 1 : sloppy + 3] == ["    mappers: sloppy", "    formats: reader"]
    assert "    conversions: to_embeddings" in lines


def test_a_check_gives_a_line_for_each_thing_and_the_sentence_of_what_fails():
    done = plugins("--check", "Geomm.Sloppy")
    assert done.returncode == 1 and not done.stderr
    about, *rest = zip(*(line.split(": ", 2) for line in done.stdout.splitlines()), strict=True)
    assert about == ("mapper sloppy", "format reader", "metric half", "task picky", "task silent",
                     "plugin geomm_sloppy")  # fmt: skip
    assert rest[0] == ("failed", "not checked", "not checked", "not checked", "failed", "failed")
    assert rest[1][:3] == (
        "fit or transform changed it.",
        "it only reads; test check_format(..., sample=FILE)",
        "no contract",
    )
    assert "Nothing will do." in rest[1][3] and "gives a score" in rest[1][4]
    assert "registers the mapper <class 'object'>, which has no name" in rest[1][5]


def test_a_plugin_that_cannot_be_loaded_fails_its_check():
    done = plugins("--check", "geomm-someone")
    ok, failed = done.stdout.splitlines()
    assert (done.returncode, ok) == (1, "mapper someone: ok")
    assert failed.startswith("plugin geomm_someone: failed: Skipped the plugin 'zbroken' (geomm_s")


@pytest.mark.parametrize(
    "python, package, sentence",
    [((), "geomm_someon", "Did you mean 'geomm-someone'?"), (("-O",), "geomm_someone", "-O")],
)
def test_what_cannot_be_checked_at_all_is_refused(python, package, sentence):
    done = plugins("--check", package, python=python)
    assert done.returncode == 2 and not done.stdout and sentence in done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Install the example packages, without a network, where nothing else is."""
    folder = tmp_path_factory.mktemp("site")
    command = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    command += ["--disable-pip-version-check", "--target", str(folder), *map(str, EXAMPLES)]
    done = run(*command, path=folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_the_example_mapper_is_installed_and_found(installed):
    done = run("-m", "geomm_plugin", "mappers", path=installed)
    assert "whitening" in done.stdout and "from geomm-whitening 0.1.0" in done.stdout, done.stderr


@pytest.mark.parametrize(
    "package, line",
    [("geomm-whitening", "mapper whitening: ok"), ("geomm-projector", "format projector: ok")],
)
def test_the_example_packages_pass_the_check(installed, package, line):
    done = plugins("--check", package, path=installed)
    assert (done.returncode, done.stdout.strip()) == (0, line), done.stderr


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_the_example_packages_pass_their_own_tests(installed, example):
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", str(example), path=installed)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_template_passes_the_check_that_it_names(installed):
    done = run("-m", "geomm_plugin", "plugins", "--check", "geomm-mine", path=installed)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {"mapper mine: ok", "feature same_end: ok"} <= set(done.stdout.splitlines())


def test_the_example_mapper_aligns(installed, tmp_path):
    arguments = ["align", f"en={DATA / 'en.vec.gz'}", f"es={DATA / 'es.vec.gz'}", "--max-words"]
    arguments += ["2000", "--dictionary", f"en-es={DATA / 'en-es.train.txt'}"]
    arguments += ["--mapper", "whitening", "--set", "ridge=2.5", "--output", str(tmp_path / "out")]
    done = run("-m", "geomm_plugin", *arguments, path=installed)
    assert done.returncode == 0, done.stderr
    assert "Whitening(ridge=2.5)" in done.stdout


def test_the_example_format_is_found_by_its_suffix(installed, tmp_path):
    source = DATA / "it.vec.gz"
    arguments = ["convert", str(source), str(tmp_path / "it.tsv"), "--max-words", "50"]
    done = run("-m", "geomm_plugin", *arguments, path=installed)
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "it.tsv").read_text().splitlines()) == 50
    assert len((tmp_path / "it.metadata.tsv").read_text().splitlines()) == 50


def test_the_example_losses_score_as_their_page_says(installed):
    text = (ROOT / "examples" / "your_own_loss" / "README.md").read_text(encoding="utf-8")
    _, _, line = text.replace("\\\n", " ").partition("$ geomm compare ")
    arguments = shlex.split(line.partition("\n")[0])
    done = run("-m", "geomm_plugin", "compare", *arguments, "--json", path=installed, cwd=DATA)
    assert done.returncode == 0, done.stderr
    shown = dict(re.findall(r"^\| `(\w+)` \| (0\.\d+) \|$", text, re.MULTILINE))
    printed = {row["mapper"]: row["p@1"] for row in json.loads(done.stdout)}
    assert shown.keys() == printed.keys()
    for name, precision in printed.items():
        assert precision == pytest.approx(float(shown[name]), abs=0.015), name
