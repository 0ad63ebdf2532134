"""Where the numbers of a report come from: files, versions, and the command that made it."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("geomm-plugin", "numpy", "scipy", "pymanopt")


@dataclass(frozen=True)
class DataFile:
    """A file that was read."""

    role: str  # e.g. "embeddings en", "test en-es"
    path: str
    size: int  # in bytes
    content: str  # e.g. "200000 words x 300"


@dataclass(frozen=True)
class Provenance:
    """What a reader needs to make the same comparison again."""

    files: tuple[DataFile, ...] = ()
    command: str | None = None

    @property
    def versions(self) -> Mapping[str, str]:
        """The version of Python and of each package that computes."""
        found = {"Python": platform.python_version(), "platform": platform.platform(terse=True)}
        for package in PACKAGES:
            try:
                found[package] = version(package)
            except PackageNotFoundError:  # a checkout that is not installed
                found[package] = "not installed"
        return found

    @property
    def day(self) -> str:
        """The day on which the report is made."""
        return date.today().isoformat()
