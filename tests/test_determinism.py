"""Two processes give the same bits; one and two threads give the same numbers."""

import ast
import inspect
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import geomm_plugin
from geomm_plugin import (
    get_mapper,
    load_mapper,
    read_embeddings,
    registry,
)
from geomm_plugin.alignment.record import NAME

HERE = Path(__file__).parent
MAPPERS = [name for name in registry.mappers if name != "adv_refine"]  # make test-torch
WORDS = 6000 if "GEOMM_SLOW" in os.environ else 250


@pytest.fixture(scope="module")
def aligned(tmp_path_factory):
    """The folders that processes with one, one and two BLAS threads wrote, with every mapper."""
    folders = [(tmp_path_factory.mktemp("aligned"), threads) for threads in (1, 1, 2)]
    runs = []
    for folder, threads in folders:
        paths = [str(HERE.parent), str(HERE.parent / "adapters")]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTHONHASHSEED": str(folder.stat().st_ino % 1000),  # the order of sets: no two alike
            **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(threads)),
        }
        command = [sys.executable, HERE / "every_alignment.py", folder, str(WORDS)]
        runs.append(subprocess.Popen(command, env=environment))
    assert [run.wait() for run in runs] == [0, 0, 0]
    return [folder for folder, _ in folders]


@pytest.mark.parametrize("name", MAPPERS)
def test_two_processes_write_the_same_bits(aligned, name):
    one, other = (
        {path.relative_to(folder): path.read_bytes() for path in (folder / name).rglob("*.*")}
        for folder in aligned[:2]
    )
    assert len(one) == 6 and one.keys() == other.keys()  # with the card
    for path in one:
        assert path.name == NAME or one[path] == other[path], path  # the record holds dates


@pytest.mark.parametrize("name", MAPPERS)
def test_one_and_two_threads_agree(aligned, name):
    one, other = (folder / name for folder in aligned[1:])
    maps = [load_mapper(folder / "mapper").W("en", "es") for folder in (one, other)]
    assert np.abs(maps[0] - maps[1]).max() <= 1e-5 * np.abs(maps[0]).max()
    for language in ("en", "es"):
        vectors = [read_embeddings(folder / f"{language}.vec").vectors for folder in (one, other)]
        assert np.abs(vectors[0] - vectors[1]).max() <= 1e-5


@pytest.mark.parametrize("name", MAPPERS)
def test_what_is_random_has_a_seed_among_the_parameters(name):
    """That the seed is saved, the contract of mappers says."""
    if "seed" not in get_mapper(name).get_params():
        assert "default_rng" not in inspect.getsource(registry.mappers[name])


def test_nothing_draws_from_a_global_generator():
    """numpy's generators are made by default_rng with a seed; nobody imports `random`."""
    for path in Path(geomm_plugin.__file__).parent.rglob("*.py"):
        if path.parent.name == "testing":  # looks at the global generator, to see it unused
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert "random" not in [alias.name for alias in node.names], path
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "np.random":
                assert node.attr in ("default_rng", "Generator"), f"{path}: {node.attr}"
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("default_rng"):
                assert node.args, f"{path}, line {node.lineno}: no seed"
