"""[fit] Self-learning: translate frequent words, take what is found as a dictionary, fit again.

    maps_0 = fit(dictionary),   induced_r = induce(maps_r),   maps_r+1 = fit(dictionary + induced_r)

Two ways to induce, both by CSLS among the most frequent words of each language:

- `mutual`: the pairs of words that are each other's best translation, each labelled with its CSLS:
  what the maps are sure of counts more. Precise: the loop can run for as long as one likes.
- `union`: the best translation of every word, in both directions, as the paper does; a pair found
  twice counts twice. It gains in its first rounds and then collapses, unless it is stopped in time.

The mean CSLS of the mutual pairs says how good maps are without a dictionary: it rises and flattens
together with the precision, and ends the loop. Where the dictionary can spare words, some are held
out, and the maps that translate them best are kept: if these do not beat the plain fit by more than
the standard error of their lead, the result *is* the plain fit. The last fit is made with the whole
dictionary, the pairs behind the maps kept, and the parameters of that round: chosen again, on words
that are no longer held out, they would be those that learn by heart.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import (
    BLOCK_ROWS,
    Mask,
    Matrix,
    Vector,
)
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.fitting.held_out import Pool
from geomm_plugin.fitting.hub import HubMapper, used_pairs
from geomm_plugin.mapper import TIME, LinearMapper
from geomm_plugin.normalize import NormalizedVectors, unit
from geomm_plugin.parameters import AtLeast, Within
from geomm_plugin.retrieval import best_neighbors

FIRST_WORDS = 10_000  # the vocabulary of the first rounds, six times as fast as that of the last
SPARE_WORDS = 500  # source words that a dictionary must have before some are held out
LEAST = 1e-3  # CSLS that the label of an induced pair does not fall below
RISE = 5e-3  # of the mean CSLS in one round, relative; below, a vocabulary has told what it can

Vectors: TypeAlias = Mapping[str, NormalizedVectors]
Pairs: TypeAlias = Mapping[tuple[str, str], RowPairs]


@dataclass(frozen=True)
class Induced:
    """The pairs that maps find by themselves, and the mean CSLS of those that are mutual."""

    pairs: Pairs
    mean_csls: float


@dataclass(frozen=True)
class Round:
    """One round: the induced pairs behind its maps (none in the first), and how good these are."""

    words: int
    behind: Pairs | None
    mean_csls: float
    mapper: LinearMapper  # what was fitted
    right: Sequence[Mask] = ()  # which held-out words it translates, by dictionary and direction

    @property
    def precision(self) -> float | None:
        """P@1 of held-out words, if there are any: the mean over dictionaries and directions."""
        return float(np.mean([words.mean() for words in self.right])) if self.right else None

    @property
    def regularization(self) -> float | None:
        """The lambda that was given to the mapper, if it takes one number for all dictionaries."""
        value = self.mapper.get_params().get("regularization")
        return None if isinstance(value, str) else value

    def leads(self, other: Round) -> bool:
        """Tell whether it is better on the same held-out words by more than its standard error.

        The directions of a dictionary share their words, so their errors are not averaged out.
        """
        gains = [a.astype(float) - b for a, b in zip(self.right, other.right, strict=True)]
        errors = [gain.std() / np.sqrt(len(gain)) for gain in gains]
        return bool(np.mean([gain.mean() for gain in gains]) > np.mean(errors))

    def report(self, found: Pairs, seconds: float) -> dict[str, Any]:
        """Tell it as plain values."""
        return {
            "words": self.words,
            "pairs induced": sum(len(pairs) for pairs in found.values()),
            "mean csls": self.mean_csls,
            "held-out p@1": self.precision,
            **({} if self.regularization is None else {"regularization": self.regularization}),
            TIME: round(seconds, 2),
        }


@dataclass(kw_only=True, eq=False, repr=False)
class SelfLearner(LinearMapper):
    """A method with self-learning around it: write learner(); the loop is given."""

    induction: Literal["mutual", "union"] = "mutual"  # how pairs are found; "union" is the paper's
    vocabulary: Annotated[int, AtLeast(1)] = 25_000  # most frequent words to find pairs among
    max_rounds: Annotated[int, AtLeast(0)] = 30
    held_out: Annotated[float, Within(0, 0.5)] = 0.2  # part of the dictionary to judge rounds by
    seed: Annotated[int, AtLeast(0)] = 0  # of the held-out words

    @abstractmethod
    def learner(self, vectors: Vectors, pairs: Pairs, held: Pairs, induced: bool) -> LinearMapper:
        """Return the mapper that is to fit these pairs.

        Parameters
        ----------
        held
            Held-out pairs to choose parameters by; empty where there are none to spare.
        induced
            Whether induced pairs are among the pairs, or they are the plain dictionary.
        """

    def learn(self, vectors: Vectors, pairs: Pairs) -> dict[str, Matrix]:
        """Run the loop, keep its best maps, and fit once more with the whole dictionary."""
        pairs = self._used(vectors, pairs)
        train, held = divide(pairs, self.held_out, self.seed)
        rounds = self._rounds(vectors, train, held)
        kept = best_round(rounds)
        self.report_["kept round"] = kept
        if not kept:
            plain = self.learner(vectors, pairs, held, False)
            return self._fit(plain, vectors, pairs, self.report_)
        best = rounds[kept]
        if best.regularization is not None:
            self.report_["regularization"] = {
                "all dictionaries": {"chosen": best.regularization, "held-out p@1": {}}
            }
        return self._fit(best.mapper, vectors, self._joined(pairs, best.behind), self.report_)

    def _used(self, vectors: Vectors, pairs: Pairs) -> Pairs:
        """Leave out dictionaries that the method would not look at."""
        first = self.learner(vectors, pairs, {}, False)
        if not isinstance(first, HubMapper):
            return pairs
        return used_pairs(self.name, *first.tree_to_hub(vectors, pairs), pairs)

    def _rounds(self, vectors: Vectors, train: Pairs, held: Pairs) -> list[Round]:
        """Induce and fit until the mean CSLS rises no more, first among few words, then all."""
        pools = {(s, t): Pool(vectors[s], vectors[t], pairs) for (s, t), pairs in held.items()}
        rounds: list[Round] = []
        told: list[dict[str, Any]] = []
        self.report_["rounds"] = told
        if not self.max_rounds:
            return rounds
        behind: Pairs | None = None
        clock = time.process_time()
        mapper = self.learner(vectors, train, held, False)
        maps = self._fit(mapper, vectors, train, {})
        with progress.task("Self-learning", total=self.max_rounds) as advance:
            for words in self._vocabularies(vectors, train):
                last = -np.inf
                while True:
                    found = induce(vectors, maps, list(train), words, self.induction)
                    right = translated(pools, maps)
                    rounds.append(Round(words, behind, found.mean_csls, mapper, right))
                    told.append(rounds[-1].report(found.pairs, time.process_time() - clock))
                    clock = time.process_time()
                    flat = found.mean_csls - last <= RISE * abs(found.mean_csls)
                    if flat or len(rounds) > self.max_rounds:
                        break
                    last, behind = found.mean_csls, found.pairs
                    joined = self._joined(train, behind)
                    mapper = self.learner(vectors, joined, held, True)
                    maps = self._fit(mapper, vectors, joined, {})
                    advance(1, note=f"mean CSLS {found.mean_csls:.4f}")
        return rounds

    def _vocabularies(self, vectors: Vectors, pairs: Pairs) -> list[int]:
        """Return how many words are translated, first and then."""
        largest = max(len(vectors[language]) for edge in pairs for language in edge)
        all_words = min(self.vocabulary, largest)
        return sorted({min(FIRST_WORDS, all_words), all_words})

    def _joined(self, dictionary: Pairs, induced: Pairs | None) -> Pairs:
        if induced is None:
            return dictionary
        join = join_mutual if self.induction == "mutual" else join_all
        return {edge: join(dictionary[edge], induced[edge]) for edge in dictionary}

    @staticmethod
    def _fit(
        mapper: LinearMapper, vectors: Vectors, pairs: Pairs, report: dict[str, Any]
    ) -> dict[str, Matrix]:
        mapper.report_ = {}
        maps = mapper.learn(vectors, pairs)
        report.update(mapper.report_)
        return maps


def translated(pools: Mapping[tuple[str, str], Pool], maps: Mapping[str, Matrix]) -> list[Mask]:
    """Say which held-out words maps translate, by dictionary and direction."""
    return [right for (s, t), pool in pools.items() for right in pool.right(maps[s], maps[t])]


def best_round(rounds: Sequence[Round]) -> int:
    """Return the number of the round with the best maps; of equally good ones, the last.

    By held-out words where there are any, and then the first round, the plain fit, stays unless
    another one leads it; else by the mean CSLS among all words.
    """
    if not rounds:
        return 0
    numbers = range(len(rounds))
    if rounds[0].right:
        best = max(numbers, key=lambda number: (rounds[number].precision, number))
        return best if rounds[best].leads(rounds[0]) else 0
    last = [number for number in numbers if rounds[number].words == rounds[-1].words]
    return max(last, key=lambda number: (rounds[number].mean_csls, number))


def divide(pairs: Pairs, held_out: float, seed: int) -> tuple[Pairs, Pairs]:
    """Hold out a part of the source words of each dictionary that can spare them."""
    train, held = dict(pairs), {}
    random = np.random.default_rng(seed)
    for edge, found in pairs.items():
        words = np.unique(found.source)
        if len(words) >= SPARE_WORDS and held_out > 0:
            aside = random.permutation(words)[: max(1, round(held_out * len(words)))]
            chosen = np.isin(found.source, aside)
            train[edge] = found.take(np.flatnonzero(~chosen))
            held[edge] = found.take(np.flatnonzero(chosen))
    return train, held


def induce(
    vectors: Vectors,
    maps: Mapping[str, Matrix],
    edges: Sequence[tuple[str, str]],
    words: int,
    induction: Literal["mutual", "union"],
) -> Induced:
    """Translate the most frequent words of each pair of languages, in tiles, and pair them up."""
    languages = {language for edge in edges for language in edge}
    mapped = {name: _unit_rows(vectors[name], maps[name], words) for name in languages}
    pairs: dict[tuple[str, str], RowPairs] = {}
    means = []
    for source, target in edges:
        best = best_neighbors(mapped[source], mapped[target])
        rows, columns, scores = best.mutual()
        labels = soft_labels(scores) if induction == "mutual" else None
        if induction == "union":
            rows = np.concatenate([np.arange(len(best.forth)), best.back])
            columns = np.concatenate([best.forth, np.arange(len(best.back))])
        pairs[source, target] = RowPairs(rows, columns, labels=labels)
        means.append(float(scores.mean()) if len(scores) else -1.0)
    return Induced(pairs, float(np.mean(means)))


def soft_labels(scores: Vector) -> Vector:
    """Return labels in proportion to CSLS, 1 on average."""
    labels: Vector = np.maximum(scores, LEAST)
    return labels / labels.mean() if len(labels) else labels


def _unit_rows(vectors: NormalizedVectors, matrix: Matrix, words: int) -> Matrix:
    mapped = np.empty((min(words, len(vectors)), matrix.shape[1]), np.float32)
    narrow = matrix.astype(np.float32)
    for start in range(0, len(mapped), BLOCK_ROWS):
        part = slice(start, min(start + BLOCK_ROWS, len(mapped)))
        mapped[part] = unit(vectors[part] @ narrow)
    return mapped


def join_mutual(dictionary: RowPairs, induced: RowPairs) -> RowPairs:
    """Return the pairs of both, each once; those of the dictionary keep their label."""
    both = join_all(dictionary, induced)
    _, first = np.unique(np.stack([both.source, both.target]), axis=1, return_index=True)
    return both.take(first)


def join_all(dictionary: RowPairs, induced: RowPairs) -> RowPairs:
    """Return the pairs of both; what is found twice counts twice."""
    parts = (dictionary, induced)
    hard = all(part.labels is None for part in parts)
    return RowPairs(
        np.concatenate([part.source for part in parts]),
        np.concatenate([part.target for part in parts]),
        labels=None if hard else np.concatenate([part.label() for part in parts]),
        induced=np.arange(len(dictionary) + len(induced)) >= len(dictionary),
    )
