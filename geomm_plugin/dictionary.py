"""[pair up] Dictionaries are pairs of translations; a fit uses those in both vocabularies."""

from __future__ import annotations

import csv
import hashlib
import os
import warnings
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from geomm_plugin.arrays import Mask, RowIndices, Vector
from geomm_plugin.embeddings import Embeddings, as_embeddings
from geomm_plugin.errors import DictionaryError, LanguagesError
from geomm_plugin.files import disk
from geomm_plugin.files.atomic import atomic_file
from geomm_plugin.files.text_lines import (
    decoded,
    not_utf8,
    read_lines,
    split_columns,
    why_not_utf8,
)
from geomm_plugin.registry.parameters import plain_number
from geomm_plugin.source_file import SourceFile

MAX_NOT_UTF8 = 0.03  # share of a dictionary's lines; above, the file is in another encoding
HEADER_NAMES = frozenset(
    ("source", "target", "src", "tgt", "trg", "word", "translation", "word1", "word2")
)


Word = TypeVar("Word", str, int)  # or the row of a word


class Dictionary(list[tuple[str, str]]):
    """Pairs (word, translation) that were checked: a list that knows the files it was read from."""

    def __init__(
        self, pairs: Iterable[tuple[str, str]] = (), files: Iterable[SourceFile] = ()
    ) -> None:
        super().__init__(pairs)
        self.files = tuple(files)

    def with_pairs(self, other: Dictionary) -> Dictionary:
        """Return these pairs and those of another dictionary."""
        return Dictionary([*self, *other], (*self.files, *other.files))

    def reverse_pairs(self) -> Dictionary:
        """Return the same pairs read from the other language."""
        return Dictionary([(word, other) for other, word in self], self.files)

    def sha256(self) -> str:
        """Return the hash of its different pairs, sorted, one a line with a tab between the words.

        `LC_ALL=C sort -u FILE | sha256sum` prints it for a file of just that form.
        """
        lines = {f"{a}\t{b}\n".encode("utf-8", "surrogatepass") for a, b in self}
        return hashlib.sha256(b"".join(sorted(lines))).hexdigest()


# What as_dictionary() understands, and the same by pair of languages.
DictionaryLike: TypeAlias = (
    "str | os.PathLike[str] | Mapping[str, str | Iterable[str]] | Iterable[tuple[str, str]]"
)
Dictionaries: TypeAlias = Mapping[tuple[str, str], DictionaryLike]
CheckedDictionaries: TypeAlias = Mapping[tuple[str, str], Dictionary]


@dataclass(frozen=True)
class RowPairs:
    """The pairs of a dictionary as rows of two vocabularies, and what was missing on each side."""

    source: RowIndices
    target: RowIndices
    missing_source: tuple[str, ...] = field(default=())
    missing_target: tuple[str, ...] = field(default=())
    labels: Vector | None = None  # weight of each pair, 1 on average; None means all 1
    induced: Mask | None = None  # which pairs a map suggested, not the dictionary; None: none did
    sha256: str | None = None  # of the dictionary, where these are all its pairs

    def __len__(self) -> int:
        return len(self.source)

    def label(self) -> Vector:
        """Return the label of every pair."""
        return np.ones(len(self)) if self.labels is None else self.labels

    def given(self) -> RowPairs:
        """Return the pairs of the dictionary itself."""
        return self if self.induced is None else self.take(np.flatnonzero(~self.induced))

    def reverse(self) -> RowPairs:
        """Return the same pairs seen from the other language."""
        order = np.lexsort((self.source, self.target))
        return RowPairs(
            self.target[order],
            self.source[order],
            self.missing_target,
            self.missing_source,
            _taken(self.labels, order),
            _taken(self.induced, order),
        )

    def take(self, chosen: RowIndices) -> RowPairs:
        """Return some of the pairs."""
        return RowPairs(
            self.source[chosen],
            self.target[chosen],
            labels=_taken(self.labels, chosen),
            induced=_taken(self.induced, chosen),
        )


def _taken(array: npt.NDArray[Any] | None, chosen: RowIndices) -> npt.NDArray[Any] | None:
    return None if array is None else array[chosen]


def as_dictionary(source: DictionaryLike) -> Dictionary:
    """Turn anything that holds pairs of translations into a Dictionary.

    A Dictionary stays as it is; a path is read; of a mapping, each word goes with its translation,
    or with each of several; anything else must give pairs of words: tuples, lists, rows of an
    array.
    """
    if isinstance(source, Dictionary):
        return source
    if isinstance(source, (str, os.PathLike)):
        return read_dictionary(source)
    if isinstance(source, Mapping):
        return Dictionary(map(check_pair, _items(source)))
    if not isinstance(source, Iterable):
        raise DictionaryError(
            f"A dictionary holds pairs (word, translation); this is {source!r}. Give a list of "
            "pairs, a mapping, or the path of a file."
        )
    return Dictionary(map(check_pair, source))


def _items(source: Mapping[str, str | Iterable[str]]) -> Iterator[tuple[object, object]]:
    for word, translations in source.items():
        several = isinstance(translations, Iterable) and not isinstance(translations, str | bytes)
        for translation in translations if several else [translations]:
            yield word, translation


def as_dictionaries(dictionaries: Dictionaries) -> dict[tuple[str, str], Dictionary]:
    """Turn the dictionaries of several pairs of languages into Dictionary objects."""
    if not isinstance(dictionaries, Mapping):
        raise DictionaryError(
            "Dictionaries are given by pair of languages, e.g. {('en', 'es'): pairs}; this is a "
            f"{type(dictionaries).__name__}."
        )
    return {pair: as_dictionary(dictionary) for pair, dictionary in dictionaries.items()}


def read_dictionary(path: str | os.PathLike[str], *, encoding: str | None = None) -> Dictionary:
    r"""Read pairs, one a line: two columns separated by a tab or by spaces.

    Where a line holds a tab, only tabs separate (words may then hold spaces), and a third column
    may hold a score, a finite number, which is skipped. Empty lines are skipped; every other line
    must have two columns, and `#` is a word like any other. A file whose name ends in .gz is
    decompressed. In a .csv file commas, semicolons or tabs separate, quotes may hold words, and a
    first line that names the columns is skipped.

    Parameters
    ----------
    encoding
        The encoding of the file, e.g. "latin-1"; by default UTF-8.
    """
    path = Path(path)
    lines = list(read_lines(path))
    if encoding is not None:
        lines = decoded(path, lines, encoding)
    elif odd := not_utf8(lines):
        problem = why_not_utf8(path, lines, odd, "lines")
        if len(odd) > MAX_NOT_UTF8 * len(lines):
            raise DictionaryError(problem)
        warnings.warn(problem, stacklevel=2)
    is_csv = path.name.lower().removesuffix(".gz").endswith(".csv")
    pairs: list[tuple[str, str]] = []
    for number, columns in _csv_rows(path, lines) if is_csv else _rows(lines):
        if not columns:
            continue
        if len(columns) != 2 or "" in columns:
            empty = ", one of them empty" if "" in columns else ""
            is_listed = not is_csv and any(mark in "".join(columns) for mark in ",;")
            way_out = " Name the file .csv if commas or semicolons separate." if is_listed else ""
            raise DictionaryError(
                f"{path}, line {number}: expected two columns (a word and its translation), found "
                f"{len(columns)}{empty}.{way_out} Separate them by a tab where words hold spaces, "
                "and cut further columns off; only a score may follow, a finite number after a tab."
            )
        pairs.append((columns[0], columns[1]))
    if not pairs:
        raise DictionaryError(f"{path}: the dictionary is empty; it needs a pair of words a line.")
    file = SourceFile.read_from(path, f"{len(pairs):,} pairs", encoding=encoding)
    return Dictionary(pairs, [file])


def _rows(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the columns of each line."""
    for number, line in enumerate(lines, start=1):
        yield number, columns_of(line)


def _csv_rows(path: Path, lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the columns of each line of a .csv file, but for its header."""
    first = next((line for line in lines if line.strip()), "")
    separator = max(",;\t", key=first.count)
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
    is_first = True
    try:
        for row in reader:
            columns = [column.strip() for column in row]
            if not any(columns):
                continue
            if not (is_first and _is_header(path, columns)):
                yield reader.line_num, _without_score(columns)
            is_first = False
    except csv.Error as error:
        raise DictionaryError(
            f"{path}, line {reader.line_num}: {error}. Fix its quotes, or write the pairs with "
            "tabs into a .tsv file."
        ) from error


def _is_header(path: Path, columns: Sequence[str]) -> bool:
    """True if columns name what is below: source,target, or en,es in a file en-es.csv."""
    names = [column.lower() for column in columns]
    return HEADER_NAMES.issuperset(names[:2]) or path.name.lower().startswith("-".join(names[:2]))


def write_dictionary(
    pairs: Iterable[tuple[str, str] | tuple[str, str, float]], path: str | os.PathLike[str]
) -> int:
    """Write pairs, one a line: word, translation and, where there is one, the score, with tabs.

    What a line cannot give back (words with tabs, line breaks and the like) is left out, with a
    warning. The file appears whole or not at all. Returns how many pairs were written.
    """
    path = Path(path)
    items = list(pairs)
    lines = [_line(*item) for item in items]
    written = [line for line in lines if line is not None]
    if len(written) < len(items):
        example = next(item for item, line in zip(items, lines, strict=True) if line is None)
        warnings.warn(
            f"{len(items) - len(written)} pairs are left out of {path}, since a line of text would "
            f"not give them back: words with tabs, line breaks and the like, e.g. "
            f"{' - '.join(map(repr, example[:2]))}.",
            stacklevel=2,
        )
    if not written:
        raise DictionaryError("No pair is left to write. Rename the words, or read more of them.")
    with atomic_file(path) as part:
        disk.write_file(part, b"".join(written))
    return len(written)


def _line(word: str, translation: str, score: float | None = None) -> bytes | None:
    """Return a line that is read as just this pair, or None if there is none."""
    if not (word and translation):
        return None
    text = f"{word}\t{translation}" + ("" if score is None else f"\t{score:.4f}")
    try:
        line = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half of a surrogate pair
        return None
    if any(odd in line for odd in (b"\n", b"\0")) or line.startswith(BOM_UTF8):
        return None
    again = line.rstrip(b"\r").decode("utf-8", "surrogateescape")
    return line + b"\n" if columns_of(again) == [word, translation] else None


def columns_of(line: str) -> list[str]:
    """Return the columns of a dictionary's line without a score; none if there is nothing on it."""
    if not line.strip():
        return []
    columns = split_columns(line)
    return _without_score(columns) if "\t" in line else columns


def _without_score(columns: list[str]) -> list[str]:
    has_score = len(columns) == 3 and plain_number(columns[2]) is not None
    return columns[:2] if has_score and all(columns) else columns


def identical_words(source: object, target: object) -> Dictionary:
    """Return the words that both vocabularies hold, each paired with itself: a free dictionary."""
    known = as_embeddings(target).row_of
    return Dictionary((word, word) for word in as_embeddings(source).row_of if word in known)


def shuffled(words: Iterable[Word], seed: int = 0) -> list[Word]:
    """Return the different words in an order drawn by chance, whatever the order they come in."""
    known = sorted(set(words))
    return [known[place] for place in np.random.default_rng(seed).permutation(len(known))]


def folds(words: Iterable[Word], count: int, seed: int = 0) -> list[list[Word]]:
    """Divide the different words into so many parts, as equal as can be."""
    order = shuffled(words, seed)
    return [order[number::count] for number in range(count)]


def split(
    dictionary: DictionaryLike, held_out: float = 0.2, seed: int = 0
) -> tuple[Dictionary, Dictionary]:
    """Divide a dictionary by source word: all translations of a word fall on one side.

    Returns the larger part and the held-out part; the order of the lines does not matter to which
    word falls where.
    """
    if not 0 < held_out < 1:
        raise DictionaryError(f"held_out must lie between 0 and 1; it is {held_out}.")
    pairs = as_dictionary(dictionary)
    words = shuffled((source for source, _ in pairs), seed)
    aside = set(words[: round(held_out * len(words))])
    return (
        Dictionary((p for p in pairs if p[0] not in aside), pairs.files),
        Dictionary((p for p in pairs if p[0] in aside), pairs.files),
    )


def pair_up(dictionary: DictionaryLike, source: object, target: object) -> RowPairs:
    """Find the rows of each pair; pairs that repeat count once, in the order of the rows."""
    return row_pairs(as_dictionary(dictionary), as_embeddings(source), as_embeddings(target))


def row_pairs(dictionary: Dictionary, source: Embeddings, target: Embeddings) -> RowPairs:
    """Find the rows of each pair of a dictionary that was checked; see pair_up()."""
    source_rows, target_rows = source.row_of, target.row_of
    rows: set[tuple[int, int]] = set()
    missing_source: dict[str, None] = {}
    missing_target: dict[str, None] = {}
    for source_word, target_word in dictionary:
        source_row, target_row = source_rows.get(source_word), target_rows.get(target_word)
        if source_row is None:
            missing_source[source_word] = None
        if target_row is None:
            missing_target[target_word] = None
        if source_row is not None and target_row is not None:
            rows.add((source_row, target_row))
    table = np.array(sorted(rows), dtype=np.intp).reshape(-1, 2)
    return RowPairs(
        np.ascontiguousarray(table[:, 0]),
        np.ascontiguousarray(table[:, 1]),
        tuple(missing_source),
        tuple(missing_target),
        sha256=dictionary.sha256(),
    )


def pair_languages(
    embeddings: Mapping[str, Embeddings], dictionaries: Dictionaries
) -> dict[tuple[str, str], RowPairs]:
    """Pair up every dictionary of a fit.

    Dictionaries of both directions of a language pair are joined into one, under the direction that
    comes first in the alphabet; one dictionary alone keeps its direction.
    """
    checked = as_dictionaries(dictionaries)
    joined: dict[tuple[str, str], Dictionary] = {}
    for source, target in sorted(check_key(key, embeddings) for key in checked):
        dictionary = checked[source, target]
        if (target, source) in joined:
            back = dictionary.reverse_pairs()
            joined[target, source] = joined[target, source].with_pairs(back)
        else:
            joined[source, target] = dictionary
    pairs = {}
    for (source, target), dictionary in joined.items():
        rows = row_pairs(dictionary, embeddings[source], embeddings[target])
        if not dictionary:
            raise DictionaryError(f"The dictionary {source}-{target} is empty. Give it pairs.")
        refuse_swapped(dictionary, source, target, embeddings)
        if not len(rows):
            raise DictionaryError(
                f"None of the {len(dictionary)} pairs is in both vocabularies, e.g. "
                f"{' - '.join(map(repr, dictionary[0]))}. Check the language order and the letter "
                f"case of the dictionary {source}-{target}."
            )
        pairs[source, target] = rows
    return pairs


def refuse_swapped(
    dictionary: Dictionary, source: str, target: str, embeddings: Mapping[str, Embeddings]
) -> None:
    """Refuse a dictionary of which most pairs are missing, and twice as many there if turned round.

    Where it is less than twice as many, that is a warning.
    """
    here, there = embeddings[source].row_of, embeddings[target].row_of
    known = sum(one in here and other in there for one, other in dictionary)
    swapped = sum(one in there and other in here for one, other in dictionary)
    if known >= len(dictionary) / 2 or known >= swapped:
        return
    problem = (
        f"Of the {len(dictionary)} pairs of the dictionary {source}-{target}, {known} are in both "
        f"vocabularies; read the other way round, {swapped} are. Its columns seem to be swapped: "
        f"give it as the dictionary {target}-{source}."
    )
    if 2 * known < swapped:
        raise DictionaryError(problem)
    warnings.warn(problem, stacklevel=2)


def oriented(dictionaries: CheckedDictionaries, source: str, target: str) -> Dictionary:
    """Return the pairs of two languages, of both directions, read from the source."""
    there = dictionaries.get((source, target), Dictionary())
    back = dictionaries.get((target, source), Dictionary())
    return there.with_pairs(back.reverse_pairs())


def check_key(key: object, embeddings: Mapping[str, object]) -> tuple[str, str]:
    """Return the key of a dictionary, if it is a pair of different languages with embeddings."""
    if not (isinstance(key, tuple) and len(key) == 2):
        raise LanguagesError(
            f"A dictionary belongs to a pair of languages, e.g. ('en', 'es'); this key is {key!r}."
        )
    name = "-".join(map(str, key))
    for language in key:
        if language not in embeddings:
            raise LanguagesError(
                f"The dictionary {name} names the language {language!r}, which has no embeddings; "
                f"there are {', '.join(embeddings)}."
            )
    if key[0] == key[1]:
        raise LanguagesError(
            f"The dictionary {name} must link two different languages. Name each side's own."
        )
    return key


def check_pair(pair: object) -> tuple[str, str]:
    """Return an item of a dictionary as two words: of a tuple, a list, or a row of an array."""
    words = tuple(pair) if isinstance(pair, (tuple, list, np.ndarray)) and len(pair) == 2 else ()
    if not words or not all(isinstance(word, str) for word in words):
        raise DictionaryError(
            f"A dictionary holds pairs (word, translation); one of its items is {pair!r}."
        )
    return (str(words[0]), str(words[1]))
