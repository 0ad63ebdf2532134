"""Step 1 of a run: a language onto a scratch file, row by row as text is parsed; and its hash.

The scratch file is mapped into memory while its rows are used, so that hundreds of languages take
no more memory than two, and another process gets its path. Other formats are read as a whole, since
what they hold beside rows (subwords, the numbers of a model) may be written again.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FileError, UnknownNameError
from geomm_plugin.files import disk
from geomm_plugin.files.stamps import sha256_of
from geomm_plugin.files.text_lines import not_utf8, why_not_utf8
from geomm_plugin.formats import Format, existing, find_format, read_embeddings
from geomm_plugin.rows import Rows


class Language(NamedTuple):
    """The embeddings of a language: those that a mapper learns from, and those that are written.

    They differ by the extra words, which are behind the others.
    """

    fitted: Embeddings
    exported: Embeddings
    is_on_disk: bool  # on a scratch file, whose path another process can be given


def read_language(
    name: str,
    given: Path | Embeddings,
    max_words: int | None,
    extra_words: list[str],
    place: Path | None,
) -> tuple[Language, list[str]]:
    """Read a language, onto a scratch file if there is a place; return what was warned of, too."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        if isinstance(given, Path) and place is not None and format_of(given, name).streams:
            fitted = _parsed(given, format_of(given, name), max_words, place)
            exported = _with_words(fitted, name, extra_words)
        else:
            if isinstance(given, Path):
                given = read_embeddings(given, max_words=max_words, language=name)
            fitted, exported = given, _with_words(given, name, extra_words)
            if place is not None:
                write_rows(place, exported.blocks())
                rows = Rows.of_file(place)
                exported = Embeddings(exported.words, rows, exported.attributes)
                fitted = exported.head(len(fitted))
    read = Language(fitted, exported, place is not None)
    return read, [str(warning.message) for warning in warned]


def format_of(path: Path, language: str) -> Format:
    """Return the format that reads the part of a language of a file that is there."""
    return find_format(existing(path)).of_language(language)


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


def _with_words(embeddings: Embeddings, language: str, extra: list[str]) -> Embeddings:
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
