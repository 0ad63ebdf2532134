"""[map] The shared space: mapped embeddings by language, and translation between any two."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, overload

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import (
    BLOCK_ROWS,
    Matrix,
    RowIndices,
    Vector,
)
from geomm_plugin.embeddings import Embeddings, as_embeddings
from geomm_plugin.errors import LanguagesError, UnknownNameError, did_you_mean
from geomm_plugin.normalize import unit
from geomm_plugin.registry import as_retrieval
from geomm_plugin.retrieval import Index, Retrieval, mutual_neighbors


class MappedEmbeddings(Embeddings):
    """Embeddings whose vectors are mapped when they are asked for.

    Export goes block by block without the mapped copy; `.vectors` makes that once and keeps it.
    """

    def __init__(self, raw: Embeddings, transform: Callable[[Matrix], Matrix]):
        self.words = raw.words
        self.attributes = raw.attributes
        self.raw = raw
        self._transform = transform
        self._first = transform(raw.rows(slice(0, 1)))  # tells dimension and type
        self._mapped: Matrix | None = None

    @property
    def vectors(self) -> Matrix:
        """All mapped vectors."""
        if self._mapped is None:
            mapped = np.empty((len(self), self.dimension), self._first.dtype)
            for start in range(0, len(self), BLOCK_ROWS):
                mapped[start : start + BLOCK_ROWS] = self.rows(slice(start, start + BLOCK_ROWS))
            self._mapped = mapped
        return self._mapped

    @property
    def dimension(self) -> int:
        """How many dimensions the shared space has."""
        return int(self._first.shape[1])

    def rows(self, rows: RowIndices | slice) -> Matrix:
        """Map some rows."""
        if self._mapped is not None:
            return self._mapped[rows]
        return self._transform(self.raw.rows(rows))

    def vector(self, word: str) -> Vector:
        """Return the mapped vector of a word, also of one outside the vocabulary if raw tells."""
        if word in self:
            return self[word]
        return self.map_vector(self.raw.vector(word))

    def map_vector(self, vector: Vector) -> Vector:
        """Map a vector of the raw embeddings' space."""
        mapped: Vector = self._transform(vector[None, :])[0]
        return mapped

    def with_words(self, words: Iterable[str]) -> MappedEmbeddings:
        """Add words outside the vocabulary to the raw embeddings, mapped like the others."""
        return MappedEmbeddings(self.raw.with_words(words), self._transform)


class SharedSpace(Mapping[str, Embeddings]):
    """Mapped embeddings by language: what mapper.map() returns, or aligned files read from disk."""

    def __init__(self, embeddings: Mapping[str, object]):
        self._embeddings = {name: as_embeddings(value) for name, value in embeddings.items()}
        dimensions = {name: value.dimension for name, value in self._embeddings.items()}
        if len(set(dimensions.values())) > 1:
            raise LanguagesError(
                f"A shared space has one dimension; these differ: {dimensions}. "
                "Map the embeddings with a mapper first."
            )
        self._unit: dict[str, Matrix] = {}
        self._indexes: dict[tuple[str, str, str], Index] = {}

    def __getitem__(self, language: str) -> Embeddings:
        if language not in self._embeddings:
            raise UnknownNameError(
                f"There is no language {language!r} in this space."
                f"{did_you_mean(language, self._embeddings)} It has: {', '.join(self)}."
            )
        return self._embeddings[language]

    def __contains__(self, language: object) -> bool:
        return language in self._embeddings

    def get(self, language: str, default: Any = None) -> Any:
        """Return a language's embeddings, or the default."""
        return self._embeddings.get(language, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._embeddings)

    def __len__(self) -> int:
        return len(self._embeddings)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name} {len(value)}" for name, value in self._embeddings.items())
        return f"<SharedSpace: {sizes}>"

    def vector(self, language: str, word: str) -> Vector:
        """Return a word's vector in this space; unseen words go through subwords, then the map."""
        return self[language].vector(word)

    def unit_vectors(self, language: str) -> Matrix:
        """Return a language's vectors at length 1 (float32), as retrieval compares them; kept."""
        if language not in self._unit:
            embeddings = self[language]
            vectors = np.empty((len(embeddings), embeddings.dimension), np.float32)
            start = 0
            with progress.task(f"Mapping {language}", total=len(embeddings)) as advance:
                for block in embeddings.blocks():
                    vectors[start : start + len(block)] = unit(block)
                    start += len(block)
                    advance(len(block))
            self._unit[language] = vectors
        return self._unit[language]

    def index(self, source: str, target: str, retrieval: str | Retrieval = "csls") -> Index:
        """Return what finds target words for source words; kept, since CSLS learns from both."""
        chosen = as_retrieval(retrieval)
        key = (source, target, chosen.label)
        if key not in self._indexes:
            self._indexes[key] = chosen.index(self.unit_vectors(source), self.unit_vectors(target))
        return self._indexes[key]

    @overload  # a text is an iterable of texts, but means one word here
    def translate(  # type: ignore[overload-overlap]
        self,
        words: str,
        source: str,
        target: str,
        k: int = ...,
        retrieval: str | Retrieval = ...,
        *,
        engine: str | None = ...,
    ) -> list[tuple[str, float]]: ...
    @overload
    def translate(
        self,
        words: Iterable[str],
        source: str,
        target: str,
        k: int = ...,
        retrieval: str | Retrieval = ...,
        *,
        engine: str | None = ...,
    ) -> list[list[tuple[str, float]]]: ...
    def translate(
        self,
        words: str | Iterable[str],
        source: str,
        target: str,
        k: int = 10,
        retrieval: str | Retrieval = "csls",
        *,
        engine: str | None = None,
    ) -> list[tuple[str, float]] | list[list[tuple[str, float]]]:
        """Translate a word, or a list of words in one go.

        Returns the k best target words with their scores, best first: one list for a word, a list
        of lists for several.

        Parameters
        ----------
        retrieval
            A registered name ("csls", "cosine", "inverted_softmax") or an object such as CSLS(k=5).
        engine
            "hnsw" searches approximately, for millions of words.
        """
        if isinstance(words, str):
            return self.translate([words], source, target, k, retrieval, engine=engine)[0]
        retrieval = as_retrieval(retrieval, engine=engine)
        queries = self._queries(list(words), source)
        found = self.index(source, target, retrieval).search(queries, min(k, len(self[target])))
        vocabulary = self[target].words
        return [
            [(vocabulary[row], float(score)) for row, score in zip(rows, scores, strict=True)]
            for rows, scores in zip(found.indices, found.scores, strict=True)
        ]

    def dictionary(
        self, source: str, target: str, *, max_words: int | None = None
    ) -> list[tuple[str, str, float]]:
        """Return the words that are each other's best translation, with their CSLS.

        In the order of the source words; what is exact and what is noise, the scores tell.

        Parameters
        ----------
        max_words
            Take only so many of the most frequent words of each language.
        """
        rows, columns, scores = mutual_neighbors(
            self.unit_vectors(source)[:max_words], self.unit_vectors(target)[:max_words]
        )
        here, there = self[source].words, self[target].words
        return [
            (here[row], there[column], float(score))
            for row, column, score in zip(rows, columns, scores, strict=True)
        ]

    def _queries(self, words: list[str], language: str) -> Matrix:
        row_of, known = self[language].row_of, self.unit_vectors(language)
        queries = np.empty((len(words), known.shape[1]), np.float32)
        for position, word in enumerate(words):
            if word in row_of:
                queries[position] = known[row_of[word]]
                continue
            try:
                queries[position] = unit(self.vector(language, word)[None, :])[0]
            except UnknownNameError as error:
                raise UnknownNameError(
                    f"The word {word!r} is not among the {len(row_of)} words of {language}. "
                    "Check its spelling and letter case, and the order of the languages; words "
                    "outside the vocabulary need embeddings with subwords (a fastText .bin)."
                ) from error
        return queries
