"""[fit] Self-learning: fit, translate frequent words, fit again with the pairs that were found.

    maps_0 = fit(dictionary),   maps_r+1 = fit(dictionary + induce(maps_r))

A search for pairs costs much more than a fit, so that a few rounds learn from what one search
listed: for as long as the mean CSLS of the mutual pairs rises. Where they raised it there is
another search, first among few words, then among all. Maps with a lower mean than those before are
dropped. Where dictionaries can spare words, cross-fitting (`held_out`) decides on the first round,
which must beat the plain fit on held-out words by more than chance, and has a veto on the last one.
`induction="paper"` is the loop of Jawanpuria et al. (TACL 2019) to the letter instead:
`published_loop`. Without a dictionary, `seeds` give pairs to begin with (`unsupervised`), which
count as induced. Measurements: docs, "Small dictionaries".
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Annotated, Literal, TypeAlias

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import Matrix
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.errors import DictionaryError
from geomm_plugin.fit_report import ALL_DICTIONARIES, Choice, FitReport, RoundReport
from geomm_plugin.fitting.held_out import (
    FEWEST_WORDS,
    MOST_FOLDS,
    CrossFit,
    Fold,
    HeldOutHits,
    divide,
)
from geomm_plugin.fitting.hub import HubMapper, used_pairs
from geomm_plugin.fitting.induction import (
    Induced,
    Induction,
    induce,
    join_all,
    join_mutual,
    rounds,
)
from geomm_plugin.fitting.seeds import Language, Seed, as_seed
from geomm_plugin.fitting.unsupervised import ConfirmedMapper, PairFit, seeded_pairs
from geomm_plugin.language_graph import LanguagePair
from geomm_plugin.mapper import LinearMapper, Pairs, Vectors
from geomm_plugin.registry.parameters import AtLeast, Within
from geomm_plugin.retrieval.both_ways import Shortlist

CHANCE_ERRORS = 2  # standard errors by which P@1 may rise or fall by chance
FIRST_WORDS = 10_000  # the vocabulary of all searches but the last, six times as fast as the last
ROUNDS_A_SEARCH = 3  # that learn from what it listed; in more of them maps only fit their lists
MIN_ROUND_GAIN = 5e-3  # of the mean CSLS from round to round, relative; a smaller rise is none
MIN_SEARCH_GAIN = 0.02  # by the rounds of one search, to be worth another

# From vectors, pairs, pairs held out to choose parameters by, and whether some pairs are induced.
Learner: TypeAlias = Callable[[Vectors, Pairs, Pairs, bool], LinearMapper]
OnRound: TypeAlias = Callable[[float], None]  # is called after each round with its mean CSLS


@dataclass(frozen=True)
class Fit:
    """The maps that were fitted to the dictionaries and to what the maps before them induced."""

    maps: dict[str, Matrix]
    report: FitReport  # of that fit
    summary: RoundReport
    induced: Induced | None = None  # none: the plain fit
    hits: HeldOutHits | None = None  # of held-out words, where there are any


@dataclass(eq=False)
class Fits:
    """Makes the fits of one loop: to the dictionaries alone, and then to what is induced, too.

    Parameters
    ----------
    cross_fit
        What judges fits; none where the dictionaries are too small.
    validation
        Pairs that choose the parameters, where nothing is cross-fitted.
    """

    learner: Learner
    vectors: Vectors
    pairs: Pairs
    induction: Induction
    cross_fit: CrossFit | None = None
    validation: Pairs = field(default_factory=dict)
    mapper: LinearMapper | None = None  # of induced pairs; its parameters are chosen once
    _clock: float = field(default_factory=time.process_time)  # when the last summary was made

    def plain(self) -> Fit:
        """Fit the dictionaries alone."""
        report = FitReport()
        mapper = self.learner(self.vectors, self.pairs, {}, False)
        maps = mapper.learn(self.vectors, self.pairs, report)
        hits = None
        if self.cross_fit is not None:
            training = [fold.train for fold in self.cross_fit.folds]
            hits = self.cross_fit.hits(with_chosen_regularization(mapper, report), training)
        return Fit(maps, report, self._summary(None, mapper, hits), None, hits)

    def learn(self, induced: Induced) -> Fit:
        """Fit the dictionaries and what was induced."""
        report, mapper = FitReport(), self._mapper_of(induced)
        maps = mapper.learn(self.vectors, self._joined(self.pairs, induced.pairs), report)
        learnt = replace(induced, listed={})  # lists are large, and of use to the next search only
        return Fit(maps, report, self._summary(induced, mapper, None), learnt)

    def induce(
        self, fit: Fit, words: int, listed: Mapping[LanguagePair, Shortlist | None] | None = None
    ) -> Induced:
        """Return what the maps of a fit find, by a search or among what an earlier one listed."""
        return induce(self.vectors, fit.maps, list(self.pairs), words, self.induction, listed)

    def judged(self, fit: Fit) -> Fit:
        """Judge a fit to induced pairs, where there are words to judge by."""
        if self.cross_fit is None or fit.induced is None or fit.hits is not None:
            return fit
        clock = time.process_time()
        hits = self.cross_fit.hits(self._mapper_of(fit.induced), self._training(fit.induced))
        seconds = (fit.summary.cpu_seconds or 0) + time.process_time() - clock
        summary = replace(
            fit.summary, held_out_precision=hits.precision, cpu_seconds=round(seconds, 2)
        )
        self._clock = time.process_time()
        return replace(fit, summary=summary, hits=hits)

    def _mapper_of(self, induced: Induced) -> LinearMapper:
        """Return the mapper of all rounds; held-out words choose its parameters in the first."""
        if self.mapper is None:
            aside, pairs = self.validation, self._joined(self.pairs, induced.pairs)
            if self.cross_fit is not None:
                aside, pairs = self.cross_fit.folds[0].held_out, self._training(induced)[0]
            self.mapper = self.learner(self.vectors, pairs, aside, True)
        return self.mapper

    def _training(self, induced: Induced) -> list[Pairs]:
        """Return what each fold is trained on."""
        folds = [] if self.cross_fit is None else self.cross_fit.folds
        return [self._joined(f.train, f.without_held_out(induced.pairs)) for f in folds]

    def _joined(self, dictionary: Pairs, induced: Pairs) -> Pairs:
        join = join_mutual if self.induction == "mutual" else join_all
        return {edge: join(dictionary[edge].given(), induced[edge]) for edge in dictionary}

    def _summary(
        self, induced: Induced | None, mapper: LinearMapper, hits: HeldOutHits | None
    ) -> RoundReport:
        regularization = mapper.get_params().get("regularization")
        start, self._clock = self._clock, time.process_time()
        return RoundReport(
            0 if induced is None else induced.words,
            0 if induced is None else len(induced),
            None if induced is None else induced.mean_csls,
            None if hits is None else hits.precision,
            None if isinstance(regularization, str) else regularization,
            round(self._clock - start, 2),
        )


class Loop:
    """Fits after the plain one, and which of them is kept: `fits[kept]`."""

    def __init__(self, make: Fits, max_rounds: int, on_round: OnRound):
        self.make = make
        self.max_rounds = max_rounds
        self.on_round = on_round
        self.fits: list[Fit] = [make.plain()]
        self.kept = 0
        self.is_over = not max_rounds

    def run(self, words: int) -> None:
        """Learn among few words, then among all that are asked for."""
        self._learn_among(min(words, FIRST_WORDS))
        if self.kept and words > FIRST_WORDS:
            self._learn_among(words)
        if self.kept > 1:
            self.fits[self.kept] = self.make.judged(self.fits[self.kept])
        if is_significant_loss(self.fits[self.kept], self.fits[0]):
            self.kept = 0

    def _learn_among(self, words: int) -> None:
        """Search and learn for as long as the rounds of a search raise the mean CSLS."""
        last, searched = self.kept, -np.inf
        while not self.is_over:
            induced = self.make.induce(self.fits[self.kept], words)
            if induced.mean_csls < searched:
                self.kept = last
                return
            last, searched = self.kept, induced.mean_csls
            if not rises(self._learn_from(induced), searched, MIN_SEARCH_GAIN):
                return

    def _learn_from(self, induced: Induced) -> float:
        """Learn from one search for as long as the mean CSLS of what it listed rises; return it."""

        def among_the_listed(fit: Fit) -> Induced:
            return self.make.induce(fit, induced.words, induced.listed)

        for number, each in enumerate(rounds(induced, self._learn, among_the_listed), 1):
            last = each.pairs.mean_csls
            if self.is_over or number == ROUNDS_A_SEARCH:
                break
            if each.found.mean_csls < last:
                self.kept -= 1
            if not rises(each.found.mean_csls, last, MIN_ROUND_GAIN):
                return each.found.mean_csls
        return last

    def _learn(self, induced: Induced) -> Fit:
        """Add the next fit; the first must beat the plain one on held-out words."""
        new, is_first = self.make.learn(induced), len(self.fits) == 1
        new = self.make.judged(new) if is_first else new
        self.fits.append(new)
        self.is_over = len(self.fits) > self.max_rounds
        if is_first and not is_significant_gain(new, self.fits[0]):
            self.is_over = True
        else:
            self.kept = len(self.fits) - 1
        self.on_round(induced.mean_csls)
        return new


def published_loop(
    make: Fits, pairs: Pairs, words: int, max_rounds: int, on_round: OnRound
) -> tuple[list[Fit], int, Fit]:
    """Return the fits of the paper's loop, which of them is best, and the fit that it ends with.

    A fit to the seed (80 % of each dictionary) induces the best translations of the most frequent
    words in both directions, by CSLS; the next is fitted to the seed joined with these. The loop
    ends when P@1 on the other 20 % no longer rises. Last, the induced pairs of the best fit are
    joined with the whole dictionaries and fitted once more.

    Parameters
    ----------
    make
        Fits to the seed, with the other words as `validation`.
    pairs
        The whole dictionaries.
    """

    def fit(induced: Induced | None) -> Fit:
        return make.plain() if induced is None else make.learn(induced)

    def found(last: Fit) -> Induced | None:
        return make.induce(last, words)

    fits: list[Fit] = []
    best, kept = -1.0, 0
    for each in islice(rounds(None, fit, found), max_rounds + 1):
        precision = translated_share(each.found, make.validation)
        summary = replace(each.maps.summary, held_out_precision=precision)
        fits.append(replace(each.maps, summary=summary))
        if each.pairs is not None:
            on_round(each.pairs.mean_csls)
        if not precision > best:
            break
        best, kept = precision, len(fits) - 1
    whole = Fits(make.learner, make.vectors, pairs, make.induction, mapper=make.mapper)
    induced = fits[kept].induced
    return fits, kept, whole.plain() if induced is None else whole.learn(induced)


def translated_share(induced: Induced | None, validation: Pairs) -> float:
    """Return P@1 of induced pairs on the source words of other ones that were translated at all."""
    hits: list[bool] = []
    for edge, own in validation.items():
        best = np.empty(0, np.intp) if induced is None else induced.best[edge]
        own = own.take(np.flatnonzero(own.source < len(best)))
        words, word_of_pair = np.unique(own.source, return_inverse=True)
        is_right = np.zeros(len(words), bool)
        np.logical_or.at(is_right, word_of_pair, best[own.source] == own.target)
        hits += is_right.tolist()
    return float(np.mean(hits)) if hits else 0.0


def is_significant_gain(new: Fit, plain: Fit) -> bool:
    """Return True if a fit beats the plain one on held-out words by more than chance.

    Without such words the loop may go on.
    """
    if new.hits is None or plain.hits is None:
        return True
    gain, error = new.hits.gain(plain.hits)
    return gain > CHANCE_ERRORS * error


def is_significant_loss(new: Fit, plain: Fit) -> bool:
    """Return True if a fit falls below the plain one on held-out words by more than chance."""
    if new.hits is None or plain.hits is None:
        return False
    gain, error = new.hits.gain(plain.hits)
    return gain < -CHANCE_ERRORS * error


def with_chosen_regularization(mapper: LinearMapper, report: FitReport) -> LinearMapper:
    """Return the mapper with the lambda that it chose for its one dictionary, if it chose one."""
    choices = list(report.regularization.values())
    if mapper.get_params().get("regularization") != "auto" or len(choices) != 1:
        return mapper
    return mapper.clone().set_params(regularization=choices[0].value)


def rises(mean: float, last: float, share: float) -> bool:
    """Return True if a mean CSLS is higher than another by more than some share of itself."""
    return mean - last > share * abs(mean)


@dataclass(kw_only=True, eq=False, repr=False)
class SelfLearner(ConfirmedMapper):
    """A method with self-learning around it: write learner(); the loop is given."""

    # how pairs are found; "union": both directions; "paper": union, ended by validation words
    induction: Literal["mutual", "union", "paper"] = "mutual"
    vocabulary: Annotated[int, AtLeast(1)] = 25_000  # most frequent words to find pairs among
    max_rounds: Annotated[int, AtLeast(0)] = 60
    held_out: Annotated[float, Within(0, 0.5)] = 0.2  # part of the dictionary in each fold; 0: none
    seed: Annotated[int, AtLeast(0)] = 0  # of the folds
    seeds: tuple[str, ...] = ()  # in turn, instead of a dictionary: gromov_wasserstein, ...
    on_failure: Literal["error", "warn"] = "error"  # where seeds led to no translations

    @property
    def needs_dictionary(self) -> bool:
        """Seeds take the place of dictionaries."""
        return not self.seeds

    def supervised_counterpart(self) -> str:
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
        """Run the loop and keep its best maps; report how far induced pairs confirm them."""
        pairs = self._used(vectors, pairs)
        maps = self._best_maps(vectors, pairs, report)
        if report.kept_round or not self.needs_dictionary:
            self.report_agreement(vectors, maps, pairs, report, self.seed)
        return maps

    def starts(self) -> list[Seed]:
        """Return the seeds, to be tried in turn."""
        return [as_seed(choice, seed=self.seed) for choice in self.seeds]

    def seed_pairs(
        self, words: Mapping[str, Sequence[str]], vectors: Vectors, report: FitReport
    ) -> Pairs:
        """Return what the seeds find between each language and the hub."""
        languages = {name: Language(words[name], vectors[name]) for name in vectors}

        def own_maps(edge: LanguagePair) -> PairFit:
            both = {name: vectors[name] for name in edge}

            def fit(some: RowPairs) -> tuple[Matrix, Matrix]:
                mapper = self.learner(both, {edge: some}, {}, True)
                maps = mapper.learn(both, {edge: some}, FitReport())
                return maps[edge[0]], maps[edge[1]]

            return fit

        return seeded_pairs(languages, self.hub, self.starts(), own_maps, self.seed, report)

    def _best_maps(self, vectors: Vectors, pairs: Pairs, report: FitReport) -> dict[str, Matrix]:
        largest = max(len(vectors[language]) for edge in pairs for language in edge)
        words = min(self.vocabulary, largest)
        with progress.task("Self-learning", self.max_rounds, "rounds") as advance:

            def on_round(mean: float) -> None:
                advance(1, note=f"mean CSLS {mean:.4f}")

            if self.induction == "paper" and self.max_rounds:
                fold = self._validation(pairs)
                make = Fits(self.learner, vectors, fold.train, "union", validation=fold.held_out)
                fits, kept, best = published_loop(make, pairs, words, self.max_rounds, on_round)
            else:
                folds = divide(pairs, self.held_out, self.seed, 1 if self.joint else MOST_FOLDS)
                cross_fit = CrossFit(vectors, folds) if folds and self.max_rounds else None
                how: Induction = "mutual" if self.induction == "mutual" else "union"
                make = Fits(self.learner, vectors, pairs, how, cross_fit)
                loop = Loop(make, self.max_rounds, on_round)
                loop.run(words)
                fits, kept, best = loop.fits, loop.kept, loop.fits[loop.kept]
        report.kept_round = kept
        report.rounds = [each.summary for each in fits] if self.max_rounds else []
        report.adopt(best.report)
        if kept and best.summary.regularization is not None:
            report.regularization.setdefault(
                ALL_DICTIONARIES, Choice(best.summary.regularization, {})
            )
        return best.maps

    def _validation(self, pairs: Pairs) -> Fold:
        """Return the seed and the validation words of the paper's loop."""
        folds = divide(pairs, self.held_out, self.seed, 1, spare=FEWEST_WORDS)
        if not folds:
            raise DictionaryError(
                f"{self.name} with induction='paper' ends by words that are held out of the "
                f"dictionaries; held_out is {self.held_out:g}, and a dictionary needs "
                f"{FEWEST_WORDS} source words. Use induction='mutual', which needs none."
            )
        return folds[0]

    def _used(self, vectors: Vectors, pairs: Pairs) -> Pairs:
        """Leave out dictionaries that the method would not look at."""
        first = self.learner(vectors, pairs, {}, False)
        if not isinstance(first, HubMapper):
            return pairs
        return used_pairs(self.name, *first.tree_to_hub(vectors, pairs), pairs)
