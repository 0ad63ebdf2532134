"""[read] The list of data sets, and the files that a request for one means."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from geomm_plugin.errors import ParameterError, UnknownNameError, did_you_mean

FILE = Path(__file__).parent / "catalog.json"
LANGUAGE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")  # nothing that could lead out of a folder


@dataclass(frozen=True)
class RemoteFile:
    """A file to download, its place in the folder, and what to unpack from it."""

    url: str
    path: str
    checksum: str | None = None  # "sha256:..." where one is known; else the first download counts
    members: Mapping[str, str] = field(default_factory=dict)  # of an archive -> place in the folder

    def filled(self, **names: str) -> RemoteFile:
        """Return this file for a language, or for a pair of languages."""
        return replace(self, url=self.url.format(**names), path=self.path.format(**names))


@dataclass(frozen=True)
class DataSet:
    """What can be fetched under one name."""

    name: str
    title: str
    parts: str  # what is named after it: "languages", "pairs" or "none"
    example: str
    size: str
    licence: str
    origin: str
    files: tuple[RemoteFile, ...]

    def wanted(self, parts: Sequence[str]) -> list[RemoteFile]:
        """Return the files of some languages, or pairs of languages."""
        if bool(parts) != (self.parts != "none"):
            rule = "stands alone" if self.parts == "none" else f"needs {self.parts}"
            raise ParameterError(f"{self.name} {rule}, e.g. `{self.command()}`.")
        if self.parts == "none":
            return list(self.files)
        return [file.filled(**self._names(part)) for part in parts for file in self.files]

    def command(self, *parts: str) -> str:
        """Return the line that fetches some parts; by default an example."""
        return " ".join(["geomm", "fetch", self.name, *(parts or self.example.split())])

    def _names(self, part: str) -> dict[str, str]:
        keys = ("source", "target") if self.parts == "pairs" else ("language",)
        names = part.split("-", len(keys) - 1)
        if len(names) != len(keys) or not all(LANGUAGE.fullmatch(name) for name in names):
            raise ParameterError(
                f"{part!r} is not among the {self.parts} of {self.name}; write e.g. "
                f"`{self.command()}`."
            )
        return dict(zip(keys, names, strict=True))


@cache
def data_sets() -> dict[str, DataSet]:
    """Return all data sets by name."""
    return {
        name: DataSet(name, **entry | {"files": tuple(RemoteFile(**f) for f in entry["files"])})
        for name, entry in json.loads(FILE.read_text(encoding="utf-8")).items()
    }


def find_data_set(name: str) -> DataSet:
    """Return the data set of a name."""
    known = data_sets()
    if name not in known:
        raise UnknownNameError(
            f"There is no data set {name!r}.{did_you_mean(name, known)} There are: "
            f"{', '.join(known)}; `geomm fetch --list` says more."
        )
    return known[name]
