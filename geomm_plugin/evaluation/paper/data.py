"""[evaluate] The data of the paper's tables: a folder of fetched files, and what a cell needs."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from geomm_plugin.datasets.catalog import find_data_set
from geomm_plugin.dictionary import Dictionary, read_dictionary
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FormatError
from geomm_plugin.evaluation.analogy import Analogy, Questions, read_analogies
from geomm_plugin.evaluation.metrics import P_AT_1
from geomm_plugin.evaluation.paper.published import Column
from geomm_plugin.evaluation.similarity import ScoredPairs, Similarity
from geomm_plugin.evaluation.task import Task
from geomm_plugin.evaluation.translation import Translation
from geomm_plugin.files.text_lines import read_lines
from geomm_plugin.formats import read_embeddings

Part = Literal["train", "test"]


@dataclass(frozen=True)
class Need:
    """A file, and the data set (and its part) that brings it."""

    path: str
    data_set: str
    part: str = ""


class PaperFolder:
    """A folder as `geomm fetch` lays it out: embeddings, dictionaries and tests of all columns."""

    own = True  # whether these are the paper's own data, comparable with what it published

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self.label = str(folder)  # in the title of a table

    def columns(self, kind: str, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """Return the columns of a table; other data may add some that the paper does not have."""
        return columns

    def mapper(self, name: str) -> str:
        """Return the mapper of a system; other data may ask for other parameters."""
        return name

    def missing(self, kind: str, column: Column) -> list[Need]:
        """Return the files of a column that are not there."""
        return [n for n in self.needs(kind, column) if not (self.folder / n.path).exists()]

    def fetch_lines(self, needs: Iterable[Need]) -> list[str]:
        """Return the `geomm fetch` lines that bring some files, one for each data set."""
        wanted: dict[str, dict[str, None]] = {}
        for need in needs:
            parts = wanted.setdefault(need.data_set, {})
            parts |= {need.part: None} if need.part else {}
        place = shlex.quote(str(self.folder))
        return [
            f"{find_data_set(name).command(*parts)} --folder {place}"
            for name, parts in wanted.items()
        ]

    def needs(self, kind: str, column: Column) -> list[Need]:
        """Return the files that a column is made from."""
        languages = column.languages
        needs = [self._vectors(column.data, language) for language in languages]
        needs += [self._pairs(column.data, *pair, "train") for pair in pairwise(languages)]
        if kind in ("translation", "one_hop"):
            return [*needs, self._pairs(column.data, languages[0], languages[-1], "test")]
        if kind == "similarity":
            ends, name = ("data", "gold"), f"semeval2017/{'-'.join(languages)}.test"
            return needs + [Need(f"{name}.{end}.txt", "semeval2017") for end in ends]
        return [*needs, Need("analogies/questions-words.txt", "analogies")]

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

    def task(self, kind: str, column: Column, retrieval: str) -> Task:
        """Return what a column is scored on, in tables of this kind."""
        source, *_, target = column.languages
        if kind == "similarity":
            return Similarity({(source, target): self.similarity(source, target)})
        if kind == "analogy":
            return Analogy({target: self.analogies()})
        return Translation({(source, target): self.test(column)}, retrieval, P_AT_1.name)

    def test(self, column: Column) -> Dictionary:
        """Return the test dictionary of a column."""
        source, *_, target = column.languages
        return self.dictionary(column.data, source, target, "test")

    def embeddings(self, data: str, language: str, max_words: int | None) -> Embeddings:
        """Return the most frequent words of a language."""
        path = self.folder / self._vectors(data, language).path
        return read_embeddings(path, max_words=max_words)

    def dictionary(self, data: str, source: str, target: str, part: Part) -> Dictionary:
        """Return a dictionary; VecMap's are read backwards where English is the target."""
        pairs = read_dictionary(self.folder / self._pairs(data, source, target, part).path)
        return pairs.reverse_pairs() if data == "vecmap" and source != "en" else pairs

    def similarity(self, source: str, target: str) -> ScoredPairs:
        """Return pairs of words with human scores, which are in two files, line by line."""
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
        """Return Google's questions in English."""
        return read_analogies(self.folder / "analogies/questions-words.txt")
