"""The second pass: every language mapped and written, range by range.

    (scratch, rows, map) -> a part of the file    whoever is free
    in order -> the file                          here

Ranges are blocks of 8,192 rows, as one process maps them: the products are the same to the bit.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

from geomm_plugin import progress
from geomm_plugin.alignment.scratch import Scratch, new_path, to_scratch
from geomm_plugin.arrays import BLOCK_ROWS, Matrix, slices
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.factorization import few_threads
from geomm_plugin.file_parts import PartwiseFormat
from geomm_plugin.files import disk
from geomm_plugin.fitting.fit_report import FitReport
from geomm_plugin.formats import Format
from geomm_plugin.mapper import LanguageMap, LinearMapper, Mapper
from geomm_plugin.normalize import unit
from geomm_plugin.shared_space import MappedEmbeddings
from geomm_plugin.work import Task, Workers


@dataclass(frozen=True)
class Aligned:
    """One language as it is written: rows of some embeddings, mapped."""

    raw: Embeddings
    transforms: tuple[Callable[[Matrix], Matrix], ...]  # what is done to its rows, in order
    written: Format
    name: str  # of the file
    folder: Path  # for its parts on the way

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
        return reduce(MappedEmbeddings, self.transforms, self.raw)

    def for_workers(self, workers: Workers) -> Aligned:
        """Return the same, with rows that workers in other processes can read."""
        is_sent = workers.elsewhere and isinstance(self.written, PartwiseFormat)
        if not is_sent or isinstance(self.raw, Scratch):
            return self
        return replace(self, raw=to_scratch(self.raw, self.folder))

    def tasks(self, workers: Workers) -> list[Task[Path]]:
        """Return the parts to be written by others; none where the file is written here."""
        if workers.is_serial:
            return []
        if not isinstance(self.written, PartwiseFormat):
            is_sent = workers.elsewhere and isinstance(self.raw, Scratch)
            return [Task(f"Writing {self.name}", write_whole, (self,))] if is_sent else []
        return [
            Task(f"Writing {self.name}, rows {rows.start} to {rows.stop}", write_part, (self, rows))
            for rows in slices(len(self.raw), BLOCK_ROWS)
        ]

    def write(self, path: Path, parts: Iterator[Path], count: int) -> None:
        """Write the file: from so many parts, or here if there are none."""
        if not count:
            # Mapped blocks are made between the writing; BLAS threads would spin meanwhile.
            with few_threads():
                self.written.write(path, self.embeddings)
        elif isinstance(self.written, PartwiseFormat):
            with progress.task(f"Writing {self.name}", len(self.raw), "words") as advance:
                own = self._own(parts, advance)
                self.written.join_parts(path, self.raw.words, self.embeddings.dimension, own)
        else:
            with progress.task(f"Writing {self.name}"):
                for file in sorted(next(parts).iterdir()):
                    disk.rename(file, path.with_name(file.name))

    def _own(self, parts: Iterator[Path], advance: Callable[..., None]) -> Iterator[Path]:
        for rows in slices(len(self.raw), BLOCK_ROWS):
            yield next(parts)
            advance(rows.stop - rows.start)


def write_part(aligned: Aligned, rows: slice) -> Path:
    """Map some rows and write them into a file of their own."""
    assert isinstance(aligned.written, PartwiseFormat)
    path = new_path(aligned.folder, aligned.name)
    with few_threads():
        block = aligned.embeddings.rows(rows)
        aligned.written.write_part(path, aligned.raw.words[rows], block)
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
