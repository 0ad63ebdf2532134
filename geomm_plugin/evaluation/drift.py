"""[evaluate] Words that moved between two corpora of one language: two times, domains or dialects.

The words that both corpora have are the dictionary. With x_w and z_w the unit vectors of a word in
the shared space, old and new, and N_old(w), N_new(w) the common words nearest to it in each corpus,

    distance(w) = 1 - cos(x_w, z_w)
    local(w)    = 1 - cos(s_old(w), s_new(w)),    s(w)_v = cos(w, v) for v in N_old(w) and N_new(w)
    score(w)    = (distance(w) - median) / max(1.4826 MAD, 0.005),    of words alike in frequency

`distance` and `local` are the global and the local measure of Hamilton, Leskovec, Jurafsky:
"Cultural Shift or Linguistic Drift? Comparing Two Computational Measures of Semantic Change", EMNLP
2016. Distances also depend on frequency, which is no change of meaning: vectors of rare words are
noisy (Dubossarsky, Weinshall, Grossman: "Outta Control", EMNLP 2017). Hence the score: how far a
word moved beyond the median of the words nearest to it in rank, in robust standard deviations.

Words that moved should not drag the map with them: it is fitted on all common words, and again
without those that then score highest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import Matrix, RowIndices, Vector, slices
from geomm_plugin.dictionary import Dictionary, identical_words
from geomm_plugin.embeddings import Embeddings, as_embeddings
from geomm_plugin.errors import DictionaryError, ParameterError, UnknownNameError
from geomm_plugin.evaluation.table import Cell, Cells, Table, cell_of
from geomm_plugin.mapper import Mapper
from geomm_plugin.normalize import unit
from geomm_plugin.registry import as_mapper
from geomm_plugin.retrieval import Cosine, Index, UnitRows

SIMILAR_WORDS = 501  # words of similar frequency that a word is compared with, half on each side
LOCAL_NEIGHBORS = 25  # nearest words in each corpus, as in the paper
LOCAL_ROWS = 256  # words whose neighbours are gathered at a time: 30 MB at d = 300
LEAST_COMMON_WORDS = 10
SMALLEST_DEVIATION = 0.005  # of distances, which of copies hardly differ; so |score| <= 400
WORDS_A_DIMENSION = 2  # with fewer, a map fits whatever words it is given

Measure: TypeAlias = Literal["score", "distance", "local"]
MEASURES: tuple[Measure, ...] = ("score", "distance", "local")


@dataclass(frozen=True)
class MovedWord:
    """How far one word moved, and the words nearest to it before and after."""

    word: str
    score: float  # distance beyond the median of words of similar frequency, in deviations
    distance: float  # 1 - cosine of both vectors, aligned
    local: float  # 1 - cosine of the similarities to its neighbours
    rank_old: int  # 1: the most frequent word
    rank_new: int
    neighbors_old: tuple[str, ...]
    neighbors_new: tuple[str, ...]

    def row(self) -> dict[str, Any]:
        """Return everything as one JSON object."""
        neighbors = {name: list(getattr(self, name)) for name in ("neighbors_old", "neighbors_new")}
        return vars(self) | neighbors


@dataclass(frozen=True, eq=False)
class Drift(Table):
    """The words that moved most, or those that were asked about, the farthest first."""

    words: tuple[MovedWord, ...]
    names: tuple[str, str]  # of the corpora
    mapper: str
    common: int  # words that both corpora have
    fitted: int  # of which so many were the dictionary
    sizes: tuple[int, int]  # words in each corpus
    dimension: int  # of the smaller vectors

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """One JSON-like object a word."""
        return [word.row() for word in self.words]

    def cells(self) -> Cells:
        """Return header and rows as short texts."""
        header = ("word", *MEASURES, "rank", *(f"nearest in {name}" for name in self.names))
        return [[Cell(title) for title in header]] + [
            [
                *(Cell(each.word), cell_of(each.score, ".1f")),
                *(cell_of(each.distance), cell_of(each.local)),
                *map(cell_of, ((each.rank_old, each.rank_new), each.neighbors_old)),
                cell_of(each.neighbors_new),
            ]
            for each in self.words
        ]

    def notes(self) -> list[str]:
        """Say what was compared with what."""
        (old, new), (many_old, many_new) = self.names, self.sizes
        notes = [
            f"{self.common} words are in both, of {many_old} in {old} and {many_new} in {new}; "
            f"aligned by {self.mapper} on {self.fitted} of them."
        ]
        if self.fitted < WORDS_A_DIMENSION * self.dimension:
            notes.append(
                f"A map in {self.dimension} dimensions fits {self.fitted} words whether they moved "
                "or not: score and distance say little here. Sort by local, which needs no map, "
                "or read more words."
            )
        return notes


def drift(
    old: object,
    new: object,
    mapper: str | Mapper = "procrustes",
    *,
    top: int | None = 20,
    by: Measure = "score",
    words: str | Iterable[str] | None = None,
    neighbors: int = 5,
    trim: float = 0.1,
    names: Sequence[str] = ("old", "new"),
) -> Drift:
    """Find the words that moved most between two corpora of one language.

    Parameters
    ----------
    old, new
        Embeddings of each corpus, the most frequent word first: Embeddings, gensim KeyedVectors, or
        whatever a plugin converts. Dimensions may differ.
    mapper
        Aligns them on the words that both have. A rotation keeps the distances in each corpus.
    top
        How many words to return; None for all of them.
    by
        The measure that sorts them. "local" looks up the neighbours of every word first.
    words
        Ask about this word or these words only; all of them are returned.
    neighbors
        How many of the nearest words, before and after, to show.
    trim
        The share of words, those of the highest score, without which the mapper is fitted again.
    names
        What the two corpora are called.
    """
    if by not in MEASURES:
        raise ParameterError(f"Words are sorted by {', '.join(MEASURES)}; this is {by!r}.")
    if not 0 <= trim < 1:
        raise ParameterError(f"trim is a share of the words, from 0 to below 1; it is {trim:g}.")
    if neighbors < 0 or (top is not None and top < 1):
        raise ParameterError(
            f"top is at least 1 and neighbors at least 0; they are {top} and {neighbors}."
        )
    first, second = names
    two = {first: as_embeddings(old), second: as_embeddings(new)}
    if len(two) < 2:
        raise ParameterError(f"The two corpora need two names; both are called {first!r}.")
    common = _CommonWords(two)
    chosen = None
    if words is not None:
        chosen = common.find(dict.fromkeys([words] if isinstance(words, str) else words))
    method = as_mapper(mapper)
    every = steady = np.arange(len(common.words))
    aligned = _Aligned(common, method, steady)
    kept = np.flatnonzero(aligned.score <= np.quantile(aligned.score, 1 - trim))
    if LEAST_COMMON_WORDS <= len(kept) < len(steady):
        steady = kept
        aligned = _Aligned(common, method, steady)
    asked = every if chosen is None else chosen
    values = aligned.local(asked) if by == "local" else getattr(aligned, by)[asked]
    shown = asked[np.argsort(-values, kind="stable")[: top if chosen is None else None]]
    return Drift(
        aligned.moved(shown, neighbors),
        (first, second),
        method.name,
        len(common.words),
        len(steady),
        (len(two[first]), len(two[second])),
        min(embeddings.dimension for embeddings in two.values()),
    )


class _CommonWords:
    """The words that corpora have in common, and their rows in each."""

    def __init__(self, corpora: dict[str, Embeddings]):
        self.corpora = corpora
        self.words = [word for word, _ in identical_words(*corpora.values())]
        if len(self.words) < LEAST_COMMON_WORDS:
            sizes = " and ".join(f"{len(e)} of {name}" for name, e in corpora.items())
            raise DictionaryError(
                f"Only {len(self.words)} of the words ({sizes}) are in both corpora; drift needs "
                f"{LEAST_COMMON_WORDS}. Check that both are of one language and letter case."
            )
        self.rows = {
            name: np.array([embeddings.row_of[word] for word in self.words])
            for name, embeddings in corpora.items()
        }

    def find(self, words: Iterable[str]) -> RowIndices:
        """Return where words stand; say which are missing where."""
        for name, embeddings in self.corpora.items():
            missing = [word for word in words if word not in embeddings]
            if missing:
                raise UnknownNameError(
                    f"Not among the {len(embeddings)} words of {name}: "
                    f"{', '.join(map(repr, missing))}. Drift compares words that both corpora "
                    "have; check spelling and letter case, or read more words."
                )
        place = {word: at for at, word in enumerate(self.words)}
        return np.array([place[word] for word in words], np.intp)


class _Aligned:
    """The corpora in one space, aligned on some words, and how far each is from itself there."""

    def __init__(self, common: _CommonWords, mapper: Mapper, chosen: RowIndices):
        words = [common.words[at] for at in chosen.tolist()]
        first, second = common.corpora
        pairs = Dictionary(zip(words, words, strict=True))
        with progress.task(f"Aligning by {mapper.name}"):
            fitted = mapper.clone().fit(common.corpora, {(first, second): pairs})
            self.space = fitted.map(common.corpora)
            self.common = common
            self.unit = [
                self.space.unit_rows(name).select(rows) for name, rows in common.rows.items()
            ]
            x, z = (rows.all() for rows in self.unit)
        self.distance: Vector = 1 - np.einsum("ij,ij->i", x, z).astype(np.float64)
        self.score = _deviations(self.distance, common.rows.values())

    def local(self, chosen: RowIndices) -> Vector:
        """Return 1 - cosine of the similarities of words to their neighbours in both corpora."""
        lists = [
            nearest_others(Cosine().index(rows, rows), rows, chosen, LOCAL_NEIGHBORS)
            for rows in self.unit
        ]
        near = np.sort(np.concatenate(lists, axis=1), axis=1)
        is_first = np.diff(near, axis=1, prepend=-1) > 0  # who is in both lists counts once
        local = np.empty(len(chosen))
        for part in slices(len(chosen), LOCAL_ROWS):
            x, z = (
                unit(is_first[part] * _cosines(rows, chosen[part], near[part]))
                for rows in self.unit
            )
            local[part] = 1 - np.einsum("ij,ij->i", x, z)
        return local

    def moved(self, chosen: RowIndices, neighbors: int) -> tuple[MovedWord, ...]:
        """Return words with their measures, and the nearest of all words of each corpus."""
        nearest = []
        for name, rows in self.common.rows.items():
            index, words = self.space.index(name, name, "cosine"), self.common.corpora[name].words
            others = nearest_others(index, self.space.unit_rows(name), rows[chosen], neighbors)
            nearest.append([tuple(words[row] for row in line) for line in others.tolist()])
        ranks = [(rows[chosen] + 1).tolist() for rows in self.common.rows.values()]
        measures = (self.score[chosen], self.distance[chosen], self.local(chosen))
        words = [self.common.words[at] for at in chosen.tolist()]
        return tuple(map(MovedWord, words, *map(np.ndarray.tolist, measures), *ranks, *nearest))


def _deviations(distances: Vector, rows_of: Iterable[RowIndices]) -> Vector:
    """Return distances against those of words of similar rank, in robust deviations."""
    from scipy.ndimage import median_filter

    order = np.argsort(sum(np.log(rows + 1.0) for rows in rows_of), kind="stable")
    size = min(SIMILAR_WORDS, (len(order) - 1) // 2 * 2 + 1)  # odd
    beyond = distances[order] - median_filter(distances[order], size)
    deviation = 1.4826 * median_filter(np.abs(beyond), size)
    scores = np.empty(len(order))
    scores[order] = beyond / np.maximum(deviation, SMALLEST_DEVIATION)
    return scores


def nearest_others(index: Index, vectors: UnitRows, chosen: RowIndices, count: int) -> RowIndices:
    """Return the rows nearest to some rows, the nearest first; a row itself is none of them."""
    count = min(count + 1, len(vectors))
    found = index.search(vectors.select(chosen), count).indices
    itself_last = np.argsort(found == chosen[:, None], axis=1, kind="stable")
    others: RowIndices = np.take_along_axis(found, itself_last, axis=1)[:, :-1]
    return others


def _cosines(vectors: UnitRows, chosen: RowIndices, near: RowIndices) -> Matrix:
    """Return the cosine of each chosen row with each of its neighbours."""
    cosines: Matrix = np.einsum("nd,nkd->nk", vectors.take(chosen), vectors.take(near))
    return cosines
