"""Packages of other people, as they are found when installed."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NAMES = ("your_own_mapper", "your_own_loss", "your_own_format")
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


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_the_example_packages_pass_their_own_tests(installed, example):
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", str(example), path=installed)
    assert done.returncode == 0, done.stdout + done.stderr


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
