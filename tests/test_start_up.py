"""Start-up stays quick: nothing heavy is imported before it is needed."""

import ast
import json
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner

from geomm_plugin import cli
from geomm_plugin.cli import COMMANDS, group

HEAVY = {
    *("autograd", "email", "fasttext", "gensim", "importlib.metadata", "dask"),
    *(
        "matplotlib",
        "orjson",
        "polars",
        "pymanopt",
        "rich",
        "safetensors",
        "scipy",
        "sklearn",
        "spacy",
    ),
    "threadpoolctl",
}


def imported_by(code):
    """Return the names of the modules that are there after some code has run."""
    program = f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    command = [sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{program}"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def ours(modules):
    return {
        name for name in modules if name.partition(".")[0] in ("geomm_plugin", "geomm_adapters")
    }


def test_importing_the_package_imports_nothing_else():
    modules = imported_by("import geomm_plugin")
    assert ours(modules) == {"geomm_plugin"}
    assert not (HEAVY | {"click", "numpy", "pluggy"}) & modules


def test_the_door_of_the_command_line_imports_only_signals():
    """Whatever is imported before SIGINT is handled ends in a traceback if Ctrl-C comes then."""
    before = imported_by("import signal")
    assert imported_by("import geomm_plugin.__main__") - before == {
        "geomm_plugin",
        "geomm_plugin.__main__",
    }


def test_help_imports_click_and_nothing_heavy():
    code = "from geomm_plugin.cli import group\ngroup(['--help'], standalone_mode=False)"
    modules = imported_by(code)
    rooms = {name for name in ours(modules) if not name.startswith("geomm_plugin.cli")}
    assert rooms <= {"geomm_plugin", "geomm_plugin.errors", "geomm_plugin.text"}
    assert not {f"geomm_plugin.cli.{name}" for name in COMMANDS} & modules
    assert not (HEAVY | {"numpy", "pluggy"}) & modules


DOORS = (
    *("geomm_plugin", "geomm_plugin.alignment", "geomm_plugin.evaluation", "geomm_plugin.fitting"),
    *("geomm_plugin.fitting.seeds", "geomm_plugin.mappers", "geomm_plugin.retrieval"),
    *("geomm_plugin.retrieval.rerank", "geomm_plugin.views", "geomm_adapters"),
)


@pytest.mark.parametrize("door", DOORS)
def test_public_names_are_loaded_on_use_and_are_what_type_checkers_see(door):
    room = import_module(door)
    tree = ast.parse(Path(room.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    typed = {alias.name: node.module for node in block.body for alias in node.names}
    assert set(room.__all__) <= set(typed)
    for name in room.__all__:
        assert getattr(room, name) is getattr(import_module(typed[name]), name), name
    with pytest.raises(AttributeError, match="has no attribute 'comparee'"):
        room.comparee  # noqa: B018
    # Importing a module x of a room binds room.x to it, whatever that was before.
    modules = {module.name for module in pkgutil.iter_modules(room.__path__)}
    assert modules & set(room.__all__) <= {"registry"}


def test_one_mapper_loads_less_than_the_package():
    assert len(ours(imported_by("from geomm_plugin import Mapper"))) <= 30
    code = "from geomm_plugin import get_mapper\nget_mapper('procrustes')"
    assert len(ours(imported_by(code))) <= 40


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
