"""[fit] Self-learning: fit, translate frequent words, fit again with the pairs that were found.

    maps_0 = fit(dictionary),   maps_r+1 = fit(dictionary + induce(maps_r))

A search for pairs costs much more than a fit, so that a few rounds learn from what one search
listed, for as long as the mean CSLS of the mutual pairs rises; then there is another search, first
among few words, then among all. Where dictionaries can spare words, cross-fitting (`held_out`)
decides on the first round, and has a veto on the last one. `published_loop` is that of Jawanpuria
et al. (TACL 2019) to the letter. Without a dictionary, `seeds` give pairs to begin with
(`unsupervised`), which count as induced. Measurements: docs, "Small dictionaries".
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Literal, TypeAlias

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
    HeldOutHits,
    by_word,
    divide,
)
from geomm_plugin.fitting.hub import HubMapper, used_pairs
from geomm_plugin.fitting.induction import Induced, Induction, induce, join_all, join_mutual, rounds
from geomm_plugin.fitting.unsupervised import PairFit, UnsupervisedMapper
from geomm_plugin.language_graph import LanguagePair
from geomm_plugin.mapper import LinearMapper, Pairs, Vectors
from geomm_plugin.registry.parameters import AtLeast, Within
from geomm_plugin.retrieval.both_ways import Shortlist

# From vectors, pairs, and pairs held out to choose parameters by (see `SelfLearner.learner`).
Learner: TypeAlias = Callable[[Vectors, Pairs, Pairs | None], LinearMapper]
OnRound: TypeAlias = Callable[[float], None]  # is called after each round with its mean CSLS


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How the loop goes on, and what is a gain to it."""

    first_words: int = 10_000  # of all searches but the last, six times as fast as the last
    rounds_a_search: int = 3  # that learn from what it listed; in more, maps only fit their lists
    min_round_gain: float = 5e-3  # of the mean CSLS from round to round, relative
    min_search_gain: float = 0.02  # by the rounds of one search, to be worth another
    chance_errors: float = 2  # standard errors by which P@1 may rise or fall by chance


PACE = Pace()


@dataclass(frozen=True)
class Fit:
    """The maps that were fitted to the dictionaries and to what the maps before them induced."""

    maps: dict[str, Matrix]
    report: FitReport  # of that fit
    summary: RoundReport
    induced: Induced | None = None  # none: the plain fit
    hits: HeldOutHits | None = None  # of held-out words, where there are any

    def with_hits(self, hits: HeldOutHits) -> Fit:
        """Return the fit, judged."""
        summary = replace(self.summary, held_out_precision=hits.precision)
        return replace(self, summary=summary, hits=hits)


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
    _clock: float = field(default_factory=time.process_time)  # when the last fit was done

    def plain(self) -> Fit:
        """Fit the dictionaries alone, and judge the fit where there are words to judge by."""
        mapper = self.learner(self.vectors, self.pairs, None)
        fit = self._fit(mapper, self.pairs, None)
        if self.cross_fit is None:
            return fit
        training = [fold.train for fold in self.cross_fit.folds]
        chosen = with_chosen_regularization(mapper, fit.report)
        return fit.with_hits(self.cross_fit.hits(chosen, training))

    def learn(self, induced: Induced) -> Fit:
        """Fit the dictionaries and what was induced."""
        joined = self._joined(self.pairs, induced.pairs)
        return self._fit(self._mapper_of(induced), joined, induced)

    def induce(
        self, fit: Fit, words: int, listed: Mapping[LanguagePair, Shortlist | None] | None = None
    ) -> Induced:
        """Return what the maps of a fit find, by a search or among what an earlier one listed."""
        return induce(self.vectors, fit.maps, list(self.pairs), words, self.induction, listed)

    def judged(self, fit: Fit) -> Fit:
        """Judge a fit to induced pairs, where there are words to judge by."""
        if self.cross_fit is None or fit.induced is None or fit.hits is not None:
            return fit
        mapper, training = self._mapper_of(fit.induced), self._training(fit.induced)
        return fit.with_hits(self.cross_fit.hits(mapper, training))

    def _mapper_of(self, induced: Induced) -> LinearMapper:
        """Return the mapper of all rounds; held-out words choose its parameters in the first."""
        if self.mapper is None:
            aside, pairs = self.validation, self._joined(self.pairs, induced.pairs)
            if self.cross_fit is not None:
                aside, pairs = self.cross_fit.folds[0].held_out, self._training(induced)[0]
            self.mapper = self.learner(self.vectors, pairs, aside)
        return self.mapper

    def _training(self, induced: Induced) -> list[Pairs]:
        """Return what each fold is trained on."""
        folds = [] if self.cross_fit is None else self.cross_fit.folds
        return [self._joined(f.train, f.without_held_out(induced.pairs)) for f in folds]

    def _joined(self, dictionary: Pairs, induced: Pairs) -> Pairs:
        join = join_mutual if self.induction == "mutual" else join_all
        return {edge: join(dictionary[edge].given(), induced[edge]) for edge in dictionary}

    def _fit(self, mapper: LinearMapper, pairs: Pairs, induced: Induced | None) -> Fit:
        report = FitReport()
        maps = mapper.learn(self.vectors, pairs, report)
        regularization = mapper.get_params().get("regularization")
        start, self._clock = self._clock, time.process_time()
        summary = RoundReport(
            0 if induced is None else induced.words,
            0 if induced is None else len(induced),
            None if induced is None else induced.mean_csls,
            regularization=None if isinstance(regularization, str) else regularization,
            cpu_seconds=round(self._clock - start, 2),
        )
        # Lists are large, and of use to the next search only.
        return Fit(maps, report, summary, induced and replace(induced, listed={}))


class Loop:
    """Fits after the plain one, and which of them is kept: `fits[kept]`."""

    def __init__(self, make: Fits, max_rounds: int, on_round: OnRound, pace: Pace = PACE):
        self.make = make
        self.pace = pace
        self.max_rounds = max_rounds
        self.on_round = on_round
        self.fits: list[Fit] = [make.plain()]
        self.kept = 0
        self.is_over = not max_rounds

    def run(self, words: int) -> None:
        """Learn among few words, then among all that are asked for."""
        self._learn_among(min(words, self.pace.first_words))
        if self.kept and words > self.pace.first_words:
            self._learn_among(words)
        if self.kept > 1:
            self.fits[self.kept] = self.make.judged(self.fits[self.kept])
        if self._change(self.fits[self.kept]) < 0:
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
            if not rises(self._learn_from(induced), searched, self.pace.min_search_gain):
                return

    def _learn_from(self, induced: Induced) -> float:
        """Learn from one search for as long as the mean CSLS of what it listed rises; return it."""

        def among_the_listed(fit: Fit) -> Induced:
            return self.make.induce(fit, induced.words, induced.listed)

        for number, each in enumerate(rounds(induced, self._learn, among_the_listed), 1):
            last = each.pairs.mean_csls
            if self.is_over or number == self.pace.rounds_a_search:
                break
            if each.found.mean_csls < last:
                self.kept -= 1
            if not rises(each.found.mean_csls, last, self.pace.min_round_gain):
                return each.found.mean_csls
        return last

    def _learn(self, induced: Induced) -> Fit:
        """Add the next fit; the first must beat the plain one on held-out words."""
        new, is_first = self.make.learn(induced), len(self.fits) == 1
        new = self.make.judged(new) if is_first else new
        self.fits.append(new)
        self.is_over = len(self.fits) > self.max_rounds
        if is_first and self._change(new) < 1:
            self.is_over = True
        else:
            self.kept = len(self.fits) - 1
        self.on_round(induced.mean_csls)
        return new

    def _change(self, new: Fit) -> int:
        """Return whether a fit gains (1) or loses (-1) against the plain one beyond chance."""
        return change_beyond_chance(new, self.fits[0], self.pace.chance_errors)


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

    def fit_to(make: Fits, induced: Induced | None) -> Fit:
        return make.plain() if induced is None else make.learn(induced)

    fits: list[Fit] = []
    best, kept, induced = -1.0, 0, None
    while len(fits) <= max_rounds:
        fit = fit_to(make, induced)
        if induced is not None:
            on_round(induced.mean_csls)
        induced = make.induce(fit, words)
        precision = translated_share(induced, make.validation)
        fits.append(replace(fit, summary=replace(fit.summary, held_out_precision=precision)))
        if not precision > best:
            break
        best, kept = precision, len(fits) - 1
    return fits, kept, fit_to(replace(make, pairs=pairs), fits[kept].induced)


def translated_share(induced: Induced, validation: Pairs) -> float:
    """Return P@1 of induced pairs on the source words of other ones that were translated at all."""
    hits: list[bool] = []
    for edge, own in validation.items():
        best = induced.best[edge]
        own = own.take(np.flatnonzero(own.source < len(best)))
        hits += by_word(own.source, best[own.source] == own.target).tolist()
    return float(np.mean(hits)) if hits else 0.0


def change_beyond_chance(new: Fit, plain: Fit, errors: float = PACE.chance_errors) -> int:
    """Return 1 if a fit beats the plain one on held-out words by more than chance, -1 if it falls.

    0 is within chance. Without such words the loop may go on, as if it had gained.
    """
    if new.hits is None or plain.hits is None:
        return 1
    gain, error = new.hits.gain(plain.hits)
    return int(np.sign(gain)) if abs(gain) > errors * error else 0


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
class SelfLearner(UnsupervisedMapper):
    """A method with self-learning around it: write learner(); the loop is given."""

    supervised: ClassVar[str] = "the same without seeds"
    pace: ClassVar[Pace] = PACE

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

    @abstractmethod
    def learner(self, vectors: Vectors, pairs: Pairs, held_out: Pairs | None) -> LinearMapper:
        """Return the mapper that is to fit these pairs.

        Parameters
        ----------
        held_out
            Pairs to choose parameters by, where induced pairs are among those to fit; empty where
            there are none to spare. None for the plain dictionaries.
        """

    def learn(self, vectors: Vectors, pairs: Pairs, report: FitReport) -> dict[str, Matrix]:
        """Run the loop and keep its best maps; report how far induced pairs confirm them."""
        first = self.learner(vectors, pairs, None)
        if isinstance(first, HubMapper):  # it would not look at the other dictionaries
            pairs = used_pairs(self.name, *first.tree_to_hub(vectors, pairs), pairs)
        largest = max(len(vectors[language]) for edge in pairs for language in edge)
        with progress.task("Self-learning", self.max_rounds, "rounds") as advance:

            def on_round(mean: float) -> None:
                advance(1, note=f"mean CSLS {mean:.4f}")

            words = min(self.vocabulary, largest)
            fits, kept, best = self._loop(vectors, pairs, words, on_round)
        report.kept_round = kept
        report.rounds = [each.summary for each in fits] if self.max_rounds else []
        report.adopt(best.report)
        if (hits := fits[kept].hits) is not None:
            report.held_out = {ALL_DICTIONARIES: hits.summary()}
        if kept and best.summary.regularization is not None:
            report.regularization.setdefault(
                ALL_DICTIONARIES, Choice(best.summary.regularization, {})
            )
        if kept and self.needs_dictionary:
            self.report_agreement(vectors, best.maps, pairs, report)
        return best.maps

    def own_maps(self, vectors: Vectors) -> PairFit:
        """Return what fits the method's own maps of two languages to some pairs."""
        source, target = vectors

        def fit(pairs: RowPairs) -> tuple[Matrix, Matrix]:
            both = {(source, target): pairs}
            maps = self.learner(vectors, both, {}).learn(vectors, both, FitReport())
            return maps[source], maps[target]

        return fit

    def _loop(
        self, vectors: Vectors, pairs: Pairs, words: int, on_round: OnRound
    ) -> tuple[list[Fit], int, Fit]:
        """Return the fits of the loop, which of them is kept, and the fit that it ends with."""
        if self.induction == "paper" and self.max_rounds:
            folds = divide(pairs, self.held_out, self.seed, 1, spare=FEWEST_WORDS)
            if not folds:
                raise DictionaryError(
                    f"{self.name} with induction='paper' ends by words that are held out of the "
                    f"dictionaries; held_out is {self.held_out:g}, and a dictionary needs "
                    f"{FEWEST_WORDS} source words. Use induction='mutual', which needs none."
                )
            seed, aside = folds[0].train, folds[0].held_out
            make = Fits(self.learner, vectors, seed, "union", validation=aside)
            return published_loop(make, pairs, words, self.max_rounds, on_round)
        folds = divide(pairs, self.held_out, self.seed, 1 if self.joint else MOST_FOLDS)
        cross_fit = CrossFit(vectors, folds) if folds and self.max_rounds else None
        how: Induction = "mutual" if self.induction == "mutual" else "union"
        make = Fits(self.learner, vectors, pairs, how, cross_fit)
        loop = Loop(make, self.max_rounds, on_round, self.pace)
        loop.run(words)
        return loop.fits, loop.kept, loop.fits[loop.kept]
