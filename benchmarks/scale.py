"""Cores and memory of `geomm align`: `python benchmarks/scale.py` (SMALL=1 for a look).

- jobs: 2 languages x 200,000 words x 300, with one job and with two (JOBS=1,2,4,8).
- languages: 8 languages x 100,000 words, beside 2: memory must hardly grow with the languages.
- rows: 2 languages x 2,000,000 words x 100.

Each is a command as users type it. CPU and wall seconds, and the peak of the memory of the command
and its worker processes together (looked at ten times a second; pages that several processes share,
such as libraries, count once: Linux's proportional set size). Outputs of all numbers of jobs are
compared byte by byte. Each is run REPEAT times (2), and the one with the least CPU counts. It makes
its data first: 15 GB on disk, thrown away at the end (or kept and used again with FOLDER=/path).

With BASE=/path/of/another/checkout, the first job is also run with the code there. ONLY=jobs (or
languages, rows; several with commas) runs some of it.
"""

from __future__ import annotations

import hashlib
import os
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from languages import LANGUAGES, SOURCE, dictionary_path, vectors_path

SMALL = bool(os.environ.get("SMALL"))
JOBS = [int(jobs) for jobs in os.environ.get("JOBS", "1,2").split(",")]
ONLY = os.environ.get("ONLY", "jobs,languages,rows").split(",")
REPEAT = int(os.environ.get("REPEAT", "2"))
WORDS, DIMENSION = (10_000, 100) if SMALL else (200_000, 300)
FEWER, MANY_ROWS = (5_000, 40_000) if SMALL else (100_000, 2_000_000)
MANY = 8
LOOK_EVERY = 0.1  # seconds


@dataclass(frozen=True)
class Cost:
    """What a command took."""

    cpu: float
    wall: float
    peak: float  # MB
    digest: str  # of all files that it wrote


def align(folder: Path, languages: int, words: int, dimension: int) -> list[str]:
    """Return the arguments of an alignment of so many languages to the first."""
    names = LANGUAGES[:languages]
    files = [f"{name}={vectors_path(folder, name, words, dimension)}" for name in names]
    dictionaries = [
        f"--dictionary={SOURCE}-{name}={dictionary_path(folder, words, SOURCE, name)}"
        for name in names[1:]
    ]
    return ["align", *files, *dictionaries, "--quiet"]


def measure(folder: Path, arguments: list[str], base: str | None = None) -> Cost:
    """Run a command several times; return the run with the least CPU."""
    return min((_once(folder, arguments, base) for _ in range(REPEAT)), key=lambda cost: cost.cpu)


def _once(folder: Path, arguments: list[str], base: str | None) -> Cost:
    output = folder / "aligned"
    shutil.rmtree(output, ignore_errors=True)
    environment = os.environ | {"PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled, too
    if base is not None:
        environment["PYTHONPATH"] = os.pathsep.join([base, f"{base}/adapters"])
    command = [sys.executable, "-W", "ignore", "-m", "geomm_plugin", *arguments]
    before, start, peak = _cpu_seconds(), time.perf_counter(), 0.0
    process = subprocess.Popen([*command, "--output", str(output)], env=environment, cwd=base)
    while process.poll() is None:
        peak = max(peak, sum(map(_megabytes, _tree(process.pid))))
        time.sleep(LOOK_EVERY)
    wall, cpu = time.perf_counter() - start, _cpu_seconds() - before
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with status {process.returncode}.")
    return Cost(cpu, wall, peak, _digest(output))


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _tree(process: int) -> list[int]:
    """Return a process and all that it started."""
    processes = [process]
    try:
        for thread in Path(f"/proc/{process}/task").iterdir():
            for child in (thread / "children").read_text().split():
                processes += _tree(int(child))
    except OSError:  # it has ended
        pass
    return processes


def _megabytes(process: int) -> float:
    try:
        rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:  # it has ended
        return 0.0
    shares = [line.split()[1] for line in rollup.splitlines() if line.startswith("Pss:")]
    return sum(map(int, shares)) / 2**10


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(str(path.relative_to(folder)).encode())
        with path.open("rb") as file:
            while block := file.read(2**20):
                digest.update(block)
    return digest.hexdigest()[:12]


def main(folder: Path) -> None:
    """Run all of it and print a table."""
    folder.mkdir(parents=True, exist_ok=True)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
    print("| what | CPU s | wall s | wall / one job | peak MB | files |")
    print("|---|---:|---:|---:|---:|---|")
    if "jobs" in ONLY:
        by_jobs(folder)
    for count in (2, MANY) if "languages" in ONLY else ():
        arguments = align(folder, count, FEWER, DIMENSION)
        show(f"{count} x {FEWER:,} x {DIMENSION}", measure(folder, arguments), None)
    if "rows" in ONLY:
        show(f"2 x {MANY_ROWS:,} x 100", measure(folder, align(folder, 2, MANY_ROWS, 100)), None)


def by_jobs(folder: Path) -> None:
    """Compare the numbers of jobs."""
    two = align(folder, 2, WORDS, DIMENSION)
    title = f"2 x {WORDS:,} x {DIMENSION}"
    if base := os.environ.get("BASE"):
        show(f"{title}, the other checkout", measure(folder, two, base), None)
    one = None
    for jobs in JOBS:
        cost = measure(folder, [*two, "--jobs", str(jobs)])
        one = one or cost
        show(f"{title}, jobs {jobs}", cost, one)
        assert cost.digest == one.digest, "the number of jobs changed the files"


def show(title: str, cost: Cost, one: Cost | None) -> None:
    """Print a row."""
    ratio = f"{cost.wall / one.wall:.2f}" if one else ""
    times = f"{cost.cpu:.1f} | {cost.wall:.1f} | {ratio}"
    print(f"| {title} | {times} | {cost.peak:.0f} | {cost.digest} |", flush=True)


if __name__ == "__main__":
    if "FOLDER" in os.environ:
        main(Path(os.environ["FOLDER"]))
    else:
        with TemporaryDirectory(prefix="geomm-scale-") as temporary:
            main(Path(temporary))
