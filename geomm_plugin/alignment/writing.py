"""The second pass: every language mapped and written, range by range.

    (scratch, rows, map) -> a part, at its place in the file    whoever is free
    in order: the hash of what is there                         here

Ranges are blocks of 8,192 rows, as one process maps them: the products are the same to the bit.
Where a file is compressed, or its parts are made on other machines, each part is a file of its own,
and they are joined here.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

from geomm_plugin import progress
from geomm_plugin.alignment.scratch import Scratch, new_path, to_scratch
from geomm_plugin.alignment.workers import Task, Workers
from geomm_plugin.arrays import BLOCK_ROWS, Matrix, slices
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.factorization import few_threads
from geomm_plugin.file_parts import PartwiseFormat
from geomm_plugin.files import disk
from geomm_plugin.files.turns import FileInTurns
from geomm_plugin.files.version import hash_of_growing
from geomm_plugin.fit_report import FitReport
from geomm_plugin.formats import Format
from geomm_plugin.mapper import LanguageMap, LinearMapper, Mapper
from geomm_plugin.normalize import unit

T = TypeVar("T")

_SECURED_PARTS = 12  # are brought to the disk at once


@dataclass(frozen=True)
class Aligned:
    """One language as it is written: rows of some embeddings, mapped."""

    raw: Embeddings
    transforms: tuple[Callable[[Matrix], Matrix], ...]  # what is done to its rows, in order
    written: Format
    name: str  # of the file
    folder: Path  # for what is on the way
    in_turns: FileInTurns | None = None  # where workers put their parts, if not into own files

    @classmethod
    def of(
        cls,
        raw: Embeddings,
        mapper: Mapper,
        language: str,
        keep_length: bool,
        written: Format,
        name: str,
        folder: Path,
    ) -> Aligned:
        """Map the embeddings of a language, to unit length or not."""
        transforms = (LanguageMap(_of_language(mapper, language), language), unit)
        return cls(raw, transforms[:1] if keep_length else transforms, written, name, folder)

    @property
    def embeddings(self) -> Embeddings:
        """The mapped embeddings; rows are mapped when they are asked for."""
        return reduce(Embeddings.map, self.transforms, self.raw)

    def for_workers(self, workers: Workers) -> Aligned:
        """Return the same, with rows that workers can read and a place for what they write."""
        if workers.is_serial or not isinstance(self.written, PartwiseFormat):
            return self
        aligned = self
        if workers.elsewhere and not isinstance(self.raw, Scratch):
            aligned = replace(aligned, raw=to_scratch(self.raw, self.folder))
        if workers.in_turn and self.written.is_sum_of_parts(Path(self.name)):
            file = FileInTurns.create(new_path(self.folder, self.name), self._head())
            aligned = replace(aligned, in_turns=file)
        return aligned

    def tasks(self, workers: Workers) -> list[Task[Path | int]]:
        """Return the parts to be written by others; none where the file is written here."""
        if workers.is_serial:
            return []
        if not isinstance(self.written, PartwiseFormat):
            is_sent = workers.elsewhere and isinstance(self.raw, Scratch)
            return [Task(f"Writing {self.name}", write_whole, (self,))] if is_sent else []
        return [self._task(*each) for each in enumerate(slices(len(self.raw), BLOCK_ROWS))]

    def _task(self, number: int, rows: slice) -> Task[Path | int]:
        what = f"Writing {self.name}, rows {rows.start} to {rows.stop}"
        if self.in_turns:
            return Task(what, put_part, (self, rows, number))
        return Task(what, write_part, (self, rows))

    def write(self, path: Path, parts: Iterator[Any], count: int) -> dict[str, str]:
        """Write the file, from so many parts, or here if there are none; return hashes, if known.

        Parameters
        ----------
        parts
            What the tasks return, in their order.
        """
        if not count:
            self.written.write(path, self.embeddings)
        elif isinstance(self.written, PartwiseFormat):
            with progress.task(f"Writing {self.name}", len(self.raw), "words") as advance:
                own = self._own(parts, advance)
                if self.in_turns:
                    digest = hash_of_growing(self.in_turns.path, self._secured(own))
                    disk.rename(self.in_turns.path, path)
                    return {path.name: digest}
                self.written.join_parts(path, self._head(), own)
        else:
            with progress.task(f"Writing {self.name}"):
                for file in sorted(next(parts).iterdir()):
                    disk.rename(file, path.with_name(file.name))
        return {}

    def _head(self) -> bytes:
        assert isinstance(self.written, PartwiseFormat)
        return self.written.head(self.raw.words, self.embeddings.dimension)

    def _own(self, parts: Iterator[T], advance: Callable[..., None]) -> Iterator[T]:
        for rows in slices(len(self.raw), BLOCK_ROWS):
            yield next(parts)
            advance(rows.stop - rows.start)

    def _secured(self, ends: Iterator[int]) -> Iterator[int]:
        """Bring the file to the disk meanwhile, so that nobody waits for all of it at the end."""
        assert self.in_turns is not None
        for number, end in enumerate(ends, start=1):
            yield end
            if not number % _SECURED_PARTS:
                disk.fsync(self.in_turns.path)

    def pieces(self, rows: slice) -> Iterator[bytes]:
        """Map some rows, and yield what they become in the file."""
        assert isinstance(self.written, PartwiseFormat)
        with few_threads():
            yield from self.written.part(self.raw.words[rows], self.embeddings.rows.take(rows))


def put_part(aligned: Aligned, rows: slice, number: int) -> int:
    """Map some rows and write them at their place in the file; return where they end."""
    assert aligned.in_turns is not None
    with aligned.in_turns.turn(number):
        return aligned.in_turns.put(number, list(aligned.pieces(rows)))


def write_part(aligned: Aligned, rows: slice) -> Path:
    """Map some rows and write them into a file of their own."""
    path = new_path(aligned.folder, aligned.name)
    with disk.create(path) as stream:
        stream.writelines(aligned.pieces(rows))
    return path


def write_whole(aligned: Aligned) -> Path:
    """Map all rows and write the file, or several that belong together, into a folder."""
    folder = new_path(aligned.folder, aligned.name)
    disk.make_folder(folder)
    with few_threads():
        aligned.written.write(folder / aligned.name, aligned.embeddings)
    return folder


def _of_language(mapper: Mapper, language: str) -> Mapper:
    """Return a mapper with what it learnt of one language only, where it is known what that is.

    It is sent along with every part, and there may be hundreds of languages.
    """
    if not isinstance(mapper, LinearMapper) or type(mapper).transform is not LinearMapper.transform:
        return mapper
    one = copy.copy(mapper)
    one.matrices_ = {language: mapper.matrices_[language]}
    one.normalizer_ = copy.copy(mapper.normalizer_)
    one.normalizer_.learnt = {language: mapper.normalizer_.learnt[language]}
    one.report_, one.reranking_ = FitReport(), {}
    return one
