"""[evaluate] The data of the paper's tables: what a cell needs, and a folder of fetched files."""

from __future__ import annotations

import shlex
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from geomm_plugin.datasets.catalog import find_data_set
from geomm_plugin.dictionary import Dictionary, read_dictionary
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FormatError
from geomm_plugin.evaluation.analogy import Questions, read_analogies
from geomm_plugin.evaluation.paper.published import Column
from geomm_plugin.evaluation.similarity import ScoredPairs
from geomm_plugin.files.text_lines import read_lines
from geomm_plugin.formats import read_embeddings

Part = Literal["train", "test"]


class PaperData(ABC):
    """Embeddings, dictionaries and tests of the paper's columns."""

    label: str  # of the data, in the title of a table
    own: bool = False  # whether these are the paper's own data, comparable with what it published

    @abstractmethod
    def missing(self, kind: str, column: Column) -> list[str]:
        """Return what would bring the data of a column that are not there; nothing if all are."""

    @abstractmethod
    def embeddings(self, data: str, language: str, max_words: int | None) -> Embeddings:
        """Return the words of a language."""

    @abstractmethod
    def dictionary(self, data: str, source: str, target: str, part: Part) -> Dictionary:
        """Return the training or the test dictionary of a pair."""

    @abstractmethod
    def similarity(self, source: str, target: str) -> ScoredPairs:
        """Return pairs of words with human scores."""

    @abstractmethod
    def analogies(self) -> Questions:
        """Return the questions in English."""

    def columns(self, kind: str, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """Return the columns of a table; data may add some that the paper does not have."""
        return columns

    def mapper(self, name: str) -> str:
        """Return the mapper of a system; data may ask for other parameters."""
        return name


@dataclass(frozen=True)
class Need:
    """A file, and the data set (and its part) that brings it."""

    path: str
    data_set: str
    part: str = ""


def fetch_lines(needs: Iterable[Need], folder: Path) -> list[str]:
    """Return the `geomm fetch` lines that bring some files."""
    wanted: dict[str, list[str]] = {}
    for need in needs:
        parts = wanted.setdefault(need.data_set, [])
        if need.part and need.part not in parts:
            parts.append(need.part)
    place = shlex.quote(str(folder))
    return [
        f"{find_data_set(name).command(*parts)} --folder {place}" for name, parts in wanted.items()
    ]


class PaperFolder(PaperData):
    """A folder as `geomm fetch` lays it out."""

    own = True

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self.label = str(folder)

    def missing(self, kind: str, column: Column) -> list[str]:
        """Return the `geomm fetch` lines for the files that are not there."""
        needs = self.needs(kind, column)
        absent = [need for need in needs if not (self.folder / need.path).exists()]
        return fetch_lines(absent, self.folder)

    def needs(self, kind: str, column: Column) -> list[Need]:
        """Return the files that a column is made from."""
        languages = column.languages
        needs = [self._vectors(column.data, language) for language in languages]
        for source, target in pairwise(languages):
            needs.append(self._pairs(column.data, source, target, "train"))
        if kind in ("translation", "one_hop"):
            needs.append(self._pairs(column.data, languages[0], languages[-1], "test"))
        elif kind == "similarity":
            name = "-".join(languages)
            needs += [
                Need(f"semeval2017/{name}.test.{end}.txt", "semeval2017")
                for end in ("data", "gold")
            ]
        else:
            needs.append(Need("analogies/questions-words.txt", "analogies"))
        return needs

    def _vectors(self, data: str, language: str) -> Need:
        if data == "vecmap":
            return Need(f"vecmap/{language}.vec.gz", "vecmap")
        return Need(f"wiki/wiki.{language}.vec", "wiki", language)

    def _pairs(self, data: str, source: str, target: str, part: Part) -> Need:
        if data == "vecmap":  # from English only
            pair = "-".join(sorted((source, target), key=lambda language: language != "en"))
            return Need(f"vecmap/{pair}.{part}.txt", "vecmap")
        end = {"train": "0-5000", "test": "5000-6500"}[part]
        return Need(f"muse/{source}-{target}.{end}.txt", "muse", f"{source}-{target}")

    def embeddings(self, data: str, language: str, max_words: int | None) -> Embeddings:
        """Read the most frequent words of a language."""
        path = self.folder / self._vectors(data, language).path
        return read_embeddings(path, max_words=max_words)

    def dictionary(self, data: str, source: str, target: str, part: Part) -> Dictionary:
        """Read a dictionary; VecMap's are read backwards where English is the target."""
        pairs = read_dictionary(self.folder / self._pairs(data, source, target, part).path)
        is_backwards = data == "vecmap" and source != "en"
        return Dictionary((there, here) for here, there in pairs) if is_backwards else pairs

    def similarity(self, source: str, target: str) -> ScoredPairs:
        """Read the words and, line by line, their scores."""
        name = f"semeval2017/{source}-{target}.test"
        words, scores = (
            [line for line in read_lines(self.folder / f"{name}.{end}.txt") if line]
            for end in ("data", "gold")
        )
        try:
            return [
                (here, there, float(score))
                for line, score in zip(words, scores, strict=True)
                for here, there in [line.split("\t")]
            ]
        except ValueError as error:
            raise FormatError(
                f"{self.folder}/semeval2017/{source}-{target}: words and scores do not fit "
                f"together ({error}). Fetch them again."
            ) from None

    def analogies(self) -> Questions:
        """Read Google's questions."""
        return read_analogies(self.folder / "analogies/questions-words.txt")
