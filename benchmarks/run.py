"""Measure everything in one go and write RESULTS.md and growth.svg: `make benchmark`.

Each job runs in a process of its own, one after the other, ours and the others' in turn, so that
ratios come from one machine in one state. SMALL=1 takes minutes, not three quarters of an hour.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from report import Result, plot_growth, tables

HERE = Path(__file__).parent
SMALL = bool(os.environ.get("SMALL"))
WORDS = (2_000, 5_000, 10_000) if SMALL else (25_000, 50_000, 100_000, 200_000)
DIMENSION = 100 if SMALL else 300
DIMENSIONS = (50, 100, 200) if SMALL else (100, 300, 768)  # at the smallest number of words
BRUTE_FORCE_WORDS = WORDS if SMALL else (*WORDS[:2], WORDS[-1])

JOBS = {
    "read": ("ours", "gensim", "numpy"),
    "read_again": ("ours", "gensim"),
    "write": ("ours", "gensim"),
    "fit": ("ours", "pymanopt"),
    "fit_chosen": ("ours",),
    "map": ("ours", "numpy"),
    "csls": ("ours", "numpy", "faiss"),
    "align": ("ours", "gensim"),
}
# Where it takes many minutes: at the ends only.
ONLY_AT = {
    ("csls", "numpy"): BRUTE_FORCE_WORDS,
    ("csls", "faiss"): BRUTE_FORCE_WORDS,
    ("align", "gensim"): (WORDS[0], WORDS[-1]),
}
MOST_DIMENSIONS = {("fit", "pymanopt"): DIMENSION}  # its steps cost d^3, and there are hundreds
SHORT = 30.0  # CPU seconds; machines are noisy, and a short job is hit hardest
LIBRARIES = ("numpy", "scipy", "orjson", "pymanopt", "gensim", "faiss-cpu")


def main() -> None:
    """Run all jobs at all sizes; with FOLDER set, go on where an earlier run was stopped."""
    if "FOLDER" in os.environ:
        results = run_all(Path(os.environ["FOLDER"]))
    else:
        with TemporaryDirectory(prefix="geomm-benchmark-") as folder:
            results = run_all(Path(folder))
    plot_growth(results, DIMENSION, HERE / "growth.svg")
    text = "\n".join([HEADER, machine(), *tables(results, WORDS[-1], DIMENSION), ""])
    (HERE / "RESULTS.md").write_text(text, encoding="utf-8")
    print(text)


def run_all(folder: Path) -> list[Result]:
    """Return the results of all jobs; each is written down as soon as it is known."""
    folder.mkdir(parents=True, exist_ok=True)
    notes = folder / "results.jsonl"
    lines = notes.read_text(encoding="utf-8").splitlines() if notes.exists() else []
    sizes = [(words, DIMENSION) for words in reversed(WORDS)]
    sizes += [(WORDS[0], d) for d in DIMENSIONS if d != DIMENSION]
    noted = [Result(**json.loads(line)) for line in lines]
    results = [r for r in noted if (r.words, r.dimension) in sizes]
    done = {(r.job, r.who, r.words, r.dimension) for r in results}
    for words, dimension in sizes:
        for job, contenders in JOBS.items():
            for who in contenders:
                if (job, who, words, dimension) in done:
                    continue
                if words not in ONLY_AT.get((job, who), (words,)):
                    continue
                if dimension > MOST_DIMENSIONS.get((job, who), dimension):
                    continue
                result = run(job, who, str(folder), words, dimension)
                print(result, flush=True)
                results.append(result)
                with notes.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(result)) + "\n")
        for file in folder.glob(f"*.{words}x{dimension}.*"):  # gigabytes
            file.unlink()
        shutil.rmtree(folder / "output", ignore_errors=True)
    return results


def run(job: str, who: str, folder: str, words: int, dimension: int) -> Result:
    """Measure one job in a process of its own: a short one three times, of which the median."""
    arguments = [job, who, folder, str(words), str(dimension)]
    command = [sys.executable, "-W", "ignore", str(HERE / "jobs.py"), *arguments]
    results: list[Result] = []
    while len(results) < (3 if not results or results[0].cpu < SHORT else 1):
        finished = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        measured = json.loads(finished.stdout.splitlines()[-1])
        results.append(Result(job, who, words, dimension, **measured))
    return sorted(results, key=lambda result: result.cpu)[len(results) // 2]


def machine() -> str:
    """Say where and when this was measured."""
    processor = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        processor = names[0].partition(":")[2].strip() if names else processor
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    limit = os.environ.get("OMP_NUM_THREADS")
    threads = f" (OMP_NUM_THREADS={limit})" if limit else ""
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {processor}, {os.cpu_count()} cores{threads}, "
        f"{platform.system()}, Python {platform.python_version()}, {libraries}.\n"
    )


COMMAND = "SMALL=1 make benchmark" if SMALL else "make benchmark"
HEADER = (
    f"# Benchmark results\n\nWritten by `{COMMAND}`; [README.md](README.md) says how to read it.\n"
)

if __name__ == "__main__":
    main()
