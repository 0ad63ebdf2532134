"""Rooms: every module stands in one, and imports go from later rooms to earlier ones only."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = {"geomm_plugin": ROOT, "geomm_adapters": ROOT / "adapters"}

# From the ground up. A name stands for a module, or for a folder with everything in it; the longest
# name that fits a module is its room. A module may import from its own room and from those above it
# in this list.
ROOMS = (
    ("errors", "text", "progress", "arrays", "factorization"),
    ("registry", "files", "work", "source_file"),
    ("rows", "embeddings", "dictionary", "language_graph", "normalize"),
    ("formats",),
    ("datasets",),
    ("retrieval",),
    ("shared_space",),
    ("fit_report",),
    ("mapper",),
    ("fitting",),
    ("mappers",),
    ("storage",),
    ("evaluation",),
    ("alignment",),
    ("geomm_adapters", "demo", "testing"),
    ("views",),
    ("cli",),
    ("__init__", "__main__"),
)
ALLOWED = {
    # A comparison makes its own page; the page is imported when it is asked for.
    ("evaluation.outcome", "views.report"),
}
ROOM_OF = {name: number for number, names in enumerate(ROOMS) for name in names}


def modules():
    """Yield (name, path) of every module; names are without `geomm_plugin.` in front."""
    for package, root in PACKAGES.items():
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            name = ".".join(part for part in parts if part != "__init__") or package
            yield own_name(name), path


def own_name(name):
    if name == "geomm_plugin":
        return "__init__"
    return name.removeprefix("geomm_plugin.")


def room(name):
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        if ".".join(parts[:length]) in ROOM_OF:
            return ROOM_OF[".".join(parts[:length])]
    return None


def imports(path, names):
    """Yield the modules of ours that a file imports, but for those only type checkers see."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    hidden = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if id(node) in hidden:
            continue
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}, line {node.lineno}: name the whole module"
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            found = [name if own_name(name) in names else node.module for name in inner]
        else:
            continue
        yield from {own_name(name) for name in found if name.split(".")[0] in PACKAGES}


MODULES = dict(modules())


@pytest.mark.parametrize("name", MODULES)
def test_a_module_stands_in_a_room(name):
    assert room(name) is not None, f"{name}: no room of tests/test_architecture.py names it"


@pytest.mark.parametrize("name", MODULES)
def test_imports_go_one_way(name):
    for imported in imports(MODULES[name], MODULES):
        if any((name, allowed) in ALLOWED for allowed in (imported, imported.rpartition(".")[0])):
            continue
        assert room(imported) <= room(name), f"{name} imports {imported}, which builds on it"


def test_rooms_are_there():
    there = {name for module in MODULES for name in prefixes(module)} | {"geomm_adapters"}
    assert [name for name in ROOM_OF if name not in there] == []


def test_geomm_plugin_never_imports_the_adapters():
    for name, path in MODULES.items():
        if not name.startswith("geomm_adapters"):
            assert not any(i.startswith("geomm_adapters") for i in imports(path, MODULES)), name


def prefixes(name):
    parts = name.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts) + 1)]


def test_an_upward_import_and_a_homeless_module_are_seen(tmp_path):
    path = tmp_path / "x.py"
    path.write_text("from geomm_plugin.mapper import Mapper\nimport geomm_plugin.cli.align\n")
    assert set(imports(path, MODULES)) == {"mapper", "cli.align"}
    assert room("mapper") > room("embeddings")
    assert room("nowhere") is None
