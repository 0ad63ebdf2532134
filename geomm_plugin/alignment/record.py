"""What `geomm align` wrote and from what: align.json beside the files, so that a run can go on.

    {"format": 1, "files": {"mapper": {"from": FINGERPRINT, "stamps": {...}}, "en.vec": {...}, ...}}

A fingerprint is the checksum of all that decides what a file holds: the mapper and its parameters,
options, the pairs of the dictionaries, and the size and date of every file of embeddings. Stamps
are the size and date of the file as it was written. Where both are still the same, the file need
not be written again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from geomm_plugin import registry
from geomm_plugin.dictionary import Dictionary
from geomm_plugin.errors import FileError, GeommError
from geomm_plugin.files.atomic import written_beside
from geomm_plugin.files.strict_json import parse_json
from geomm_plugin.formats import Format, find_format
from geomm_plugin.mapper import Mapper
from geomm_plugin.storage import load_mapper

NAME = "align.json"
FORMAT = 1
MAPPER = "mapper"  # the folder of the fitted mapper, beside the aligned files


class AlignRecord:
    """The files of one output folder that belong together, each with where it came from."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.files: dict[str, dict[str, Any]] = {}

    @classmethod
    def read(cls, folder: Path) -> AlignRecord:
        """Read the record of a folder; one that is missing or damaged tells of no file."""
        record = cls(folder)
        try:
            content = parse_json(_plain_bytes(folder / NAME))
            files = content["files"] if content["format"] == FORMAT else {}
            record.files = {name: {**known} for name, known in files.items()}
        except (OSError, RuntimeError, ValueError, KeyError, TypeError, AttributeError):
            record.files = {}
        return record

    def holds(self, name: str, fingerprint: str) -> bool:
        """Tell whether a file is there as it was written, from just these inputs."""
        known = self.files.get(name, {})
        try:
            return known == {"from": fingerprint, "stamps": stamps(self.folder / name)}
        except FileError:
            return False

    def mapper(self, fingerprint: str) -> Mapper | None:
        """Load the mapper that was fitted from just these inputs, if it is there."""
        if not self.holds(MAPPER, fingerprint):
            return None
        try:
            return load_mapper(self.folder / MAPPER)
        except GeommError:
            return None

    def add(self, name: str, fingerprint: str) -> None:
        """Note that a file was written."""
        self.files[name] = {"from": fingerprint, "stamps": stamps(self.folder / name)}
        self.write()

    def write(self) -> None:
        """Write the record into its folder."""
        text = json.dumps({"format": FORMAT, "files": self.files}, indent=2)
        with written_beside(self.folder / NAME) as part:
            part.write_text(text + "\n", encoding="utf-8")


def fingerprint_of_fit(
    mapper: Mapper,
    embeddings: Mapping[str, str],
    dictionaries: Mapping[tuple[str, str], Dictionary],
    identical: Iterable[str],
    max_words: int | None,
) -> str:
    """Return the fingerprint of all that a fitted mapper depends on."""
    return fingerprint(
        {
            "mapper": [mapper.name, str(registry.mappers.origin(mapper.name)), mapper.get_params()],
            "embeddings": {name: _input_stamps(Path(path)) for name, path in embeddings.items()},
            "dictionaries": sorted(dictionaries.items()),
            "identical": sorted(identical),
            "max words": max_words,
        }
    )


def fingerprint_of_file(fit: str, written: Format, keep_length: bool, extra: list[str]) -> str:
    """Return the fingerprint of an aligned file: the fit, and how it is written."""
    form = [written.name, {name: repr(value) for name, value in vars(written).items()}]
    return fingerprint([fit, form, keep_length, extra])


def fingerprint(value: object) -> str:
    """Return the checksum of plain values."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=repr).encode()).hexdigest()


def stamps(path: Path) -> dict[str, list[int]]:
    """Return the size and date of a file, or of all files in a folder, by name."""
    try:
        files = sorted(f for f in path.rglob("*") if f.is_file()) if path.is_dir() else [path]
        found = {}
        for file in files:
            told = file.stat()
            found[file.relative_to(path.parent).as_posix()] = [told.st_size, told.st_mtime_ns]
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error.strerror}.") from error
    return found


def _input_stamps(path: Path) -> dict[str, list[int]]:
    """Return the stamps of a file of embeddings and of those that belong to it."""
    found: dict[str, list[int]] = {}
    for file in find_format(path).files(path):
        found |= stamps(file)
    return found


def _plain_bytes(path: Path) -> bytes:
    """Read a plain file of the folder itself: a link may lead anywhere, a pipe may never end."""
    whole = path.resolve(strict=True)
    if whole.parent != path.parent.resolve() or not whole.is_file():
        raise FileError(f"{path} is no plain file.")
    return whole.read_bytes()
