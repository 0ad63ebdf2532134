"""Every example runs and prints what its docstring shows, up to small changes of numbers."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


def shown_output(path):
    """Return what stands after `$ python examples/...` in the docstring."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    _, _, shown = docstring.partition(f"$ python examples/{path.name}\n")
    return [line.strip() for line in shown.strip().splitlines()]


def close(shown, printed):
    """Whether two lines differ in numbers only, and there by little."""
    numbers = [[float(n) for n in NUMBER.findall(line)] for line in (shown, printed)]
    return NUMBER.sub("#", shown) == NUMBER.sub("#", printed) and all(
        abs(one - other) <= max(0.03, 0.03 * abs(one)) for one, other in zip(*numbers, strict=True)
    )


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_it_shows(path, tmp_path):
    if "gensim" in path.read_text(encoding="utf-8"):
        pytest.importorskip("gensim")
    done = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ
        | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'adapters'}", "PYTHONIOENCODING": "utf-8"},
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == [], "An example leaves files behind."
    shown = shown_output(path)
    printed = [line.strip() for line in done.stdout.strip().splitlines()]
    assert len(shown) == len(printed)
    for expected, line in zip(shown, printed, strict=True):
        assert close(expected, line), f"\n{expected}\n{line}"


def test_the_check_notices_other_words_and_other_numbers():
    assert close("dog perro 0.71", "dog perro 0.72")
    assert not close("dog perro 0.71", "dog gato 0.71")
    assert not close("dog perro 0.71", "dog perro 0.81")
    assert all(shown_output(path) for path in EXAMPLES)
