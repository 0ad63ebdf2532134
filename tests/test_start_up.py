"""Start-up stays quick: nothing heavy is imported before it is needed."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from click.testing import CliRunner

from geomm_plugin import cli
from geomm_plugin.cli import COMMANDS, group

HEAVY = {
    *("autograd", "email", "faiss", "fasttext", "gensim", "importlib.metadata", "joblib"),
    *("matplotlib", "orjson", "pymanopt", "rich", "safetensors", "scipy", "sklearn", "spacy"),
    "threadpoolctl",
}


def imported_by(code):
    """Return the names of the modules that are there after some code has run."""
    program = f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    command = [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{program}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_the_package_imports_nothing_heavy():
    assert not HEAVY & imported_by("import geomm_plugin")


def test_help_imports_nothing_heavy():
    code = "from geomm_plugin.cli import group\ngroup(['--help'], standalone_mode=False)"
    assert not HEAVY & imported_by(code)


def test_help_has_one_whole_line_for_each_command():
    shown = CliRunner().invoke(group, ["--help"]).output
    for name, summary in COMMANDS.items():
        assert f"{name:{max(map(len, COMMANDS))}}  {summary}\n" in shown
    modules = {path.stem for path in Path(cli.__file__).parent.glob("*.py")}
    assert set(COMMANDS) <= modules
    holding = {
        name for name in modules if hasattr(import_module(f"{cli.__name__}.{name}"), "command")
    }
    assert holding == set(COMMANDS)
