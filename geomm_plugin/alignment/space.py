"""A whole shared space from one path, and into one: aligned folders, files of several languages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from geomm_plugin.alignment.record import MAPPER, NAME, read_record
from geomm_plugin.errors import LanguagesError, UnknownNameError, did_you_mean
from geomm_plugin.files.publication import published
from geomm_plugin.files.version import ATTEMPTS, replaced_too_often, stamp_of
from geomm_plugin.formats import as_path, existing, find_format, read_languages, written_whole
from geomm_plugin.shared_space import SharedSpace
from geomm_plugin.storage import load_mapper


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
    for _ in range(ATTEMPTS):  # the record is replaced with all files and the mapper
        stamp = stamp_of(published(path / NAME))
        space = _read_space(path, chosen, max_words)
        if stamp_of(published(path / NAME)) == stamp:
            return space
    raise replaced_too_often(path)


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
    has_mapper = (path / NAME).is_file()
    return SharedSpace(read, load_mapper(path / MAPPER).reranking_ if has_mapper else {})


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
        names = [name for name in read_record(path / NAME, path).files if name != MAPPER]
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
