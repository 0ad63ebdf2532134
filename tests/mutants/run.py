"""Break the code on purpose, one line at a time: the tests must notice.

    python tests/mutants/run.py [WORD...]     # those whose name holds one of the words, or all

Each mutant of `mutants.py` is a file, a text that stands in it once, the text to put there instead,
and the tests that must fall. A copy of the checkout is broken, never the checkout itself; tests
that fall there before anything is broken prove nothing. Ends with status 1 if a mutant survives, or
if its text is not there any more.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from mutants import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]


def main(words: list[str]) -> int:
    chosen = [m for m in MUTANTS if not words or any(word in m.name for word in words)]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "checkout"
        for name in subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT).split(b"\0")[:-1]:
            path = copy / os.fsdecode(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / os.fsdecode(name), path)
        results = [(mutant, try_out(mutant, copy)) for mutant in chosen]
    survivors = [mutant for mutant, result in results if result != "killed"]
    print(f"{len(chosen) - len(survivors)} killed, {len(survivors)} survived of {len(chosen)}")
    return 1 if survivors else 0


def try_out(mutant: Mutant, copy: Path) -> str:
    """Return "killed", "SURVIVED" or what is wrong with the mutant itself."""
    path = copy / mutant.file
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if text.count(mutant.old) != 1:
        result = f"STALE: its text stands {text.count(mutant.old)} times in {mutant.file}"
    elif not pass_unbroken(mutant.tests, copy):
        result = "NO PROOF: its tests do not pass before either"
    else:
        path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        result = {0: "SURVIVED", 1: "killed"}.get(run_tests(mutant.tests, copy), "NO TEST RAN")
        path.write_text(text, encoding="utf-8")
    print(f"{result:9} {mutant.name}: {mutant.tests}", flush=True)
    return result


@cache
def pass_unbroken(tests: str, copy: Path) -> bool:
    """True if tests pass before anything is broken."""
    return run_tests(tests, copy) == 0


def run_tests(tests: str, copy: Path) -> int:
    """Return pytest's status: 0 if all pass, 1 if one fails, another one if none ran."""
    command = [sys.executable, "-m", "pytest", "-qx", "-p", "no:cacheprovider", *shlex.split(tests)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=600)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
