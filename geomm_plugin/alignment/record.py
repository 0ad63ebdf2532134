"""What a run wrote and from what (align.json), and the stage of a run that is not at its end.

    {"format": 4, "files": {"en.vec": {"from": FINGERPRINT,
                                       "content": {"en.vec": [SIZE, SHA-256]}}, "mapper": {...}},
     "options": {"mapper": "geomm", "vectors": {"en": "../wiki.en.vec"}, ...},
     "versions": {"python": "3.11.7", ...}, "checksum": HASH}

A fingerprint is the hash of all that decides what a file holds: the mapper and its parameters,
options, the pairs of the dictionaries, and the content of every file of embeddings. The content is
the size and hash of each file as it was written. Where both are still the same, the file need not
be written again; and people who get the folder can check it. The options are for
`geomm align --config align.json`; what a run was computed with, for people. There is no date and no
absolute path in the record: equal inputs at equal places give an equal one.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeAlias

from geomm_plugin.errors import FileError, GeommError, ParameterError
from geomm_plugin.files import disk
from geomm_plugin.files.atomic import STAGE, move_back, move_in
from geomm_plugin.files.stamps import files_in, sha256_of
from geomm_plugin.files.trust import is_private, parse_json, read_plain_file
from geomm_plugin.mapper import Mapper
from geomm_plugin.storage import ALIGNED, MAPPER_FOLDER, load_mapper, versions

NAME, MAPPER, UNFINISHED = ALIGNED, MAPPER_FOLDER, STAGE
FORMAT = 4  # the checksum is that of the options, too
OPTIONS = (
    "output mapper vectors dictionary encoding identical cognates extra-words max-words suffix "
    "precision keep-length into rerank force"
).split()  # that a run writes, and that are read from a record
_NEW, _SCRATCH, _PART, _RECORD = "new", "scratch", "part-", "record.json"  # in a stage
_OLD = "old"  # in a stage, while it is published: what it replaces

Content: TypeAlias = "dict[str, list[Any]]"  # the size and the hash of each file, by name
Entries: TypeAlias = "dict[str, dict[str, Any]]"  # what a record says of each aligned file


def parse_record(path: Path) -> dict[str, Any]:
    """Read the files and the options of a record; a ValueError says what is wrong with it."""
    content = parse_json(read_plain_file(path))
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"it is no record of the format {FORMAT}")
    files = content.get("files")
    if not isinstance(files, dict) or not all(map(_is_entry, files, files.values())):
        raise ValueError("it does not name the size and hash of each file")
    held = {name: content[name] for name in ("files", "options", "versions") if name in content}
    if content.get("checksum") != fingerprint(held):
        raise ValueError("its checksum differs from what it holds")
    return held


def read_record(path: Path) -> dict[str, Any]:
    """Read a record; one that is missing or damaged names no file."""
    try:
        return parse_record(path)
    except (GeommError, OSError, RuntimeError, ValueError):
        return {"files": {}}


def write_record(path: Path, files: Entries, options: Mapping[str, Any] | None = None) -> None:
    """Write a record to the disk, with the options of the run if it can be typed again."""
    held: dict[str, Any] = {"files": files, "versions": versions()}
    if options is not None:
        held["options"] = dict(options)
    content = {"format": FORMAT, **held, "checksum": fingerprint(held)}
    new = path.with_name(f"{_PART}{path.name}")
    disk.write_file(new, json.dumps(content, indent=2, sort_keys=True).encode() + b"\n")
    disk.fsync(new)
    disk.rename(new, path)


def recorded_options(path: Path) -> dict[str, Any]:
    """Return the options of the run that wrote a record: those that a run writes, and no other."""
    options = parse_record(path).get("options")
    if not isinstance(options, dict):
        raise ParameterError(
            f"{path} does not hold the options of its run, which was given words and vectors from "
            "Python, or by another version. Write them into a TOML file."
        )
    if others := sorted(options.keys() - set(OPTIONS)):
        raise ParameterError(
            f"{path} holds {', '.join(map(repr, others))}, which no run writes. It was changed; "
            "type the options, or write them into a TOML file."
        )
    return options


def content_of(folder: Path) -> Content:
    """Return the size and hash of all files in a folder, by their names in it."""
    return {
        file.relative_to(folder).as_posix(): [file.stat().st_size, sha256_of(file)]
        for file in files_in(folder)
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
            elif sha256_of(path) != digest:
                problems.append((name, "its content is not what was written"))
        except OSError as error:
            problems.append((name, f"it cannot be read: {error.strerror or error}"))
    return problems


def still_whole(folder: Path, files: Entries, fingerprints: Mapping[str, str]) -> Entries:
    """Return the entries of files that are as they were written, from just these inputs."""
    return {
        name: entry
        for name, entry in files.items()
        if entry["from"] == fingerprints.get(name) and not changed(folder, entry)
    }


def fitted_mapper(folder: Path, files: Entries) -> Mapper | None:
    """Load the mapper that is among some files, if it is."""
    try:
        return load_mapper(folder / MAPPER) if MAPPER in files else None
    except GeommError:
        return None


def fingerprint(value: object) -> str:
    """Return the hash of plain values."""
    text = json.dumps(value, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()


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


class Stage:
    """What of a run is whole already, aside until all of it is, then published together.

        OUT/.unfinished/            mode 700: only its owner's is believed
            record.json             what is whole, and from what
            new/                    the mapper and the aligned files that are
            part-*/                 what is being written; every run removes it
            scratch/                what is needed while the run lasts; every end removes it
            old/                    while files are renamed into OUT: what they replace

    A run that is stopped leaves its stage: the next one with `resume` goes on from there, any other
    one removes it. Renaming that was stopped in the middle is first undone, by either.
    """

    def __init__(self, output: Path):
        self.output = output
        self.folder = (output / UNFINISHED).absolute()  # workers may be in another folder
        self.new = self.folder / _NEW
        self.files: Entries = {}
        self._run = token_hex(4)  # workers of a killed run live on for a moment

    @classmethod
    @contextmanager
    def open(cls, output: Path, fingerprints: Mapping[str, str]) -> Iterator[Stage]:
        """Give the stage of a folder for a `with` block.

        Parameters
        ----------
        fingerprints
            Of the files that are taken over, by name, if an earlier run has left them.
        """
        stage = cls(output)
        if is_private(stage.folder):
            left = read_record(stage.folder / _RECORD)["files"]
            if (stage.folder / _OLD).is_dir():
                move_back(stage.new, output, _published(left))
            stage.files = still_whole(stage.new, left, fingerprints)
        if not stage.files:
            stage._remove()
            disk.make_folder(stage.folder, 0o700)
            disk.make_folder(stage.new)
        stage._clean()
        disk.make_folder(stage.folder / _SCRATCH)
        stage.keep_only(stage.files)
        try:
            yield stage
        finally:
            stage._clean()
            if not stage.files:
                stage._remove()

    def scratch(self, name: str) -> Path:
        """Return the path of a file that is needed while the run lasts."""
        return self.folder / _SCRATCH / f"{self._run}-{name}"

    def part(self, number: int) -> Path:
        """Make an empty folder to write a file in, or several that belong together."""
        part = self.folder / f"{_PART}{self._run}-{number}"
        disk.make_folder(part)
        return part

    def add(self, name: str, fingerprint: str, part: Path, content: Content) -> None:
        """Take in what was written into a part, and is on the disk."""
        for path in sorted(part.iterdir()):
            if os.path.lexists(self.new / path.name):
                raise ParameterError(
                    f"Two languages would be written to {path.name} in this folder. Rename one."
                )
            disk.rename(path, self.new / path.name)
        disk.remove_tree(part)
        self.files[name] = {"from": fingerprint, "content": content}
        write_record(self.folder / _RECORD, self.files)

    def keep_only(self, names: Iterable[str]) -> None:
        """Remove all from the stage but for some files that its record names."""
        self.files = {name: self.files[name] for name in names}
        whole = _published(self.files)[:-1]
        for path in list(self.new.iterdir()):
            if path.name not in whole:
                disk.remove_tree(path)

    def publish(self, present: Entries, options: Mapping[str, Any] | None) -> None:
        """Rename all that is whole into its place, the record of the folder last.

        Parameters
        ----------
        present
            What is in its place already and belongs to it.
        options
            How the run was started, for the record.
        """
        write_record(self.new / NAME, present | self.files, options)
        disk.change_mode(self.folder, 0o711)  # other users see that files are being renamed
        try:
            move_in(self.new, self.output, _published(self.files))
        finally:
            disk.change_mode(self.folder, 0o700)
        self.files = {}

    def _clean(self) -> None:
        disk.remove_tree(self.folder / _SCRATCH)
        for part in self.folder.glob(f"{_PART}*"):
            disk.remove_tree(part)

    def _remove(self) -> None:
        """Remove what an earlier run left; a link in its place is removed, not followed."""
        disk.remove_tree(self.folder)
        if os.path.lexists(self.folder):
            raise FileError(f"Cannot remove {self.folder}, which is in the way. Remove it by hand.")


def _published(files: Entries) -> list[str]:
    """Return what is renamed into place, the record of the folder last."""
    names = {name.split("/")[0] for entry in files.values() for name in entry["content"]}
    return [*sorted(names), NAME]
