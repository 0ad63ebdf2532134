"""[fit] Self-learning: translate frequent words, take what is found as a dictionary, fit again.

    maps_0 = fit(dictionary),   induced_r = induce(maps_r),   maps_r+1 = fit(dictionary + induced_r)

Pairs are induced among the most frequent words of each language (see `induction`), first among few,
and once, at the end, among all. Mutual pairs are precise: the loop can run for as long as one
likes. The union of both directions gains in its first rounds and then collapses, unless it is
stopped in time.

The mean CSLS of the mutual pairs rises and flattens together with the precision, and ends the loop;
small dictionaries climb slowly, with pauses, so that one round without a rise is not yet the end.
Where dictionaries can spare words, rounds are judged by cross-fitting (see `cross_fit`). The first
is kept if it translates held-out words better than the plain fit by more than chance, two standard
errors, a further one if it is better than the one before; the loop ends with the first that is
not. So where the plain fit does as well, one round is all that is paid for it. The words of
dictionaries are frequent ones, which cannot say much about pairs of rare words: of the round among
all words they have a veto only, where they fall below the plain fit by more than chance.

Without a dictionary, `seeds` find pairs to begin with, which count as induced: every round drops
what the one before had induced. `recover` then tells whether the maps found translations at all.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import Matrix
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.fitting.confirmation import confirm
from geomm_plugin.fitting.cross_fit import MOST_FOLDS, CrossFit, Judgement, divide
from geomm_plugin.fitting.fit_report import ALL_DICTIONARIES, Choice, FitReport, RoundReport
from geomm_plugin.fitting.hub import HubMapper, used_pairs
from geomm_plugin.fitting.induction import Induced, Induction, induce, join_all, join_mutual
from geomm_plugin.fitting.recover import recover
from geomm_plugin.fitting.seeds import Language, as_seed
from geomm_plugin.fitting.start import find_start, hub_edges
from geomm_plugin.language_graph import LanguagePair
from geomm_plugin.mapper import LinearMapper, Pairs, Vectors
from geomm_plugin.parameters import AtLeast, Within

FIRST_WORDS = 10_000  # the vocabulary of all rounds but the last, six times as fast as the last
CHANCE_ERRORS = 2  # standard errors by which P@1 may rise or fall by chance
MIN_CSLS_GAIN = 5e-3  # of the highest mean so far, relative; a smaller rise counts as none
PATIENCE = 3  # rounds without a rise before a loop ends that no held-out words judge


@dataclass(frozen=True)
class Round:
    """The maps that were fitted to the dictionary and to what the maps before them induced."""

    maps: dict[str, Matrix]
    report: FitReport  # of that fit
    told: RoundReport
    judgement: Judgement | None  # by held-out words, where there are any


@dataclass(kw_only=True, eq=False, repr=False)
class SelfLearner(LinearMapper):
    """A method with self-learning around it: write learner(); the loop is given."""

    induction: Induction = "mutual"  # how pairs are found; "union" is the paper's
    vocabulary: Annotated[int, AtLeast(1)] = 25_000  # most frequent words to find pairs among
    max_rounds: Annotated[int, AtLeast(0)] = 30
    held_out: Annotated[float, Within(0, 0.5)] = 0.2  # part of the dictionary in each fold; 0: none
    seed: Annotated[int, AtLeast(0)] = 0  # of the folds
    seeds: tuple[str, ...] = ()  # in turn, instead of a dictionary: gromov_wasserstein, ...
    on_failure: Literal["error", "warn"] = "error"  # where seeds led to no translations

    @property
    def needs_dictionary(self) -> bool:
        """Seeds take the place of dictionaries."""
        return not self.seeds

    def instead(self) -> str:
        """Name the mapper that takes a dictionary."""
        return f"{self.name} without seeds"

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
        """Run the loop and keep its best maps; tell how far they are confirmed."""
        pairs = self._used(vectors, pairs)
        maps = self._best_maps(vectors, pairs, report)
        report.recover = {"-".join(edge): recover(vectors, maps, edge, self.seed) for edge in pairs}
        return maps

    def seed_pairs(
        self, words: Mapping[str, Sequence[str]], vectors: Vectors, report: FitReport
    ) -> Pairs:
        """Return what the seeds find between each language and the hub."""
        seeds = [as_seed(choice, seed=self.seed) for choice in self.seeds]
        languages = {name: Language(words[name], vectors[name]) for name in vectors}
        pairs: dict[LanguagePair, RowPairs] = {}
        for edge in hub_edges(languages, getattr(self, "hub", None)):
            both = {name: vectors[name] for name in edge}

            def fit(
                some: RowPairs, edge: LanguagePair = edge, both: Vectors = both
            ) -> tuple[Matrix, Matrix]:
                mapper = self.learner(both, {edge: some}, {}, True)
                maps = mapper.learn(both, {edge: some}, FitReport())
                return maps[edge[0]], maps[edge[1]]

            start = find_start(languages[edge[0]], languages[edge[1]], seeds, fit, self.seed)
            pairs[edge] = start.pairs
            report.seeds["-".join(edge)] = f"{start.seed}: {start.seed_pairs} pairs"
        return pairs

    def confirm(
        self,
        words: Mapping[str, Sequence[str]],
        vectors: Vectors,
        maps: Mapping[str, Matrix],
        report: FitReport,
    ) -> None:
        """Refuse (or warn of) maps that found no translations, as far as can be told."""
        languages = {name: Language(words[name], vectors[name]) for name in vectors}
        edges = hub_edges(languages, getattr(self, "hub", None))
        confirm(self.name, languages, maps, edges, report, self.on_failure)

    def _best_maps(self, vectors: Vectors, pairs: Pairs, report: FitReport) -> dict[str, Matrix]:
        folds = divide(pairs, self.held_out, self.seed, 1 if self.joint else MOST_FOLDS)
        cross_fit = CrossFit(vectors, folds) if folds and self.max_rounds else None
        plain = self._plain(vectors, pairs, cross_fit)
        rounds, report.kept_round = [plain], 0
        if self.max_rounds:
            rounds, report.kept_round = self._rounds(vectors, pairs, cross_fit, plain)
            report.rounds = [each.told for each in rounds]
        best = rounds[report.kept_round]
        report.adopt(best.report)
        if report.kept_round and best.told.regularization is not None:
            report.regularization.setdefault(ALL_DICTIONARIES, Choice(best.told.regularization))
        return best.maps

    def _used(self, vectors: Vectors, pairs: Pairs) -> Pairs:
        """Leave out dictionaries that the method would not look at."""
        first = self.learner(vectors, pairs, {}, False)
        if not isinstance(first, HubMapper):
            return pairs
        return used_pairs(self.name, *first.tree_to_hub(vectors, pairs), pairs)

    def _plain(self, vectors: Vectors, pairs: Pairs, cross_fit: CrossFit | None) -> Round:
        """Fit the dictionaries alone."""
        clock = time.process_time()
        report = FitReport()
        mapper = self.learner(vectors, pairs, {}, False)
        maps = mapper.learn(vectors, pairs, report)
        judgement = None
        if cross_fit is not None:
            training = [fold.train for fold in cross_fit.folds]
            judgement = cross_fit.judge(settled(mapper, report), training)
        return Round(maps, report, _told(None, mapper, judgement, clock), judgement)

    def _rounds(
        self, vectors: Vectors, pairs: Pairs, cross_fit: CrossFit | None, plain: Round
    ) -> tuple[list[Round], int]:
        """Induce and fit for as long as it pays; return the rounds, and which one is best."""
        rounds, best, highest, stalled = [plain], 0, -np.inf, 0
        first_words, all_words = self._vocabularies(vectors, pairs)
        patience = PATIENCE if cross_fit is None else 1
        with progress.task("Self-learning", total=self.max_rounds) as advance:
            while len(rounds) <= self.max_rounds:
                clock = time.process_time()
                induced = self._induce(vectors, pairs, rounds[-1], first_words)
                if cross_fit is None and induced.mean_csls >= highest:
                    best = len(rounds) - 1
                gain = induced.mean_csls - highest
                stalled = 0 if gain > MIN_CSLS_GAIN * abs(induced.mean_csls) else stalled + 1
                highest = max(highest, induced.mean_csls)
                if stalled >= patience:
                    break
                rounds.append(self._round(vectors, pairs, cross_fit, induced, clock))
                advance(1, note=f"mean CSLS {induced.mean_csls:.4f}")
                if not pays(rounds[-1], rounds[best], 0 if best else CHANCE_ERRORS):
                    break
                if cross_fit is not None:
                    best = len(rounds) - 1
            else:
                best = len(rounds) - 1  # the maps of the last round were not looked at
            if best and all_words > first_words and len(rounds) <= self.max_rounds:
                clock = time.process_time()
                induced = self._induce(vectors, pairs, rounds[best], all_words)
                rounds.append(self._round(vectors, pairs, cross_fit, induced, clock))
                advance(1, note=f"mean CSLS {induced.mean_csls:.4f}")
                if not falls(rounds[-1], plain):
                    best = len(rounds) - 1
        return rounds, best

    def _induce(self, vectors: Vectors, pairs: Pairs, last: Round, words: int) -> Induced:
        return induce(vectors, last.maps, list(pairs), words, self.induction)

    def _round(
        self,
        vectors: Vectors,
        pairs: Pairs,
        cross_fit: CrossFit | None,
        induced: Induced,
        clock: float,
    ) -> Round:
        """Fit the dictionaries and what was induced."""
        report = FitReport()
        joined = self._joined(pairs, induced.pairs)
        if cross_fit is None:
            mapper = self.learner(vectors, joined, {}, True)
            maps, judgement = mapper.learn(vectors, joined, report), None
        else:
            training = [
                self._joined(fold.train, fold.without_held_out(induced.pairs))
                for fold in cross_fit.folds
            ]
            mapper = self.learner(vectors, training[0], cross_fit.folds[0].held_out, True)
            maps = mapper.learn(vectors, joined, report)
            judgement = cross_fit.judge(mapper, training)
        return Round(maps, report, _told(induced, mapper, judgement, clock), judgement)

    def _vocabularies(self, vectors: Vectors, pairs: Pairs) -> tuple[int, int]:
        """Return how many words are translated, first and last."""
        largest = max(len(vectors[language]) for edge in pairs for language in edge)
        all_words = min(self.vocabulary, largest)
        return min(FIRST_WORDS, all_words), all_words

    def _joined(self, dictionary: Pairs, induced: Pairs) -> Pairs:
        join = join_mutual if self.induction == "mutual" else join_all
        return {edge: join(dictionary[edge].given(), induced[edge]) for edge in dictionary}


def pays(new: Round, best: Round, errors: float) -> bool:
    """Tell whether a round translates held-out words better, by more than some standard errors.

    Without such words it may go on.
    """
    if new.judgement is None or best.judgement is None:
        return True
    gain, error = new.judgement.gain(best.judgement)
    return gain > errors * error


def falls(new: Round, best: Round) -> bool:
    """Tell whether a round translates held-out words worse by more than chance."""
    if new.judgement is None or best.judgement is None:
        return False
    gain, error = new.judgement.gain(best.judgement)
    return gain < -CHANCE_ERRORS * error


def settled(mapper: LinearMapper, report: FitReport) -> LinearMapper:
    """Return the mapper with the lambda that it chose for its one dictionary, if it chose one."""
    choices = list(report.regularization.values())
    if mapper.get_params().get("regularization") != "auto" or len(choices) != 1:
        return mapper
    return mapper.clone().set_params(regularization=choices[0].value)


def _told(
    induced: Induced | None, mapper: LinearMapper, judgement: Judgement | None, clock: float
) -> RoundReport:
    regularization = mapper.get_params().get("regularization")
    return RoundReport(
        0 if induced is None else induced.words,
        0 if induced is None else len(induced),
        None if induced is None else induced.mean_csls,
        None if judgement is None else judgement.precision,
        None if isinstance(regularization, str) else regularization,
        round(time.process_time() - clock, 2),
    )
