"""[fit] Self-learning: translate frequent words, take what is found as a dictionary, fit again.

    maps_0 = fit(dictionary),   induced_r = induce(maps_r),   maps_r+1 = fit(dictionary + induced_r)

Pairs are induced among the most frequent words of each language (see `induction`). Mutual pairs are
precise: the loop can run for as long as one likes. The union of both directions gains in its first
rounds and then collapses, unless it is stopped in time.

The mean CSLS of the mutual pairs rises and flattens together with the precision, and ends the loop.
Where the dictionary can spare words, some are held out, and the maps that translate them best are
kept: if these do not beat the plain fit by more than the standard error of their lead, the result
*is* the plain fit. The last fit is made with the whole dictionary, the pairs that these maps were
trained on, and the parameters of that round: chosen again, on words that are no longer held out,
they would be those that learn by heart.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import Mask, Matrix
from geomm_plugin.fitting.fit_report import ALL_DICTIONARIES, Choice, FitReport, RoundReport
from geomm_plugin.fitting.held_out import Pool
from geomm_plugin.fitting.hub import HubMapper, used_pairs
from geomm_plugin.fitting.induction import Induced, Induction, induce, join_all, join_mutual
from geomm_plugin.language_graph import LanguagePair
from geomm_plugin.mapper import LinearMapper, Pairs, Vectors
from geomm_plugin.parameters import AtLeast, Within

FIRST_WORDS = 10_000  # the vocabulary of the first rounds, six times as fast as that of the last
SPARE_WORDS = 500  # source words that a dictionary must have before some are held out
MIN_CSLS_GAIN = 5e-3  # of the mean in one round, relative; below, a vocabulary gives no more


@dataclass(frozen=True)
class Round:
    """One round: what its maps were trained on, and how good they are."""

    words: int
    trained_on: Pairs | None  # induced pairs, beside the dictionary; none in the first round
    mean_csls: float
    mapper: LinearMapper  # what was fitted
    is_correct: Sequence[Mask] = ()  # held-out words it translates, by dictionary and direction

    @property
    def precision(self) -> float | None:
        """P@1 of held-out words, if there are any: the mean over dictionaries and directions."""
        if not self.is_correct:
            return None
        return float(np.mean([words.mean() for words in self.is_correct]))

    @property
    def regularization(self) -> float | None:
        """The lambda that was given to the mapper, if it takes one number for all dictionaries."""
        value = self.mapper.get_params().get("regularization")
        return None if isinstance(value, str) else value

    def leads(self, other: Round) -> bool:
        """Tell whether it is better on the same held-out words by more than its standard error.

        The directions of a dictionary share their words, so their errors are not averaged out.
        """
        gains = [
            a.astype(float) - b for a, b in zip(self.is_correct, other.is_correct, strict=True)
        ]
        errors = [gain.std() / np.sqrt(len(gain)) for gain in gains]
        return bool(np.mean([gain.mean() for gain in gains]) > np.mean(errors))

    def report(self, induced: Induced, seconds: float) -> RoundReport:
        """Tell it without its pairs and maps."""
        return RoundReport(
            self.words,
            len(induced),
            self.mean_csls,
            self.precision,
            self.regularization,
            round(seconds, 2),
        )


@dataclass(kw_only=True, eq=False, repr=False)
class SelfLearner(LinearMapper):
    """A method with self-learning around it: write learner(); the loop is given."""

    induction: Induction = "mutual"  # how pairs are found; "union" is the paper's
    vocabulary: Annotated[int, AtLeast(1)] = 25_000  # most frequent words to find pairs among
    max_rounds: Annotated[int, AtLeast(0)] = 30
    held_out: Annotated[float, Within(0, 0.5)] = 0.2  # part of the dictionary to judge rounds by
    seed: Annotated[int, AtLeast(0)] = 0  # of the held-out words

    @abstractmethod
    def learner(
        self, vectors: Vectors, pairs: Pairs, held_out: Pairs, induced: bool
    ) -> LinearMapper:
        """Return the mapper that is to fit these pairs.

        Parameters
        ----------
        held_out
            Pairs to choose parameters by; empty where there are none to spare.
        induced
            Whether induced pairs are among the pairs, or they are the plain dictionary.
        """

    def learn(self, vectors: Vectors, pairs: Pairs, report: FitReport) -> dict[str, Matrix]:
        """Run the loop, keep its best maps, and fit once more with the whole dictionary."""
        pairs = self._used(vectors, pairs)
        train, held_out = divide(pairs, self.held_out, self.seed)
        rounds = self._rounds(vectors, train, held_out, report)
        report.kept_round = best_round(rounds)
        if not report.kept_round:
            return self.learner(vectors, pairs, held_out, False).learn(vectors, pairs, report)
        best = rounds[report.kept_round]
        if best.regularization is not None:
            report.regularization[ALL_DICTIONARIES] = Choice(best.regularization)
        return best.mapper.learn(vectors, self._joined(pairs, best.trained_on), report)

    def _used(self, vectors: Vectors, pairs: Pairs) -> Pairs:
        """Leave out dictionaries that the method would not look at."""
        first = self.learner(vectors, pairs, {}, False)
        if not isinstance(first, HubMapper):
            return pairs
        return used_pairs(self.name, *first.tree_to_hub(vectors, pairs), pairs)

    def _rounds(
        self, vectors: Vectors, train: Pairs, held_out: Pairs, report: FitReport
    ) -> list[Round]:
        """Induce and fit until the mean CSLS rises no more, first among few words, then all."""
        pools = {(s, t): Pool(vectors[s], vectors[t], pairs) for (s, t), pairs in held_out.items()}
        rounds: list[Round] = []
        if not self.max_rounds:
            return rounds
        trained_on: Pairs | None = None
        clock = time.process_time()
        mapper = self.learner(vectors, train, held_out, False)
        maps = mapper.learn(vectors, train, FitReport())
        with progress.task("Self-learning", total=self.max_rounds) as advance:
            for words in self._vocabularies(vectors, train):
                last = -np.inf
                while True:
                    induced = induce(vectors, maps, list(train), words, self.induction)
                    mean_csls = induced.mean_csls
                    is_correct = translated(pools, maps)
                    rounds.append(Round(words, trained_on, mean_csls, mapper, is_correct))
                    report.rounds.append(rounds[-1].report(induced, time.process_time() - clock))
                    clock = time.process_time()
                    is_flat = mean_csls - last <= MIN_CSLS_GAIN * abs(mean_csls)
                    if is_flat or len(rounds) > self.max_rounds:
                        break
                    last, trained_on = mean_csls, induced.pairs
                    joined = self._joined(train, trained_on)
                    mapper = self.learner(vectors, joined, held_out, True)
                    maps = mapper.learn(vectors, joined, FitReport())
                    advance(1, note=f"mean CSLS {mean_csls:.4f}")
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


def translated(pools: Mapping[LanguagePair, Pool], maps: Mapping[str, Matrix]) -> list[Mask]:
    """Say which held-out words maps translate, by dictionary and direction."""
    return [mask for (s, t), pool in pools.items() for mask in pool.correct(maps[s], maps[t])]


def best_round(rounds: Sequence[Round]) -> int:
    """Return the number of the round with the best maps; of equally good ones, the last.

    By held-out words where there are any, and then the first round, the plain fit, stays unless
    another one leads it; else by the mean CSLS among all words.
    """
    if not rounds:
        return 0
    numbers = range(len(rounds))
    if rounds[0].is_correct:
        best = max(numbers, key=lambda number: (rounds[number].precision, number))
        return best if rounds[best].leads(rounds[0]) else 0
    last = [number for number in numbers if rounds[number].words == rounds[-1].words]
    return max(last, key=lambda number: (rounds[number].mean_csls, number))


def divide(pairs: Pairs, held_out: float, seed: int) -> tuple[Pairs, Pairs]:
    """Hold out a part of the source words of each dictionary that can spare them."""
    train, aside = dict(pairs), {}
    random = np.random.default_rng(seed)
    for edge, whole in pairs.items():
        words = np.unique(whole.source)
        if len(words) >= SPARE_WORDS and held_out > 0:
            chosen = random.permutation(words)[: max(1, round(held_out * len(words)))]
            is_chosen = np.isin(whole.source, chosen)
            train[edge] = whole.take(np.flatnonzero(~is_chosen))
            aside[edge] = whole.take(np.flatnonzero(is_chosen))
    return train, aside
