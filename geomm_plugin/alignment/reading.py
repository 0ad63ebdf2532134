"""The first pass: every language read once, in parts, onto scratch files; then hashed meanwhile.

    (path, range of bytes) -> words, and rows at their place in STEM.rows    whoever is free
    in order -> STEM.words, STEM.ends; gaps in STEM.rows are closed          here

No part and no order of work changes what is written. Nobody holds a whole language, but for formats
other than text, which are read as a whole or mapped into memory.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

from geomm_plugin import progress
from geomm_plugin.alignment.inputs import Inputs, words_in
from geomm_plugin.alignment.scratch import Scratch, ScratchWriter, new_path, rows_in_turns
from geomm_plugin.alignment.workers import Task, Workers
from geomm_plugin.embeddings import Embeddings, unknown_word
from geomm_plugin.errors import FileError, GeommError, UnknownNameError
from geomm_plugin.file_parts import IrregularFileError, Part, PartedFile, PartwiseFormat
from geomm_plugin.files import disk
from geomm_plugin.files.turns import FileInTurns
from geomm_plugin.files.version import ATTEMPTS, Version, hash_of_range, replaced_too_often
from geomm_plugin.formats import existing, files_of, find_format, read_embeddings

T = TypeVar("T")
Place: TypeAlias = "tuple[FileInTurns, int] | Path | None"  # of rows: a turn, a folder, in memory

_HASHED_BYTES = 2**25  # by one task: others need not wait long for their turn


@dataclass(frozen=True)
class Language:
    """The embeddings of a language: those that a mapper learns from, and those that are written.

    They differ by the extra words, which are behind the others.
    """

    fitted: Embeddings
    exported: Embeddings


class Reading:
    """The content of the files of embeddings and its hashes, of one and the same version."""

    def __init__(self, inputs: Inputs, workers: Workers):
        self.inputs = inputs
        self.workers = workers
        self._version: Version | None = None
        self._hashing: Future[dict[str, Any]] | None = None

    def hashes(self) -> dict[str, Any]:
        """Return what tells the content of each language from any other."""
        if self._version is None:
            self._read_one_version((), None)
        assert self._hashing is not None
        hashes = self._hashing.result()
        self._check_version()
        given = self.inputs.objects.items()
        return hashes | {language: hash_of(embeddings) for language, embeddings in given}

    def read(self, languages: Iterable[str], folder: Path) -> dict[str, Language]:
        """Put some languages on scratch files in a folder; files are hashed after that."""
        languages = list(languages)
        if self._version is None:
            return self._read_one_version(languages, folder)
        embeddings = self._read(languages, folder)
        self._check_version()  # what was planned by the hashes holds for it only
        return embeddings

    def _check_version(self) -> None:
        if self._version is not None and not self._version.is_current():
            raise FileError(
                f"One of {self._names()} was replaced while it was in use. Wait for the run that "
                "writes it, and start this one again."
            )

    def _read_one_version(
        self, languages: Sequence[str], folder: Path | None
    ) -> dict[str, Language]:
        """Read files that nobody replaces meanwhile; then begin to hash them, beside other work."""
        for _ in range(ATTEMPTS):
            files = {language: files_of(path) for language, path in self.inputs.paths.items()}
            version = Version(file for group in files.values() for file in group)
            self.workers.check_files(version.stamps)
            try:
                embeddings = {} if folder is None else self._read(languages, folder)
            except (GeommError, OSError):
                if version.is_current():
                    raise
                continue
            if version.is_current():
                self._version = version
                beside = ThreadPoolExecutor(1)
                self._hashing = beside.submit(self._hash, files)
                beside.shutdown(wait=False)
                return embeddings
        raise replaced_too_often(self._names())

    def _hash(self, files: Mapping[str, Sequence[Path]]) -> dict[str, Any]:
        """Return what tells the content of files: suffixes, and the hash of hashes of ranges."""
        ranges = {file: _ranges(file) for group in files.values() for file in group}
        tasks = (
            Task(f"Hashing {file}", hash_of_range, (file.absolute(), begin, _HASHED_BYTES))
            for file, begins in ranges.items()
            for begin in begins
        )
        hashes = self.workers.in_order(tasks, beside=True)
        of_file = {
            file: hashlib.sha256(b"".join(islice(hashes, len(begins)))).hexdigest()
            for file, begins in ranges.items()
        }
        return {
            language: [["".join(file.suffixes).lower(), of_file[file]] for file in group]
            for language, group in files.items()
        }

    def _read(self, languages: Sequence[str], folder: Path) -> dict[str, Language]:
        stagings = {language: self._staging(language, folder) for language in languages}
        results = self.workers.in_order(_tasks(deque(filter(None, stagings.values()))))
        read = {}
        for language in languages:
            staging = stagings.pop(language)
            try:
                read[language] = staging.collect(results) if staging else self._given(language)
                del staging  # and with it the words that were seen
            except UnknownNameError as error:
                raise UnknownNameError(
                    f"--extra-words of {language}: {error} Words outside the vocabulary get "
                    "vectors from subwords only: give a fastText .bin."
                ) from error
            fitted = read[language].fitted
            if isinstance(fitted, Scratch):
                fitted.look_up(words_in(self.inputs.pairs, language))
        return read

    def _staging(self, language: str, folder: Path) -> _Staging | None:
        """Return how a file gets onto scratch files; None for what is read as a whole."""
        if language in self.inputs.objects:
            return None
        path, max_words = self.inputs.paths[language], self.inputs.max_words
        chosen = find_format(existing(path)).of_language(language)
        if not isinstance(chosen, PartwiseFormat):
            return None
        extra = self.inputs.extra_words.get(language, [])
        if self.workers.client is not None:  # its workers are in other folders
            path = path.absolute()
        wanted = {*words_in(self.inputs.pairs, language), *extra}
        return _Staging(path, chosen, max_words, extra, folder, self.workers, wanted)

    def _given(self, language: str) -> Language:
        """Return words and vectors that were given as such, or are read as a whole."""
        if language in self.inputs.objects:
            given = self.inputs.objects[language]
        else:
            path, max_words = self.inputs.paths[language], self.inputs.max_words
            given = read_embeddings(path, max_words=max_words, language=language)
        return Language(given, given.with_words(self.inputs.extra_words.get(language, [])))

    def _names(self) -> str:
        return ", ".join(map(str, self.inputs.paths.values()))


def _tasks(stagings: deque[_Staging]) -> Iterator[Task[Any]]:
    """Yield the tasks of one file after the other, and forget each file that all are out of."""
    while stagings:
        yield from stagings.popleft().tasks()


def stage_file(
    path: Path, chosen: PartwiseFormat, max_words: int | None, folder: Path, workers: Workers
) -> Embeddings:
    """Put one file on scratch files."""
    staging = _Staging(path, chosen, max_words, [], folder, workers)
    return staging.collect(workers.in_order(staging.tasks())).fitted


class _Staging:
    """One file on its way to scratch files."""

    def __init__(
        self,
        path: Path,
        chosen: PartwiseFormat,
        max_words: int | None,
        extra: list[str],
        folder: Path,
        workers: Workers,
        wanted: Iterable[str] = (),
    ):
        self.path, self.format, self.max_words = path, chosen, max_words
        self.extra, self.folder, self.workers = extra, folder, workers
        self.wanted = wanted  # words that will be looked up
        self._handed_out = 0  # parts

    @cached_property
    def parts(self) -> PartedFile | None:
        """The file in parts; None if it can be read from its beginning only."""
        return self.format.in_parts(existing(self.path), self.max_words)

    @cached_property
    def rows(self) -> FileInTurns | None:
        """Where workers put rows; None if they return them, or write them into own files."""
        are_put = self.workers.elsewhere and self.workers.in_turn
        return rows_in_turns(self.folder) if are_put else None

    @cached_property
    def first_tasks(self) -> list[Task[Any]]:
        """What is to be done for this file, as far as it is known at its beginning."""
        return [self._whole()] if self.parts is None else list(self._part_tasks(self.parts))

    def tasks(self) -> Iterator[Task[Any]]:
        """Yield what is to be done; the results come back by collect()."""
        yield from self.first_tasks

    def collect(self, results: Iterator[Any]) -> Language:
        """Take the results of this file's tasks, in order, and finish its scratch files."""
        if self.parts is None:
            self.first_tasks  # noqa: B018  # the result below is of these
            return self._of_whole(next(results))
        return self._of_parts(self.parts, results)

    def _of_parts(self, file: PartedFile, results: Iterator[Any]) -> Language:
        outstanding = len(self.first_tasks)
        size = self.path.stat().st_size
        try:
            with (
                ScratchWriter(self.folder, self.rows, self.wanted) as writer,
                progress.task(f"Reading {self.path.name}", size, "bytes") as advance,
            ):
                writer.add([], np.empty((0, file.dimension), np.float32))
                while outstanding:
                    outstanding -= 1
                    self._add(writer, file, next(results), advance)
                while file.needs_more():
                    for result in self.workers.in_order(self._part_tasks(file)):
                        self._add(writer, file, result, advance)
                file.finish()
                scratch = writer.close(is_finite=True)
        except IrregularFileError:
            for _ in range(outstanding):
                next(results)
            (whole,) = self.workers.in_order([self._whole()])
            return self._of_whole(whole)
        _check_extra(scratch, self.extra)
        return Language(scratch, scratch)

    def _part_tasks(self, file: PartedFile) -> Iterator[Task[Any]]:
        for call in file.parts():
            place: Place = self.folder if self.workers.elsewhere else None
            if self.rows:
                place = self.rows, self._handed_out
            self._handed_out += 1
            what = f"Reading {self.path}, part {self._handed_out}"
            yield Task(what, read_part, (self.path, call, place))

    def _add(
        self,
        writer: ScratchWriter,
        file: PartedFile,
        result: tuple[Part, Path | None],
        advance: Callable[..., None],
    ) -> None:
        part, aside = result
        kept = file.add(part)
        words = [word for rows in kept for word in part.words[rows]]
        if part.vectors is not None:
            for rows in kept:
                writer.add(part.words[rows], part.vectors[rows])
        elif aside is not None:
            writer.add_part(words, aside, kept, file.dimension)
            disk.remove(aside)
        else:
            writer.add_put(words, kept, len(part.words))
        advance(part.size)

    def _whole(self) -> Task[Any]:
        arguments = (self.path, self.format, self.max_words, self.extra, self.folder)
        return Task(f"Reading {self.path}", stage_whole, arguments)

    def _of_whole(self, result: tuple[Scratch, list[str]]) -> Language:
        scratch, messages = result
        for message in messages:
            warnings.warn(message, stacklevel=2)
        return Language(scratch, scratch)


def read_part(path: Path, call: Callable[[], Part], place: Place) -> tuple[Part, Path | None]:
    """Read a part of a file; its rows go where they are wanted: what is sent back is small."""
    if isinstance(place, tuple):
        rows, number = place
        with rows.turn(number):
            part = _read(path, call)
            rows.put(number, [_content(part)])
        return replace(part, vectors=None), None
    part = _read(path, call)
    if place is None:
        return part, None
    aside = new_path(place, path.name)
    with disk.create(aside) as stream:
        stream.write(_content(part))
    return replace(part, vectors=None), aside


def _read(path: Path, call: Callable[[], Part]) -> Part:
    with _readable(path):
        return call()


def _content(part: Part) -> memoryview:
    """Return the bytes of the rows that were read."""
    assert part.vectors is not None
    return np.ascontiguousarray(part.vectors).reshape(-1).view(np.uint8).data


def stage_whole(
    path: Path, chosen: PartwiseFormat, max_words: int | None, extra: list[str], folder: Path
) -> tuple[Scratch, list[str]]:
    """Read a file from its beginning onto scratch files; return them, and what was warned of."""
    with warnings.catch_warnings(record=True) as warned, ScratchWriter(folder) as writer:
        warnings.simplefilter("always")
        for words, rows in _blocks(path, chosen.stream(existing(path), max_words)):
            writer.add(words, rows)
        scratch = writer.close(is_finite=True)
    scratch.look_up(extra)
    _check_extra(scratch, extra)
    return scratch, [str(warning.message) for warning in warned]


def _check_extra(scratch: Scratch, extra: list[str]) -> None:
    """Refuse extra words that a file without subwords does not hold."""
    for word in extra:
        if word not in scratch:
            raise unknown_word(word, len(scratch))


def _blocks(path: Path, blocks: Iterator[T]) -> Iterator[T]:
    while True:
        with _readable(path):
            block = next(blocks, None)
        if block is None:
            return
        yield block


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Say which file cannot be read."""
    try:
        yield
    except GeommError:
        raise
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error.strerror or error}.") from error


def _ranges(file: Path) -> range:
    """Return where the ranges of a file that are hashed by themselves begin."""
    with _readable(file):
        return range(0, file.stat().st_size, _HASHED_BYTES)


def hash_of(embeddings: Embeddings) -> str:
    """Hash words and vectors that were given as such."""
    digest = hashlib.blake2b(json.dumps(list(embeddings.words)).encode(), digest_size=32)
    for block in embeddings.blocks():
        digest.update(f"{block.dtype.str} {block.shape}".encode())
        digest.update(np.ascontiguousarray(block).tobytes())
    return digest.hexdigest()
