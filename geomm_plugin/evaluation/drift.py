"""[evaluate] Words that moved between corpora of one language: times, domains or dialects.

The words that all corpora have are the dictionary. With x_w and z_w the unit vectors of a word in
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
without those that then score highest. Three or more times share one space: a joint mapper learns
from every two of them, any other aligns each with the last. The measures are then those from the
first time to the last, and those of each step from one to the next.

The interval of a distance holds 95 % of its values after fits on random halves of the anchors,
which vary about the fit on all as a bootstrap's do (Shao, Wu: "A General Theory for Jackknife
Variance Estimation", 1989). That of a word that is no anchor is reflected at its distance, as half
of the anchors double the bias of the map there. It says how firm the map is. What training alone
does to a word, a null says: corpora between which nothing changed. Among its 1,001 words nearest in
rank, the m = 25 highest scores exceed the next one, t, by b on average. If these are exponential,

    p(w) = m/1001 (1 + (score(w) - t) / (m b))^-m    if score(w) > t, else the share as high

(lighter tails, as found between halves, make p too large), and q(w), the share of chance among all
words and steps of so small a p, is Benjamini's and Hochberg's (1995).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, pairwise, repeat
from typing import Any, Literal, TypeAlias

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import Matrix, RowIndices, Vector, slices
from geomm_plugin.dictionary import Dictionary
from geomm_plugin.embeddings import as_embeddings
from geomm_plugin.errors import DictionaryError, ParameterError, UnknownNameError
from geomm_plugin.evaluation.table import Cell, Cells, Table, cell_of, interval_cell
from geomm_plugin.mapper import Mapper
from geomm_plugin.normalize import unit
from geomm_plugin.registry import as_mapper
from geomm_plugin.retrieval import Cosine, Index, UnitRows
from geomm_plugin.shared_space import SharedSpace

SIMILAR_WORDS = 501  # words of similar frequency that a word is compared with, half on each side
NULL_WORDS = 1001  # words of similar frequency in a null; of the highest 25 scores p is modelled
LOCAL_NEIGHBORS = 25  # nearest words in each corpus, as in the paper
LOCAL_ROWS = 256  # words whose neighbours are gathered at a time: 30 MB at d = 300
LEAST_COMMON_WORDS = 10
SMALLEST_DEVIATION = 0.005  # of distances, which of copies hardly differ; so |score| <= 400
WORDS_A_DIMENSION = 2  # with fewer, a map fits whatever words it is given

Measure: TypeAlias = Literal["score", "distance", "local"]
MEASURES: tuple[Measure, ...] = ("score", "distance", "local")
CHANCE = ("distance_low", "distance_high", "q")


@dataclass(frozen=True)
class MovedWord:
    """How far one word moved from one time to another, and the words nearest to it at both."""

    word: str
    score: float  # distance beyond the median of words of similar frequency, in deviations
    distance: float  # 1 - cosine of both vectors, aligned
    local: float  # 1 - cosine of the similarities to its neighbours
    rank_old: int  # 1: the most frequent word
    rank_new: int
    neighbors_old: tuple[str, ...]
    neighbors_new: tuple[str, ...]
    time_old: str | None = None  # where there are three times or more
    time_new: str | None = None
    distance_low: float | None = None  # its interval, if anchors were resampled
    distance_high: float | None = None
    q: float | None = None  # share of chance among all that look so extreme, if there was a null
    steps: tuple[MovedWord, ...] = ()  # from each time to the next, if there are three or more

    def row(self) -> dict[str, Any]:
        """Return everything but the steps as one JSON object."""
        fields = {name: value for name, value in vars(self).items() if value is not None}
        del fields["steps"]
        return {n: list(v) if isinstance(v, tuple) else v for n, v in fields.items()}


@dataclass(frozen=True, eq=False)
class Drift(Table):
    """The words that moved most, or those that were asked about, the farthest first."""

    words: tuple[MovedWord, ...]
    names: tuple[str, ...]  # of the corpora
    mapper: str
    common: int  # words that all corpora have
    fitted: int  # of which so many were the dictionary
    sizes: tuple[int, ...]  # words in each corpus
    dimension: int  # of the smallest vectors
    null: int = 0  # words that the corpora of the null have in common

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """One JSON-like object a word; of three or more times, those of its steps follow it."""
        return [each.row() for word in self.words for each in (word, *word.steps)]

    def cells(self) -> Cells:
        """Return header and rows as short texts; of the steps only their scores."""
        steps = [f"{old}-{new}" for old, new in pairwise(self.names) if len(self.names) > 2]
        header = ["word", *MEASURES, *["q"][: self.null], *steps, "rank"]
        header += [f"nearest in {self.names[at]}" for at in (0, -1)]
        lines = [[Cell(title) for title in header]]
        for each in self.words:
            distance = interval_cell(each.row(), "distance")
            line = [Cell(each.word), cell_of(each.score, ".1f"), distance, cell_of(each.local)]
            line += [cell_of(each.q, ".2g")][: self.null]
            highest = max((step.score for step in each.steps), default=0)
            for step in each.steps:
                star = "*" * (step.score == highest)
                line.append(Cell(f"{step.score:.1f}", after=star, number=True))
            line.append(cell_of((each.rank_old, each.rank_new)))
            lines.append([*line, cell_of(each.neighbors_old), cell_of(each.neighbors_new)])
        return lines

    def notes(self) -> list[str]:
        """Say what was compared with what."""
        first, *between, last = self.names
        *sizes, size = (f"{n} in {name}" for name, n in zip(self.names, self.sizes, strict=True))
        notes = [
            f"{self.common} words are in {'all' if between else 'both'}, of {', '.join(sizes)} and "
            f"{size}; aligned by {self.mapper} on {self.fitted} of them."
        ]
        if between:
            notes.append(
                f"Columns of two times hold the score of that step, * the highest; all others are "
                f"from {first} to {last}."
            )
        if self.null:
            notes.append(
                f"q, by the {self.null} words of the null: the share of chance among all that have "
                "at most this q."
            )
        if self.fitted < WORDS_A_DIMENSION * self.dimension:
            notes.append(
                f"A map in {self.dimension} dimensions fits {self.fitted} words whether they moved "
                "or not: score and distance say little here. Sort by local, which needs no map, "
                "or read more words."
            )
        return notes


def drift(
    old: object,
    new: object = None,
    mapper: str | Mapper = "procrustes",
    *,
    top: int | None = 20,
    by: Measure = "score",
    words: str | Iterable[str] | None = None,
    neighbors: int = 5,
    trim: float = 0.1,
    names: Sequence[str] = ("old", "new"),
    resamples: int = 0,
    null: Mapping[str, object] | None = None,
    seed: int = 0,
) -> Drift:
    """Find the words that moved most between corpora of one language.

    Parameters
    ----------
    old, new
        Embeddings of each corpus, the most frequent word first: Embeddings, gensim KeyedVectors, or
        whatever a plugin converts. Dimensions may differ. For three times or more, one mapping
        instead of both, the earliest first: drift({"1990": ..., "2000": ..., "2010": ...}).
    mapper
        Aligns them on the words that all have. A rotation keeps the distances in each corpus. Of
        several times, it aligns each with the last; a joint one (gpa, geomm_multi), all at once.
    top
        How many words to return; None for all of them.
    by
        The measure that sorts them, from the first time to the last. "local" looks up the
        neighbours of every word first.
    words
        Ask about this word or these words only; all of them are returned.
    neighbors
        How many of the nearest words, before and after, to show.
    trim
        The share of words, those of the highest score, without which the mapper is fitted again.
    names
        What the two corpora are called.
    resamples
        Fits on random halves of the anchors, for the intervals of distances; 0 for no intervals.
    null
        Corpora between which nothing changed, by name, for the q of each word: two halves of one
        corpus, or two runs on it, of about the size of the others.
    seed
        Of the resampling.
    """
    if by not in MEASURES:
        raise ParameterError(f"Words are sorted by {', '.join(MEASURES)}; this is {by!r}.")
    if not 0 <= trim < 1:
        raise ParameterError(f"trim is a share of the words, from 0 to below 1; it is {trim:g}.")
    if min(neighbors, resamples) < 0 or (top is not None and top < 1):
        raise ParameterError(
            f"top is at least 1, neighbors and resamples at least 0; they are {top}, {neighbors} "
            f"and {resamples}."
        )
    common = _CommonWords(old if new is None else dict(zip(names, (old, new), strict=True)))
    unchanged = None if null is None else _CommonWords(null)
    asked = np.arange(len(common.words))
    if words is not None:
        asked = common.find(dict.fromkeys([words] if isinstance(words, str) else words))
    method = as_mapper(mapper)
    aligned = _Aligned.without_moved(common, method, trim)
    values = aligned.local(asked) if by == "local" else getattr(aligned, by)[:, asked]
    order = np.argsort(-values[0], kind="stable")[: top if words is None else None]
    chance: dict[str, Matrix] = {}
    if resamples:
        chance = aligned.intervals(method, asked[order], resamples, seed)
    if unchanged is not None and len(asked):
        from scipy.stats import false_discovery_control

        p_values = _Aligned.without_moved(unchanged, method, trim).p_values(aligned, asked)
        chance["q"] = false_discovery_control(p_values).reshape(-1, len(asked))[:, order]
    corpora = common.corpora
    return Drift(
        aligned.moved(asked[order], neighbors, chance),
        tuple(corpora),
        method.name,
        len(common.words),
        len(aligned.anchors),
        tuple(map(len, corpora.values())),
        min(embeddings.dimension for embeddings in corpora.values()),
        0 if unchanged is None else len(unchanged.words),
    )


class _CommonWords:
    """The words that corpora have in common, and their rows in each."""

    def __init__(self, corpora: object):
        if not isinstance(corpora, Mapping) or len(corpora) < 2:
            raise ParameterError(
                "Drift compares two corpora or more, and so does a null, each by its own name: "
                'give drift(old, new), or a mapping such as {"1990": ..., "2000": ...}.'
            )
        self.corpora = {name: as_embeddings(value).distinct() for name, value in corpora.items()}
        first, *others = (embeddings.row_of for embeddings in self.corpora.values())
        self.words = [word for word in first if all(word in other for other in others)]
        if len(self.words) < LEAST_COMMON_WORDS:
            sizes = " and ".join(f"{len(e)} of {name}" for name, e in self.corpora.items())
            raise DictionaryError(
                f"Only {len(self.words)} of the words ({sizes}) are in all corpora; drift needs "
                f"{LEAST_COMMON_WORDS}. Check that they are of one language and letter case."
            )
        self.rows = {
            name: np.array([embeddings.row_of[word] for word in self.words])
            for name, embeddings in self.corpora.items()
        }
        names, logs = (
            [*self.corpora],
            {name: np.log(rows + 1.0) for name, rows in self.rows.items()},
        )
        self.spans = [(names[0], names[-1]), *(pairwise(names) if others[1:] else ())]
        self.log_ranks = np.stack([logs[old] + logs[new] for old, new in self.spans])

    def find(self, words: Iterable[str]) -> RowIndices:
        """Return where words stand; say which are missing where."""
        for name, embeddings in self.corpora.items():
            missing = [word for word in words if word not in embeddings]
            if missing:
                raise UnknownNameError(
                    f"Not among the {len(embeddings)} words of {name}: "
                    f"{', '.join(map(repr, missing))}. Drift compares words that all corpora "
                    "have; check spelling and letter case, or read more words."
                )
        place = {word: at for at, word in enumerate(self.words)}
        return np.array([place[word] for word in words], np.intp)

    def space(self, mapper: Mapper, anchors: RowIndices) -> SharedSpace:
        """Return the corpora in one space, aligned on some of the words."""
        words = [self.words[at] for at in anchors.tolist()]
        *others, last = self.corpora
        linked = combinations(self.corpora, 2) if mapper.joint else zip(others, repeat(last))
        pairs = Dictionary(zip(words, words, strict=True))
        return mapper.clone().fit(self.corpora, dict.fromkeys(linked, pairs)).map(self.corpora)

    def unit_rows(self, space: SharedSpace, chosen: RowIndices | slice) -> dict[str, UnitRows]:
        """Return the vectors of some of the words at each time."""
        return {
            name: space.unit_rows(name).select(rows[chosen]) for name, rows in self.rows.items()
        }

    def distances(self, unit_rows: Mapping[str, UnitRows]) -> Matrix:
        """Return 1 - cosine of words with themselves, a row for each span."""
        return np.stack([
            1 - np.einsum("ij,ij->i", unit_rows[old].all(), unit_rows[new].all()).astype(np.float64)
            for old, new in self.spans
        ])  # fmt: skip


class _Aligned:
    """The corpora in one space, aligned on some words, and how far each is from itself there."""

    def __init__(self, common: _CommonWords, mapper: Mapper, anchors: RowIndices):
        self.common, self.anchors = common, anchors
        with progress.task(f"Aligning by {mapper.name}"):
            self.space = common.space(mapper, anchors)
            self.unit = common.unit_rows(self.space, slice(None))
            self.distance = common.distances(self.unit)  # spans x words, as all measures
        self.score = np.stack([*map(_deviations, self.distance, common.log_ranks)])

    @classmethod
    def without_moved(cls, common: _CommonWords, mapper: Mapper, trim: float) -> _Aligned:
        """Align on all words, and again without the share of them that moved most."""
        anchors = np.arange(len(common.words))
        aligned = cls(common, mapper, anchors)
        highest = aligned.score.max(axis=0)
        kept = np.flatnonzero(highest <= np.quantile(highest, 1 - trim))
        if LEAST_COMMON_WORDS <= len(kept) < len(anchors):
            aligned = cls(common, mapper, kept)
        return aligned

    def local(self, chosen: RowIndices) -> Matrix:
        """Return 1 - cosine of the similarities of words to their neighbours at both times."""
        nearest = {
            name: nearest_others(Cosine().index(rows, rows), rows, chosen, LOCAL_NEIGHBORS)
            for name, rows in self.unit.items()
        }
        local = np.empty((len(self.common.spans), len(chosen)))
        for number, span in enumerate(self.common.spans):
            near = np.sort(np.concatenate([nearest[name] for name in span], axis=1), axis=1)
            is_first = np.diff(near, axis=1, prepend=-1) > 0  # who is in both lists counts once
            for part in slices(len(chosen), LOCAL_ROWS):
                x, z = (
                    unit(is_first[part] * _cosines(self.unit[name], chosen[part], near[part]))
                    for name in span
                )
                local[number, part] = 1 - np.einsum("ij,ij->i", x, z)
        return local

    def moved(
        self, chosen: RowIndices, neighbors: int, chance: Mapping[str, Matrix]
    ) -> tuple[MovedWord, ...]:
        """Return words with their measures, and the nearest of all words of each corpus."""
        nearest, ranks = {}, {}
        for name, rows in self.common.rows.items():
            index, words = self.space.index(name, name, "cosine"), self.common.corpora[name].words
            others = nearest_others(index, self.space.unit_rows(name), rows[chosen], neighbors)
            nearest[name] = [tuple(words[row] for row in line) for line in others.tolist()]
            ranks[name] = (rows[chosen] + 1).tolist()
        words = [self.common.words[at] for at in chosen.tolist()]
        measures = self.score[:, chosen], self.distance[:, chosen], self.local(chosen)
        each_span = []
        for number, (old, new) in enumerate(self.common.spans):
            numbers = (measure[number].tolist() for measure in measures)
            found = ranks[old], ranks[new], nearest[old], nearest[new]
            times = map(repeat, (old, new) if len(self.common.spans) > 1 else (None, None))
            by_chance = (
                chance[n][number].tolist() if n in chance else repeat(None) for n in CHANCE
            )
            each_span.append(map(MovedWord, words, *numbers, *found, *times, *by_chance))
        each_word = zip(*each_span, strict=True)
        return tuple(replace(whole, steps=tuple(steps)) for whole, *steps in each_word)

    def intervals(
        self, mapper: Mapper, chosen: RowIndices, resamples: int, seed: int
    ) -> dict[str, Matrix]:
        """Return where the distances of words lie after fits on random halves of the anchors."""
        random, drawn = np.random.default_rng(seed), []
        for _ in progress.over("Resampling the anchors", range(resamples), "fits"):
            half = random.choice(self.anchors, len(self.anchors) // 2, replace=False)
            space = self.common.space(mapper, np.sort(half))
            drawn.append(self.common.distances(self.common.unit_rows(space, chosen)))
        low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
        twice, is_anchor = 2 * self.distance[:, chosen], np.isin(chosen, self.anchors)
        return {
            "distance_low": np.where(is_anchor, low, twice - high),
            "distance_high": np.where(is_anchor, high, twice - low),
        }

    def p_values(self, other: _Aligned, chosen: RowIndices) -> Vector:
        """Return how often words of the null, which is this, score as high as words of another."""
        if np.median(abs(self.distance - np.median(self.distance))) < SMALLEST_DEVIATION:
            raise ParameterError(
                f"The corpora of the null ({', '.join(self.common.corpora)}) hardly differ: they "
                f"are copies, or share too few words ({len(self.common.words)}) for a map. "
                "Give two halves of one corpus, each trained by itself, with enough words."
            )
        ranks, scores = self.common.log_ranks.ravel(), other.score[:, chosen].ravel()
        order = np.argsort(ranks, kind="stable")
        size = min(NULL_WORDS, len(order))
        windows = np.lib.stride_tricks.sliding_window_view(self.score.ravel()[order], size)
        places = np.searchsorted(ranks[order], other.common.log_ranks[:, chosen].ravel())
        start = np.clip(places - size // 2, 0, len(order) - size)
        m, p_values = max(1, size // 40), np.empty(len(scores))
        parts = list(slices(len(scores), LOCAL_ROWS))
        for part in progress.over("Comparing with the null", parts, "blocks"):
            similar, score = np.partition(windows[start[part]], size - m - 1), scores[part]
            as_high = (1 + np.count_nonzero(similar >= score[:, None], axis=1)) / (1 + size)
            t = similar[:, -m - 1]
            b = similar[:, -m:].mean(axis=1) - t
            beyond = np.maximum(score - t, 0) / np.where(b > 0, b, np.inf)
            tail = m / size * (1 + beyond / m) ** -m
            p_values[part] = np.where(beyond > 0, tail, as_high)
        return p_values


def _deviations(distances: Vector, frequencies: Vector) -> Vector:
    """Return distances against those of words of similar rank, in robust deviations."""
    from scipy.ndimage import median_filter

    order = np.argsort(frequencies, kind="stable")
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
