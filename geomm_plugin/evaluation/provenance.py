"""[evaluate] Where numbers come from: files, versions, and the command that made them."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from geomm_plugin.dictionary import Dictionary
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.fit_report import FitReport
from geomm_plugin.source_file import SourceFile

PACKAGES = ("geomm-plugin", "numpy", "scipy", "pymanopt")


@dataclass(frozen=True)
class Provenance:
    """What a reader needs to make the same numbers again.

    `files` are those that were read, each with what it was for: "embeddings en", "test en-es".
    """

    files: tuple[tuple[str, SourceFile], ...] = ()
    command: str | None = None
    day: str = field(default_factory=lambda: date.today().isoformat())

    @cached_property
    def versions(self) -> dict[str, str]:
        """The version of Python and of each package that computes."""
        versions = {"Python": platform.python_version(), "platform": platform.platform(terse=True)}
        versions |= dict.fromkeys(PACKAGES, "not installed")  # as a checkout may be
        for package in PACKAGES:
            with suppress(PackageNotFoundError):
                versions[package] = version(package)
        return versions

    def with_files(self, files: Iterable[tuple[str, SourceFile]]) -> Provenance:
        """Return this with further files that were read."""
        return replace(self, files=(*self.files, *files))

    @cached_property
    def columns(self) -> dict[str, Any]:
        """What every row of a table carries: versions, and the SHA-256 of every file by its role.

        It is None where the file has changed since.
        """
        return {
            "versions": self.versions,
            "files": {role: file.sha256() for role, file in self.files},
        }


def provenance_of(
    embeddings: Mapping[str, Embeddings],
    dictionaries: Iterable[tuple[tuple[str, str], Dictionary]],
    tests: Iterable[tuple[tuple[str, str], Dictionary]],
) -> Provenance:
    """Return which files were read, from what they gave; nothing is read again."""
    files = [
        (f"embeddings {language}", value.file)
        for language, value in embeddings.items()
        if value.file is not None
    ]
    for role, given in (("dictionary", dictionaries), ("test", tests)):
        for pair, dictionary in given:
            files += [(f"{role} {'-'.join(pair)}", file) for file in dictionary.files]
    return Provenance(tuple(files))


def mapper_columns(parameters: Mapping[str, Any], *reports: FitReport) -> dict[str, Any]:
    """Return the columns about a mapper: its parameters, and lambda as chosen by dictionary."""
    chosen = {
        pair: choice.value for report in reports for pair, choice in report.regularization.items()
    }
    return {"parameters": json_like(parameters), "regularization": chosen}


def json_like(value: Any) -> Any:
    """Return a value as JSON gives it back; what JSON does not know is its text."""
    return json.loads(json.dumps(value, default=repr))
