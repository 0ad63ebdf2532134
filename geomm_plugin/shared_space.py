"""[map] The shared space: mapped embeddings by language, and translation between any two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, overload

import numpy as np

from geomm_plugin.arrays import Matrix, Vector
from geomm_plugin.embeddings import Embeddings, as_embeddings
from geomm_plugin.errors import LanguagesError, ParameterError, UnknownNameError, did_you_mean
from geomm_plugin.normalize import unit
from geomm_plugin.registry import as_retrieval
from geomm_plugin.retrieval import Index, LanguageRows, Retrieval, UnitRows
from geomm_plugin.retrieval.rerank.learnt import as_learnt
from geomm_plugin.text import html_table
from geomm_plugin.work import Cluster, compute_pool

Reranking: TypeAlias = Mapping[tuple[str, str], Mapping[str, float]]


class Answer(NamedTuple):
    """A target word, its score, and the probability that it is a right translation."""

    word: str
    score: float
    probability: float


class SharedSpace(Mapping[str, Embeddings]):
    """Mapped embeddings by language: what mapper.map() returns, or aligned files read from disk.

    Parameters
    ----------
    reranking
        What `learn_reranking` learnt by pair of languages, or weights of features by name; the
        retrieval "reranked" uses it, from either language of a pair.
    """

    def __init__(
        self, embeddings: Mapping[str, object], reranking: Reranking = MappingProxyType({})
    ):
        self.reranking: Reranking = dict(reranking)
        self._embeddings = {name: as_embeddings(value) for name, value in embeddings.items()}
        dimensions = {name: value.dimension for name, value in self._embeddings.items()}
        if len(set(dimensions.values())) > 1:
            shown = ", ".join(f"{name} {size}" for name, size in dimensions.items())
            raise LanguagesError(
                f"A shared space has one dimension; these differ: {shown}. "
                "Map the embeddings with a mapper first."
            )
        self._rows: dict[str, LanguageRows] = {}
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

    def _repr_html_(self) -> str:
        lines = [[name, f"{len(e):,}", str(e.dimension)] for name, e in self._embeddings.items()]
        return html_table(("language", "words", "dimension"), lines, "Shared space")

    def vector(self, language: str, word: str) -> Vector:
        """Return a word's vector in this space; unseen words go through subwords, then the map."""
        return self[language].vector(word)

    def unit_rows(self, language: str) -> UnitRows:
        """Return a language's words and their vectors at length 1, mapped when asked for."""
        if language not in self._rows:
            self._rows[language] = LanguageRows(self[language], language)
        return self._rows[language]

    def unit_vectors(self, language: str) -> Matrix:
        """Return a language's vectors at length 1 (float32), as retrieval compares them; kept."""
        return self.unit_rows(language).all()

    def index(self, source: str, target: str, retrieval: str | Retrieval = "csls") -> Index:
        """Return what finds target words for source words; kept, since CSLS learns from both."""
        chosen = self._with_learnt(retrieval, source, target)
        key = (source, target, chosen.label)
        if key not in self._indexes:
            self._indexes[key] = chosen.index(self.unit_rows(source), self.unit_rows(target))
        return self._indexes[key]

    def _with_learnt(self, retrieval: str | Retrieval, source: str, target: str) -> Retrieval:
        """Return a retrieval with what was learnt for two languages, in either direction."""
        learnt = self.reranking.get((source, target))
        if not learnt and (other := self.reranking.get((target, source))):
            learnt = as_learnt(other).reversed()
        return as_retrieval(retrieval).with_learnt(learnt)

    @overload  # a text is an iterable of texts, but means one word here
    def translate(  # type: ignore[overload-overlap]
        self, words: str, source: str, target: str, k: int = ..., retrieval: str | Retrieval = ...
    ) -> list[tuple[str, float]]: ...
    @overload
    def translate(
        self,
        words: Iterable[str],
        source: str,
        target: str,
        k: int = ...,
        retrieval: str | Retrieval = ...,
    ) -> list[list[tuple[str, float]]]: ...
    def translate(
        self,
        words: str | Iterable[str],
        source: str,
        target: str,
        k: int = 10,
        retrieval: str | Retrieval = "csls",
    ) -> list[tuple[str, float]] | list[list[tuple[str, float]]]:
        """Translate a word, or a list of words in one go.

        Returns the k best target words with their scores, best first: one list for a word, a list
        of lists for several.

        Parameters
        ----------
        retrieval
            A registered name ("csls", "cosine", "inverted_softmax") or an object such as CSLS(k=5).
        """
        if isinstance(words, str):
            return self.translate([words], source, target, k, retrieval)[0]
        index = self.index(source, target, retrieval)  # first: it may have to map all words
        best = index.search(self.queries(list(words), source), min(k, len(self[target])))
        vocabulary = self[target].words
        return [
            [(vocabulary[row], float(score)) for row, score in zip(rows, scores, strict=True)]
            for rows, scores in zip(best.indices, best.scores, strict=True)
        ]

    def answers(
        self,
        words: Iterable[str],
        source: str,
        target: str,
        k: int = 10,
        retrieval: str | Retrieval = "reranked",
        *,
        coverage: float | None = None,
    ) -> list[list[Answer]]:
        """Translate words, with the probability that each answer is right.

        Returns a list for each word, best first: the target word, its score and its probability.

        Parameters
        ----------
        retrieval
            The retrieval "reranked", with parameters: no other has probabilities.
        coverage
            Return for each word a set, of k words at most, that holds a right one for this share of
            words: 0.9. It needs weights that were learnt from a dictionary.
        """
        from geomm_plugin.retrieval.rerank.reranked import RerankedIndex

        index = self.index(source, target, retrieval)
        if not isinstance(index, RerankedIndex):
            raise ParameterError(
                "Probabilities come from the retrieval 'reranked'; this one is "
                f"{as_retrieval(retrieval).label!r}. Choose retrieval='reranked'."
            )
        least = 0.0 if coverage is None else index.belief.least(coverage)
        best, probabilities = index.search_with_probabilities(self.queries(list(words), source), k)
        vocabulary = self[target].words
        return [
            [
                Answer(vocabulary[row], float(score), float(p))
                for row, score, p in zip(rows, scores, sure, strict=True)
                if p >= least
            ]
            for rows, scores, sure in zip(best.indices, best.scores, probabilities, strict=True)
        ]

    def dictionary(
        self,
        source: str,
        target: str,
        *,
        max_words: int | None = None,
        retrieval: str | Retrieval = "csls",
        at_precision: float | None = None,
        jobs: int | None = None,
        cluster: Cluster | None = None,
    ) -> list[tuple[str, str, float]]:
        """Return the words that are each other's best translation, with their scores.

        In the order of the source words; low scores are mostly noise.

        Parameters
        ----------
        max_words
            Take only so many of the most frequent words of each language.
        retrieval
            CSLS pairs the words up in one pass; others search both ways.
        at_precision
            Keep the pairs that are most probably right, so many that this share of them is: 0.95.
            Probabilities, which "reranked" has, then take the place of the scores.
        jobs, cluster
            Who compares the words: so many threads (-1: one for each core), or the workers of a
            cluster; by default the threads of BLAS. The pairs are the same.
        """
        x, z = (self.unit_rows(language).head(max_words) for language in (source, target))
        chosen = self._with_learnt(retrieval, source, target)
        back = self._with_learnt(retrieval, target, source)
        with compute_pool(jobs, cluster):
            best = chosen.both_ways(x, z, back)
        rows, columns, scores = best.mutual()
        here, there = self[source].words, self[target].words
        pairs = [
            (here[row], there[column], float(score))
            for row, column, score in zip(rows, columns, scores, strict=True)
        ]
        if at_precision is None:
            return pairs
        answers = self.answers([pair[0] for pair in pairs], source, target, 1, retrieval)
        sure = np.array([best.probability for (best,) in answers])
        order = np.argsort(-sure, kind="stable")
        means = np.cumsum(sure[order]) / np.arange(1, len(sure) + 1)
        kept = np.sort(order[: np.count_nonzero(means >= at_precision)]).tolist()
        return [(pairs[number][0], pairs[number][1], float(sure[number])) for number in kept]

    def save_neighborhoods(
        self, k: int = 10, *, jobs: int | None = None, cluster: Cluster | None = None
    ) -> list[Path]:
        """Save the CSLS means of all words beside the files that this space was read from.

        A later search by CSLS(k=k) in the same vectors finds them, and answers at once; the answers
        are the same. Returns the files: `aligned/es.vec.neighborhoods`, ...

        Parameters
        ----------
        k
            Neighbours in each mean.
        jobs, cluster
            Who compares the words: so many threads (-1: one for each core), or the workers of a
            cluster; by default the threads of BLAS. The means are the same.
        """
        from geomm_plugin.retrieval.neighborhood_file import save_means

        with compute_pool(jobs, cluster):
            return save_means({language: self.unit_rows(language) for language in self}, k)

    def queries(self, words: Sequence[str], language: str) -> UnitRows:
        """Return words with their unit rows; those outside the vocabulary go through subwords."""
        row_of = self[language].row_of
        is_known = np.array([word in row_of for word in words], bool)
        known = np.array([row_of[word] for word in words if word in row_of], np.intp)
        rows = np.empty((len(words), self[language].dimension), np.float32)
        if len(known):
            rows[is_known] = self.unit_rows(language).take(known)
        for position in np.flatnonzero(~is_known).tolist():
            rows[position] = unit(self._unseen(words[position], language)[None, :])[0]
        return UnitRows(rows, words)

    def _unseen(self, word: str, language: str) -> Vector:
        try:
            return self.vector(language, word)
        except UnknownNameError:
            raise UnknownNameError(
                f"The word {word!r} is not among the {len(self[language])} words of {language}. "
                "Check its spelling and letter case, and the order of the languages; words "
                "outside the vocabulary need embeddings with subwords (a fastText .bin)."
            ) from None
