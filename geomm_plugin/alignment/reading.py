"""Step 1 of a run: the file of a language onto a scratch file, one job a language.

    text  ->  scratch/LANG.npy, row by row as it is parsed, and the words

The scratch file is mapped into memory while its rows are used, so that hundreds of languages take
no more memory than two, and another process gets its path. Other formats are read as a whole, since
what they hold beside rows (subwords, the numbers of a model) may be written again.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from geomm_plugin.alignment.inputs import Inputs
from geomm_plugin.alignment.record import Stage
from geomm_plugin.arrays import Matrix
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FileError, GeommError, UnknownNameError
from geomm_plugin.files import disk
from geomm_plugin.files.stamps import sha256_of, stamps
from geomm_plugin.files.text_lines import not_utf8, why_not_utf8
from geomm_plugin.formats import Format, existing, files_of, find_format, read_embeddings
from geomm_plugin.rows import Rows
from geomm_plugin.work import Job, Pool


@dataclass(frozen=True)
class Language:
    """The embeddings of a language: those that a mapper learns from, and those that are written.

    They differ by the extra words, which are behind the others.
    """

    fitted: Embeddings
    exported: Embeddings
    is_on_disk: bool  # on a scratch file, whose path another process can be given


class Reading:
    """The content of the files of embeddings and its hashes, of one and the same version.

    Parameters
    ----------
    written
        The format of the aligned files: text needs rows alone, wherever they come from.
    """

    def __init__(self, inputs: Inputs, written: Format, pool: Pool):
        self.inputs, self.written, self.pool = inputs, written, pool
        self.files = {language: files_of(path) for language, path in inputs.paths.items()}
        self._stamps = stamps(file for files in self.files.values() for file in files)
        pool.check_files(self._stamps)
        self._hashes: dict[str, list[list[str]]] = {}

    def hashes(self) -> dict[str, object]:
        """Return what tells the content of each language from any other."""
        jobs = {
            language: Job(f"Hashing {language}", hashes_of, ([f.absolute() for f in files],))
            for language, files in self.files.items()
            if language not in self._hashes
        }
        self._hashes |= zip(jobs, self.pool.in_order(jobs.values()), strict=True)
        self._check_version()
        given = self.inputs.objects.items()
        return self._hashes | {language: hash_of(embeddings) for language, embeddings in given}

    def read(self, languages: Iterable[str], stage: Stage) -> dict[str, Language]:
        """Read some languages, those of text onto scratch files of a stage."""
        languages = list(languages)
        try:
            jobs = {
                name: Job(f"Reading {self.inputs.paths[name]}", read_language, arguments)
                for number, name in enumerate(languages)
                if (arguments := self._arguments(name, stage.scratch(f"{number}.npy"))) is not None
            }
            found: dict[str, Language] = {}
            for name, result in zip(jobs, self.pool.in_order(jobs.values()), strict=True):
                found[name], hashes, messages = result
                self._hashes.setdefault(name, hashes)
                for message in messages:
                    warnings.warn(message, stacklevel=2)
            read = {name: found.get(name) or self._given(name) for name in languages}
        except (GeommError, OSError):
            self._check_version()
            raise
        self._check_version()
        return read

    def _arguments(self, language: str, place: Path) -> tuple[object, ...] | None:
        """Return how a file is read onto a scratch file; None where it is not."""
        if language in self.inputs.objects:
            return None
        path, max_words = self.inputs.paths[language], self.inputs.max_words
        chosen = find_format(existing(path)).of_language(language)
        if not chosen.streams and not (self.pool.elsewhere and self.written.streams):
            return None
        extra = self.inputs.extra_words.get(language, [])
        known = language in self._hashes
        hashed = [] if known else [file.absolute() for file in self.files[language]]
        place_of = path.absolute() if self.pool.client else path  # its workers are elsewhere
        return (language, place_of, chosen, max_words, extra, place, hashed)

    def _given(self, language: str) -> Language:
        """Return words and vectors that were given as such, or are read as a whole."""
        if language in self.inputs.objects:
            given = self.inputs.objects[language]
        else:
            path, max_words = self.inputs.paths[language], self.inputs.max_words
            given = read_embeddings(path, max_words=max_words, language=language)
        extra = self.inputs.extra_words.get(language, [])
        return Language(given, with_words(given, language, extra), False)

    def _check_version(self) -> None:
        if stamps(self._stamps) != self._stamps:
            raise FileError(
                f"One of {', '.join(map(str, self.inputs.paths.values()))} was replaced while it "
                "was in use. Wait for the run that writes it, and start this one again."
            )


def read_language(
    language: str,
    path: Path,
    chosen: Format,
    max_words: int | None,
    extra: list[str],
    place: Path,
    hashed: list[Path],
) -> tuple[Language, list[list[str]], list[str]]:
    """Read a language onto a scratch file; return it, its files' hashes, and what was warned of."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        if chosen.streams:
            fitted = exported = with_words(_parsed(path, chosen, max_words, place), language, extra)
        else:
            given = read_embeddings(path, max_words=max_words, language=language)
            exported = on_disk(with_words(given, language, extra), place)
            fitted = exported.head(len(given))
    read = Language(fitted, exported, True)
    return read, hashes_of(hashed), [str(warning.message) for warning in warned]


def on_disk(embeddings: Embeddings, place: Path) -> Embeddings:
    """Put the rows of embeddings onto a scratch file."""
    write_rows(place, embeddings.blocks())
    return Embeddings(embeddings.words, Rows.of_file(place), embeddings.attributes)


def _parsed(path: Path, chosen: Format, max_words: int | None, place: Path) -> Embeddings:
    words: list[str] = []

    def rows() -> Iterator[Matrix]:
        for some, vectors in chosen.stream(existing(path), max_words):
            words.extend(some)
            yield vectors

    try:
        write_rows(place, rows())
    except OSError as error:
        raise FileError(f"Cannot read {path}: {error.strerror or error}.") from error
    if chosen.in_utf8 and (odd := not_utf8(words)):
        warnings.warn(why_not_utf8(path, words, odd, "words"), stacklevel=2)
    embeddings = Embeddings(words, Rows.of_file(place))
    embeddings.rows.is_finite = True
    return embeddings


def write_rows(path: Path, blocks: Iterable[Matrix]) -> None:
    """Write blocks of rows into one .npy file, without knowing before how many they are."""
    count, dimension, dtype = 0, -1, np.dtype(np.float32)
    with disk.create(path) as stream:
        for block in blocks:
            if dimension < 0:  # the first block, which may be empty
                dimension, dtype = block.shape[1], block.dtype.newbyteorder("=")
                _write_head(stream, (0, dimension), dtype)
            stream.write(np.ascontiguousarray(block, dtype).data)
            count += len(block)
        stream.seek(0)  # numpy leaves room for the number of rows to grow
        _write_head(stream, (count, max(dimension, 0)), dtype)


def _write_head(stream: BinaryIO, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
    head = {"descr": dtype.str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, head)


def with_words(embeddings: Embeddings, language: str, extra: list[str]) -> Embeddings:
    """Add the extra words of a language; one that has no vector is named."""
    try:
        return embeddings.with_words(extra)
    except UnknownNameError as error:
        raise UnknownNameError(
            f"extra_words of {language}: {error} Words outside the vocabulary get vectors from "
            "subwords only: give a fastText .bin."
        ) from error


def hashes_of(files: list[Path]) -> list[list[str]]:
    """Return the suffixes and the hash of each file of a language."""
    return [["".join(file.suffixes).lower(), sha256_of(file)] for file in files]


def hash_of(embeddings: Embeddings) -> str:
    """Hash words and vectors that were given as such."""
    digest = hashlib.sha256(json.dumps(list(embeddings.words)).encode())
    for block in embeddings.blocks():
        digest.update(f"{block.dtype.str} {block.shape}".encode())
        digest.update(np.ascontiguousarray(block).tobytes())
    return digest.hexdigest()
