"""The contracts of all that a package registers: `geomm plugins --check PACKAGE`."""

from __future__ import annotations

import gzip
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geomm_plugin import progress, registry
from geomm_plugin.demo import FOLDER, load_demo
from geomm_plugin.errors import MissingExtraError, ParameterError, UnknownNameError, did_you_mean
from geomm_plugin.evaluation.task import Task
from geomm_plugin.formats import Format
from geomm_plugin.registry.plugins import Entry, plain_name
from geomm_plugin.shared_space import SharedSpace
from geomm_plugin.testing.feature_contract import check_feature
from geomm_plugin.testing.format_contract import check_format
from geomm_plugin.testing.mapper_contract import check_mapper
from geomm_plugin.testing.retrieval_contract import check_retrieval
from geomm_plugin.testing.seed_contract import check_seed
from geomm_plugin.testing.task_contract import check_task


@dataclass(frozen=True)
class Checked:
    """What came of the contract of one registered thing."""

    about: str  # e.g. "mapper whitening"
    result: str  # "ok", "failed" or "not checked"
    reason: str = ""

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.about, self.result, self.reason)))


def check_plugin(package: str) -> list[Checked]:
    """Run the contracts on all that an installed package registers; what could not be failed."""
    if not __debug__:
        raise ParameterError("Contracts are assertions, which `python -O` leaves out: run without.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of broken plugins, and of mappers on hard data
        entries, problems = registry.plugins.registered(), registry.plugins.problems
        packages = [origin.package for origin in registry.plugins.origins.values()]
        known = {plain_name(each): each for each in (*packages, *problems.values())}
        name = known.get(plain_name(package))
        if name is None:
            raise UnknownNameError(
                f"No package {package!r} is installed with plugins.{did_you_mean(package, known)} "
                f"There are: {', '.join(known.values())}."
            )
        own = [entry for entry in entries if entry.origin.package == name]
        found = [_check(entry) for entry in progress.over("Checking", own, "contracts")]
    broken = [problem for problem, of in problems.items() if of == name]
    if not (own or broken):
        broken = ["It registers nothing. Is each hook marked with @hookimpl?"]
    return found + [Checked(f"plugin {name}", "failed", problem) for problem in broken]


def _check(entry: Entry[Any]) -> Checked:
    about = f"{entry.kind} {entry.name}"
    try:
        reason = CONTRACTS[entry.kind](entry.item) if entry.kind in CONTRACTS else "no contract"
    except MissingExtraError as error:
        reason = str(error)
    except (Exception, SystemExit) as error:  # third-party code: anything may be raised
        kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
        return Checked(about, "failed", " ".join(f"{kind}{error}".split()))
    return Checked(about, "not checked" if reason else "ok", reason or "")


def _check_format(kind: type[Format]) -> str | None:
    if kind.write is Format.write:
        return "it only reads; test check_format(..., sample=FILE)"
    check_format(kind)
    return None


def _check_task(kind: type[Task]) -> str | None:
    """Check a task on the demo's sentences, labelled speeches or test words, if it reads these."""
    with tempfile.TemporaryDirectory() as folder:
        for path in FOLDER.glob("*.*.t*.gz"):
            Path(folder, path.stem).write_bytes(gzip.decompress(path.read_bytes()))
        files = {}
        for role in kind.roles:
            name = "sentences.{}.txt" if role == "texts" else "topics.{}.tsv"
            files[role] = {each: str(Path(folder, name.format(each))) for each in ("en", "es")}
            if kind.of_pairs:
                files[role] = {"en-es": str(FOLDER / "en-es.test.txt")}
        try:
            task = kind.from_files(files)
        except Exception as error:
            return f"it cannot read the demo's files ({error}); test check_task(task, space)"
        check_task(task, SharedSpace(load_demo().embeddings))
    return None


CONTRACTS: dict[str, Callable[[Any], str | None]] = {
    "mapper": check_mapper,
    "seed": check_seed,
    "format": _check_format,
    "retrieval": check_retrieval,
    "feature": check_feature,
    "task": _check_task,
}
