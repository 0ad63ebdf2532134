"""Memory stays bounded where there is much to do: `python benchmarks/load.py` (SMALL=1 for a look).

- many: one `geomm_multi` over 30 languages of 5,000 words, each with a dictionary to the first.
- long: `geomm align` of a vocabulary of 2,000,000 words with one of 200,000, streamed to `.vec`.
- rows: `geomm compare` with 40 rows, beside the same with 4: memory must not grow with the rows.

Each is a command as users type it, in a process of its own; CPU and wall seconds and its peak
memory, beside what the vectors take. It makes its data first: 12 GB on disk, thrown away at the end
(or kept and used again with FOLDER=/path).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from languages import LANGUAGES, SOURCE, TARGET, TEST, dictionary_path, vectors_path

SMALL = bool(os.environ.get("SMALL"))
DIMENSION = 50 if SMALL else 300
MANY = LANGUAGES[:5] if SMALL else LANGUAGES
MANY_WORDS = 1_000 if SMALL else 5_000
LONG, SHORT = (20_000, 2_000) if SMALL else (2_000_000, 200_000)
ROWS_WORDS = 2_000 if SMALL else 25_000
LAMBDAS = (1, 3, 10, 30, 100, 300, 1000, 3000, 10000)

# In a small process of its own: a child's peak begins with that of the process that starts it.
MEASURE = """
import json, resource, subprocess, sys
subprocess.run([sys.executable, "-W", "ignore", "-m", "geomm_plugin", *sys.argv[1:]], check=True,
               stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""


def many(folder: Path) -> tuple[list[str], float]:
    """Return the command for many languages, and the millions of numbers that it holds."""
    languages = [f"{name}={vectors_path(folder, name, MANY_WORDS, DIMENSION)}" for name in MANY]
    dictionaries = [
        f"--dictionary={SOURCE}-{name}={dictionary_path(folder, MANY_WORDS, SOURCE, name)}"
        for name in MANY[1:]
    ]
    settings = ["--mapper", "geomm_multi", "--set", "regularization=1"]
    output = ["--output", str(folder / "output" / "many"), "--quiet"]
    numbers = len(MANY) * MANY_WORDS * DIMENSION
    return ["align", *languages, *dictionaries, *settings, *output], numbers / 1e6


def long(folder: Path) -> tuple[list[str], float]:
    """Return the command for a vocabulary of millions."""
    files = {
        SOURCE: vectors_path(folder, SOURCE, LONG, DIMENSION),
        TARGET: vectors_path(folder, TARGET, SHORT, DIMENSION),
    }
    languages = [f"{name}={path}" for name, path in files.items()]
    dictionary = f"--dictionary={SOURCE}-{TARGET}={dictionary_path(folder, SHORT)}"
    # Vocabularies of different sizes have other fields and senses: there is little to translate.
    output = ["--output", str(folder / "output" / "long"), "--quiet", "--force"]
    return ["align", *languages, dictionary, *output], (LONG + SHORT) * DIMENSION / 1e6


def rows(folder: Path, mappers: int) -> tuple[list[str], float]:
    """Return the command for a comparison with four rows a mapper."""
    languages = [
        f"{name}={vectors_path(folder, name, ROWS_WORDS, DIMENSION)}" for name in (SOURCE, TARGET)
    ]
    there = f"{SOURCE}-{TARGET}"
    test = dictionary_path(folder, ROWS_WORDS, part=TEST)
    back = dictionary_path(folder, ROWS_WORDS, TARGET, SOURCE, TEST)
    options = [f"--dictionary={there}={dictionary_path(folder, ROWS_WORDS)}"]
    options += [f"--test={there}={test}", f"--test={TARGET}-{SOURCE}={back}"]
    options += ["--retrieval=csls", "--retrieval=cosine", "--json", "--quiet"]
    names = ["procrustes", *(f"geomm:regularization={value}" for value in LAMBDAS)][:mappers]
    options += [f"--mapper={name}" for name in names]
    return ["compare", *languages, *options], 2 * ROWS_WORDS * DIMENSION / 1e6


def measure(command: list[str]) -> tuple[float, float, float]:
    """Return CPU seconds, wall seconds and peak megabytes of a command."""
    start = time.perf_counter()
    ran = subprocess.run(
        [sys.executable, "-c", MEASURE, *command], check=True, stdout=subprocess.PIPE, text=True
    )
    cpu, peak = json.loads(ran.stdout)
    return cpu, time.perf_counter() - start, peak


def main(folder: Path) -> None:
    """Run all of it and print a table."""
    folder.mkdir(parents=True, exist_ok=True)
    jobs = {
        f"geomm_multi, {len(MANY)} languages x {MANY_WORDS:,} words": lambda: many(folder),
        "compare, 4 rows": lambda: rows(folder, 1),
        "compare, 40 rows": lambda: rows(folder, 10),
        f"align, {LONG:,} words with {SHORT:,}": lambda: long(folder),
    }
    print("| what | CPU s | wall s | peak MB | vectors MB | times |")
    print("|---|---:|---:|---:|---:|---:|")
    for title, prepare in jobs.items():
        command, millions = prepare()
        cpu, wall, peak = measure(command)
        vectors = millions * 4e6 / 2**20
        print(
            f"| {title} | {cpu:.0f} | {wall:.0f} | {peak:.0f} | {vectors:.0f} "
            f"| {peak / vectors:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    if "FOLDER" in os.environ:
        main(Path(os.environ["FOLDER"]))
    else:
        with TemporaryDirectory(prefix="geomm-load-") as temporary:
            main(Path(temporary))
