"""What an alignment wrote and from what: align.json beside the files, so that a run can go on.

    {"format": 3, "files": {"en.vec": {"from": FINGERPRINT,
                                       "content": {"en.vec": [SIZE, HASH]}}, "mapper": {...}},
     "checksum": HASH, "options": {"mapper": "geomm", "vectors": {"en": "../wiki.en.vec"}, ...}}

A fingerprint is the hash of all that decides what a file holds: the mapper and its parameters,
options, the pairs of the dictionaries, and the content of every file of embeddings. The content is
the size and hash of each file as it was written. Where both are still the same, the file need not
be written again; and whoever gets the folder can check it. The options are for people, and for
`geomm align --config align.json`. There is no date and no absolute path in the record: equal inputs
at equal places give an equal one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from geomm_plugin import registry
from geomm_plugin.alignment.inputs import Inputs
from geomm_plugin.errors import FileError, GeommError
from geomm_plugin.files.publication import ALIGNED
from geomm_plugin.files.strict_json import parse_json
from geomm_plugin.files.version import content_hash, files_in
from geomm_plugin.formats import Format
from geomm_plugin.mapper import Mapper
from geomm_plugin.storage import NOT_REGISTERED, load_mapper

NAME = ALIGNED
FORMAT = 3  # the hash of a file is its SHA-256
MAPPER = "mapper"  # the folder of the fitted mapper, beside the aligned files
_LARGEST = 2**26  # bytes

Content = dict[str, list[Any]]  # the size and the hash of each file, by name


class Record:
    """The files of one output folder that belong together, each with where it came from."""

    def __init__(
        self,
        folder: Path,
        files: Mapping[str, dict[str, Any]] | None = None,
        options: Mapping[str, Any] | None = None,
    ):
        self.folder = folder
        self.options = options  # of the run that wrote the files last, if it can be typed again
        self.files: dict[str, dict[str, Any]] = dict(files or {})

    def has(self, name: str, fingerprint: str) -> bool:
        """True if a file is there as it was written, from just these inputs."""
        entry = self.files.get(name, {})
        return entry.get("from") == fingerprint and not changed(self.folder, entry)

    def matching(self, fingerprints: Mapping[str, str]) -> Record:
        """Return the record of those files that are there, as these fingerprints ask for."""
        names = [name for name in self.files if self.has(name, fingerprints.get(name, ""))]
        return Record(self.folder, {name: self.files[name] for name in names})

    def mapper(self, fingerprint: str) -> Mapper | None:
        """Load the mapper that was fitted from just these inputs, if it is there."""
        if not self.has(MAPPER, fingerprint):
            return None
        try:
            return load_mapper(self.folder / MAPPER)
        except GeommError:
            return None

    def to_json(self) -> bytes:
        """Return the record as it is written."""
        content = {"format": FORMAT, "files": self.files, "checksum": fingerprint(self.files)}
        if self.options is not None:
            content["options"] = dict(self.options)
        return json.dumps(content, indent=2, sort_keys=True).encode() + b"\n"


def read_record(path: Path, folder: Path) -> Record:
    """Read the record of a folder; one that is missing or damaged tells of no file."""
    try:
        return Record(folder, parse_record(path))
    except (GeommError, OSError, RuntimeError, ValueError):
        return Record(folder)


def parse_record(path: Path) -> dict[str, dict[str, Any]]:
    """Read what a record tells of each file; a ValueError says what is wrong with it."""
    content = parse_json(_plain_bytes(path))
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"it is no record of the format {FORMAT}")
    files = content.get("files")
    if not isinstance(files, dict) or not all(map(_is_entry, files, files.values())):
        raise ValueError("it does not tell the size and hash of each file")
    if content.get("checksum") != fingerprint(files):
        raise ValueError("its checksum differs from what it holds")
    return files


def content_of(paths: list[Path], folder: Path, known: Mapping[str, str]) -> Content:
    """Return the size and hash of files, and of those in folders, by their names in a folder.

    Parameters
    ----------
    known
        Hashes that were taken already, by name.
    """
    files = {file.relative_to(folder).as_posix(): file for path in paths for file in files_in(path)}
    return {
        name: [file.stat().st_size, known.get(name) or content_hash(file)]
        for name, file in files.items()
    }


def changed(folder: Path, entry: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the files of an entry that are not as they were written, each with how they are."""
    problems = []
    for name, (size, digest) in entry.get("content", {}).items():
        path = folder / name
        try:
            if path.is_symlink() or not path.is_file():
                problems.append((name, "it is not there"))
            elif path.stat().st_size != size:
                problems.append((name, f"it has {path.stat().st_size} bytes; it had {size}"))
            elif content_hash(path) != digest:
                problems.append((name, "its content is not what was written"))
        except OSError as error:
            problems.append((name, f"it cannot be read: {error.strerror or error}"))
    return problems


def fingerprint_of_fit(
    mapper: Mapper, inputs: Inputs, hashes: Mapping[str, Any], rerank: bool = False
) -> str:
    """Return the fingerprint of all that a fitted mapper depends on."""
    is_registered = registry.mappers.get(mapper.name) is type(mapper)
    origin = str(registry.mappers.origin(mapper.name)) if is_registered else NOT_REGISTERED
    return fingerprint(
        {
            "mapper": [mapper.name, origin, type(mapper).__qualname__, mapper.get_params()],
            "embeddings": hashes,
            "dictionaries": sorted(inputs.pairs.items()),
            "identical": inputs.identical,
            "cognates": inputs.cognates,
            "rerank": rerank,
            "max words": inputs.max_words,
        }
    )


def fingerprint_of_file(fit: str, written: Format, keep_length: bool, extra: list[str]) -> str:
    """Return the fingerprint of an aligned file: the fit, and how it is written."""
    form = [written.name, {name: repr(value) for name, value in vars(written).items()}]
    return fingerprint([fit, form, keep_length, extra])


def fingerprint(value: object) -> str:
    """Return the hash of plain values."""
    text = json.dumps(value, sort_keys=True, default=repr)
    return hashlib.blake2b(text.encode(), digest_size=32).hexdigest()


def _is_entry(name: object, entry: object) -> bool:
    """True for a file's entry in a record; names lead nowhere but into the folder."""
    content = entry.get("content") if isinstance(entry, dict) else None
    if not isinstance(content, dict) or not isinstance(entry, dict) or not content:
        return False
    names = [name, *content]
    return (
        isinstance(entry.get("from"), str)
        and all(isinstance(each, str) and _is_inside(each) for each in names)
        and all(
            isinstance(value, list)
            and len(value) == 2
            and type(value[0]) is int
            and isinstance(value[1], str)
            for value in content.values()
        )
    )


def _is_inside(name: str) -> bool:
    path = Path(name)
    return (
        bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\0" not in name
    )


def _plain_bytes(path: Path) -> bytes:
    """Read a plain file of the folder itself: a link may lead anywhere, a pipe may never end."""
    whole = path.resolve(strict=True)
    if whole.parent != path.parent.resolve() or not whole.is_file():
        raise FileError(f"{path} is no plain file.")
    if whole.stat().st_size > _LARGEST:
        raise FileError(f"{path} is too large for a record.")
    return whole.read_bytes()
