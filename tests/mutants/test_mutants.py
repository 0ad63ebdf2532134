"""Every mutant still finds the text that it breaks, and the tests that must fall with it."""

import runpy
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MUTANTS = runpy.run_path(str(Path(__file__).with_name("mutants.py")))["MUTANTS"]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_is_not_stale(mutant):
    assert mutant.old != mutant.new
    assert (ROOT / mutant.file).read_text(encoding="utf-8").count(mutant.old) == 1
    paths = [word.partition("::")[0] for word in shlex.split(mutant.tests) if "/" in word]
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []
