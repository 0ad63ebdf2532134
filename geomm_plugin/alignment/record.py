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
import platform
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from secrets import token_hex
from typing import Any

from geomm_plugin import registry
from geomm_plugin.alignment.inputs import Inputs
from geomm_plugin.errors import FileError, GeommError, ParameterError
from geomm_plugin.files import disk
from geomm_plugin.files.atomic import STAGE, move_back, move_in
from geomm_plugin.files.stamps import files_in, sha256_of
from geomm_plugin.files.trust import is_private, parse_json, read_plain_file
from geomm_plugin.formats import Format
from geomm_plugin.mapper import Mapper
from geomm_plugin.registry.parameters import choice_text
from geomm_plugin.storage import ALIGNED, MAPPER_FOLDER, NOT_REGISTERED, load_mapper

NAME, MAPPER, UNFINISHED = ALIGNED, MAPPER_FOLDER, STAGE
FORMAT = 4  # the checksum is that of the options, too
OPTIONS = (
    "output mapper vectors dictionary identical cognates extra-words max-words suffix precision "
    "keep-length into rerank"
).split()  # that a run writes, and that are read from a record
_NEW, _SCRATCH, _PART, _RECORD = "new", "scratch", "part-", "record.json"  # in a stage
_OLD = "old"  # in a stage, while it is published: what it replaces

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
        held: dict[str, Any] = {"files": self.files, "versions": _versions()}
        if self.options is not None:
            held["options"] = dict(self.options)
        content = {"format": FORMAT, **held, "checksum": fingerprint(held)}
        return json.dumps(content, indent=2, sort_keys=True).encode() + b"\n"


def read_record(path: Path, folder: Path) -> Record:
    """Read the record of a folder; one that is missing or damaged names no file."""
    try:
        held = parse_record(path)
        return Record(folder, held["files"], held.get("options"))
    except (GeommError, OSError, RuntimeError, ValueError):
        return Record(folder)


def parse_record(path: Path) -> dict[str, Any]:
    """Read the files and the options of a record; a ValueError says what is wrong with it."""
    content = parse_json(read_plain_file(path))
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"it is no record of the format {FORMAT}")
    files = content.get("files")
    if not isinstance(files, dict) or not all(map(_is_entry, files, files.values())):
        raise ValueError("it does not tell the size and hash of each file")
    held = {name: content[name] for name in ("files", "options", "versions") if name in content}
    if content.get("checksum") != fingerprint(held):
        raise ValueError("its checksum differs from what it holds")
    return held


def recorded_options(path: Path) -> dict[str, Any]:
    """Return the options of the run that wrote a record: those that a run writes, and no other."""
    options = parse_record(path).get("options")
    if not isinstance(options, dict):
        raise ParameterError(
            f"{path} does not tell the options of its run, which was given words and vectors from "
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


def fingerprint_of_file(fit: str, written: Format, rows: object, extra: list[str]) -> str:
    """Return the fingerprint of an aligned file: the fit, what is done to rows, and the form."""
    form = [written.name, {name: repr(value) for name, value in vars(written).items()}]
    return fingerprint([fit, form, rows, extra])


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


def _versions() -> dict[str, str]:
    """Return what the run was computed with."""
    packages = {name: version(name) for name in ("geomm-plugin", "numpy", "scipy")}
    return {"python": platform.python_version(), **packages}


def run_options(
    output: Path,
    inputs: Inputs,
    mapper: Mapper,
    extra_words: Mapping[str, object],
    others: Mapping[str, Any],
) -> dict[str, Any] | None:
    """Return the options by name; None if the run was given what no file holds.

    Parameters
    ----------
    others
        Further options; those that are None or False are left out.
    """
    lists = [value for value in extra_words.values() if not isinstance(value, (str, Path))]
    from_memory = inputs.objects or lists or not all(d.files for d in inputs.pairs.values())
    from_memory = from_memory or others.get("format") is not None  # the suffix does not tell it
    if from_memory or registry.mappers.get(mapper.name) is not type(mapper):
        return None
    folder = os.path.realpath(output)

    def relative(path: str | Path) -> str:
        place = Path(path)  # a link to a file keeps its own name, which tells the format
        return os.path.relpath(Path(os.path.realpath(place.parent), place.name), folder)

    options = {
        "output": ".",
        "mapper": choice_text(mapper),
        "vectors": {language: relative(path) for language, path in inputs.paths.items()},
        "dictionary": {
            "-".join(pair): [relative(file.path) for file in dictionary.files]
            for pair, dictionary in inputs.pairs.items()
        },
        "identical": ["-".join(pair) for pair in inputs.identical],
        "cognates": ["-".join(pair) for pair in inputs.cognates],
        "extra-words": {language: relative(str(path)) for language, path in extra_words.items()},
        "max-words": inputs.max_words,
        **others,
    }
    return {name: value for name, value in options.items() if value not in (None, False, {}, [])}


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
        self.folder = (output / UNFINISHED).absolute()  # workers may be in another folder
        self._run = token_hex(4)  # workers of a killed run live on for a moment
        self.record = Record(self.folder / _NEW)

    @classmethod
    @contextmanager
    def open(cls, output: Path, fingerprints: Mapping[str, str], resume: bool) -> Iterator[Stage]:
        """Give the stage of a folder for a `with` block.

        Parameters
        ----------
        fingerprints
            Of every file that is to be there at the end, by name.
        resume
            Whether what an earlier run left is used, as far as it is what this one would write.
        """
        stage = cls(output)
        if is_private(stage.folder):
            left = read_record(stage.folder / _RECORD, stage.record.folder)
            if (stage.folder / _OLD).is_dir():
                stage.record = left
                move_back(stage.record.folder, output, stage._names())
                stage.record = Record(left.folder)
            if resume and (stage.folder / _NEW).is_dir():
                stage.record = left.matching(fingerprints)
        if not stage.record.files:
            stage._remove()
            disk.make_folder(stage.folder, 0o700)
            disk.make_folder(stage.record.folder)
        stage._clean()
        disk.make_folder(stage.folder / _SCRATCH)
        stage.keep_only(stage.record.files)
        try:
            yield stage
        finally:
            stage._clean()
            if not stage.record.files:
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
            if os.path.lexists(self.record.folder / path.name):
                raise ParameterError(
                    f"Two languages would be written to {path.name} in this folder. Rename one."
                )
            disk.rename(path, self.record.folder / path.name)
        disk.remove_tree(part)
        self.record.files[name] = {"from": fingerprint, "content": content}
        self._write(self.folder / _RECORD, self.record)

    def keep_only(self, names: Iterable[str]) -> None:
        """Remove all from the stage but for some files that its record names."""
        self.record.files = {name: self.record.files[name] for name in list(names)}
        whole = {*self._names()[:-1]}
        for path in list(self.record.folder.iterdir()):
            if path.name not in whole:
                disk.remove_tree(path)

    def publish(self, present: Record, options: Mapping[str, Any] | None) -> None:
        """Rename all that is whole into its place, the record of the folder last.

        Parameters
        ----------
        present
            What is in its place already and belongs to it.
        options
            How the run was started, for the record.
        """
        whole = Record(present.folder, present.files | self.record.files, options)
        self._write(self.record.folder / NAME, whole)
        disk.change_mode(self.folder, 0o711)  # other users see that files are being renamed
        try:
            move_in(self.record.folder, present.folder, self._names())
        finally:
            disk.change_mode(self.folder, 0o700)
        self.record.files = {}

    def _names(self) -> list[str]:
        """Return what is renamed into place, the record of the folder last."""
        contents = (entry["content"] for entry in self.record.files.values())
        return [*sorted({name.split("/")[0] for content in contents for name in content}), NAME]

    def _clean(self) -> None:
        disk.remove_tree(self.folder / _SCRATCH)
        for part in self.folder.glob(f"{_PART}*"):
            disk.remove_tree(part)

    def _remove(self) -> None:
        """Remove what an earlier run left; a link in its place is removed, not followed."""
        disk.remove_tree(self.folder)
        if os.path.lexists(self.folder):
            raise FileError(f"Cannot remove {self.folder}, which is in the way. Remove it by hand.")

    def _write(self, path: Path, record: Record) -> None:
        new = path.with_name(f"{_PART}{path.name}")
        disk.write_file(new, record.to_json())
        disk.fsync(new)
        disk.rename(new, path)
