"""A whole shared space from one path, and into one: aligned folders, files of several languages."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path

from geomm_plugin.alignment.record import MAPPER, NAME, read_record
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import (
    FileError,
    GeommError,
    LanguagesError,
    UnknownNameError,
    did_you_mean,
)
from geomm_plugin.files.stamps import read_one_version
from geomm_plugin.files.trust import is_trusted
from geomm_plugin.formats import as_path, existing, find_format, read_languages, written_whole
from geomm_plugin.shared_space import Reranking, SharedSpace
from geomm_plugin.storage import load_reranking


def read_space(
    path: str | Path, languages: Iterable[str] | None = None, *, max_words: int | None = None
) -> SharedSpace:
    """Read the languages of one path into a space, which translates between any two.

    Parameters
    ----------
    path
        A folder that align() wrote, or a file of several languages, such as a .parquet file or
        ConceptNet Numberbatch.
    languages
        Read these only.
    max_words
        Read only the first (most frequent) words of each.
    """
    path = as_path(path)
    chosen = None if languages is None else list(languages)
    # The record is replaced with all files and the mapper, and last.
    return read_one_version(lambda: [path / NAME], lambda: _read_space(path, chosen, max_words))


def _read_space(path: Path, languages: list[str] | None, max_words: int | None) -> SharedSpace:
    there = {} if languages is not None and path.is_file() else space_files(path)
    chosen = list(there) if languages is None else languages
    for language in chosen:
        if there and language not in there:
            raise UnknownNameError(
                f"{path} holds no language {language!r}.{did_you_mean(language, there)} It holds "
                f"{', '.join(there)}."
            )
    read = read_languages({name: there.get(name, path) for name in chosen}, max_words=max_words)
    return aligned_space(read)


def aligned_space(embeddings: Mapping[str, Embeddings]) -> SharedSpace:
    """Return the space of aligned files, with what was learnt for re-ranking with their mapper.

    `align` writes files and mapper into one folder; files from several folders have no weights.
    """
    files = [each.file for each in embeddings.values() if each.file is not None]
    folders = {Path(file.path).resolve().parent for file in files}
    reranking: Reranking = {}
    if len(folders) == 1 and (saved := folders.pop() / MAPPER).is_dir():
        try:
            reranking = load_reranking(saved)
            if not is_trusted(saved, Path(files[0].path)):
                raise FileError(f"{saved} belongs to another user than the files beside it.")
        except GeommError as error:
            reranking = {}
            warnings.warn(f"No learnt weights are used: {error}", stacklevel=2)
        if not all(file.is_current() for file in files):
            raise FileError(
                f"The files beside {saved} were replaced while they were read. Try again."
            )
    return SharedSpace(embeddings, reranking)


def write_space(space: Mapping[str, object], path: str | Path) -> None:
    """Write all languages of a space into one file, such as `space.parquet`.

    The file appears whole or not at all, and an old file of that name stays until then.
    """
    path = as_path(path)
    chosen = find_format(path, to_write=True)
    languages = SharedSpace(space)  # of one dimension
    with written_whole(path, chosen) as part:
        chosen.write_languages(part, languages)


def space_files(path: Path) -> dict[str, Path]:
    """Return where each language of an aligned folder, or of a file of several, is read."""
    if (path / NAME).is_file():
        names = [name for name in read_record(path / NAME)["files"] if name != MAPPER]
        files = {_language(path / name): path / name for name in names}
    else:
        place = existing(path)
        files = {language: path for language in find_format(place).languages(place)}
    if not files:
        raise LanguagesError(
            f"{path} does not name the languages that it holds. Give each as LANG=FILE, or a "
            "folder that `geomm align` wrote, or a file of several languages."
        )
    return files


def _language(path: Path) -> str:
    """Return what stands before the suffix of the aligned file of a language."""
    suffixes = [s for s in find_format(path).suffixes if path.name.lower().endswith(s)]
    return path.name[: len(path.name) - max(map(len, suffixes), default=0)]
