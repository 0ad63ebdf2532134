"""What an alignment is made from: embeddings, dictionaries and lists of words, each read once.

A file of embeddings is known by the hash of its content, so that a run knows whether it changed
without reading it; a dictionary, which may be a pipe, is known by its pairs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from geomm_plugin import registry
from geomm_plugin.dictionary import (
    Dictionaries,
    Dictionary,
    as_dictionary,
    check_key,
    identical_words,
)
from geomm_plugin.embeddings import Embeddings, as_embeddings
from geomm_plugin.errors import FileError, LanguagesError
from geomm_plugin.formats import as_path, check_exists, files_of, find_format, read_embeddings
from geomm_plugin.mapper import Mapper
from geomm_plugin.registry.parameters import choice_text

Words: TypeAlias = "str | Path | Iterable[str]"


@dataclass(frozen=True)
class Inputs:
    """All that decides what an alignment holds, but for the mapper and the form of the files."""

    paths: dict[str, Path]  # by language
    objects: dict[str, Embeddings]  # languages that were given as words and vectors
    pairs: dict[tuple[str, str], Dictionary]
    identical: tuple[tuple[str, str], ...]
    cognates: tuple[tuple[str, str], ...]
    extra_words: dict[str, list[str]]
    max_words: int | None
    files: tuple[Path, ...]  # everything that is read


def with_alike_words(
    pairs: Mapping[tuple[str, str], Dictionary],
    embeddings: Mapping[str, Embeddings],
    identical: Iterable[tuple[str, str]],
    nearly: Iterable[tuple[str, str]],
) -> dict[tuple[str, str], Dictionary]:
    """Add words that are spelt alike, or nearly alike, to the dictionaries of some languages."""
    dictionaries = dict(pairs)
    for source, target in identical:
        words = identical_words(embeddings[source], embeddings[target])
        given = dictionaries.get((source, target), Dictionary())
        dictionaries[source, target] = given.with_pairs(words)
    for source, target in nearly:
        from geomm_plugin.fitting.seeds.spelling import cognates  # heavy, and rarely asked for

        words = cognates(embeddings[source], embeddings[target])
        given = dictionaries.get((source, target), Dictionary())
        dictionaries[source, target] = given.with_pairs(words)
    return dictionaries


def collect_inputs(
    files: Mapping[str, object],
    dictionaries: Dictionaries,
    identical: Iterable[tuple[str, str]],
    alike: Iterable[tuple[str, str]],
    extra_words: Mapping[str, Words],
    max_words: int | None,
) -> Inputs:
    """Look at everything that is given, and read what is small, or can be read but once."""
    paths: dict[str, Path] = {}
    objects: dict[str, Embeddings] = {}
    for language, given in files.items():
        if isinstance(given, (str, Path)):
            path = as_path(given)
            check_exists(path)
            find_format(path)
            paths[language] = path
        else:
            embeddings = as_embeddings(given)
            objects[language] = embeddings if max_words is None else embeddings.head(max_words)
    pairs = {check_key(key, files): as_dictionary(given) for key, given in dictionaries.items()}
    listed = [Path(file.path) for given in pairs.values() for file in given.files]
    listed += [Path(given) for given in extra_words.values() if isinstance(given, (str, Path))]
    read = [file for path in paths.values() for file in files_of(path)]
    same, nearly = (
        tuple(sorted(check_key(key, files) for key in keys)) for keys in (identical, alike)
    )
    words = {lang: _words(given, lang, files) for lang, given in extra_words.items()}
    for language, path in list(paths.items()):
        if not (path.is_file() or path.is_dir()):  # a pipe
            objects[language] = read_embeddings(paths.pop(language), max_words=max_words)
    return Inputs(paths, objects, pairs, same, nearly, words, max_words, (*read, *listed))


def _words(given: Words, language: str, languages: Mapping[str, object]) -> list[str]:
    """Return the words of a language that has embeddings."""
    if language not in languages:
        raise LanguagesError(
            f"The extra words of {language!r} belong to no embeddings; there are "
            f"{', '.join(languages)}."
        )
    return read_words(given) if isinstance(given, (str, Path)) else list(given)


def read_words(path: str | Path) -> list[str]:
    """Read a list of words, one a line."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig", errors="surrogateescape")
    except OSError as error:
        raise FileError(f"Cannot read the words {path}: {error.strerror}.") from error
    return [word for word in map(str.strip, text.split("\n")) if word]


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
    encodings = {file.encoding for given in inputs.pairs.values() for file in given.files}
    from_memory = inputs.objects or lists or not all(d.files for d in inputs.pairs.values())
    from_memory = from_memory or len(encodings) > 1
    from_memory = from_memory or others.get("format") is not None  # the suffix does not say it
    if from_memory or registry.mappers.get(mapper.name) is not type(mapper):
        return None
    folder = os.path.realpath(output)

    def relative(path: str | Path) -> str:
        place = Path(path)  # a link to a file keeps its own name, which says the format
        return os.path.relpath(Path(os.path.realpath(place.parent), place.name), folder)

    options = {
        "output": ".",
        "mapper": choice_text(mapper),
        "vectors": {language: relative(path) for language, path in inputs.paths.items()},
        "dictionary": {
            "-".join(pair): [relative(file.path) for file in dictionary.files]
            for pair, dictionary in inputs.pairs.items()
        },
        "encoding": next(iter(encodings), None),
        "identical": ["-".join(pair) for pair in inputs.identical],
        "cognates": ["-".join(pair) for pair in inputs.cognates],
        "extra-words": {language: relative(str(path)) for language, path in extra_words.items()},
        "max-words": inputs.max_words,
        **others,
    }
    return {name: value for name, value in options.items() if value not in (None, False, {}, [])}
