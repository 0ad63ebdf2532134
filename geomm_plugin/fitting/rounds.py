"""[fit] Rounds of self-learning: a fit to the dictionaries and to what the maps before it induced.

    maps_0 = fit(dictionary),   maps_r+1 = fit(dictionary + induced_r)

A round can be judged: by words of the dictionaries that are held out of it, in turn (see
`cross_fit`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from geomm_plugin.arrays import Matrix
from geomm_plugin.fit_report import FitReport, RoundReport
from geomm_plugin.fitting.cross_fit import CrossFit, Judgement
from geomm_plugin.fitting.induction import Induced, Induction, join_all, join_mutual
from geomm_plugin.mapper import LinearMapper, Pairs, Vectors

CHANCE_ERRORS = 2  # standard errors by which P@1 may rise or fall by chance

# From vectors, pairs, pairs held out to choose parameters by, and whether some pairs are induced.
Learner: TypeAlias = Callable[[Vectors, Pairs, Pairs, bool], LinearMapper]


@dataclass(frozen=True)
class Round:
    """The maps that were fitted to the dictionary and to what the maps before them induced."""

    maps: dict[str, Matrix]
    report: FitReport  # of that fit
    told: RoundReport
    induced: Induced | None = None  # none: the plain fit
    judgement: Judgement | None = None  # by held-out words, where there are any


@dataclass(eq=False)
class Rounds:
    """The fits of one loop: of the dictionaries alone, and then of what is induced, too.

    Parameters
    ----------
    cross_fit
        What judges rounds; none where the dictionaries are too small.
    """

    learner: Learner
    vectors: Vectors
    pairs: Pairs
    induction: Induction
    cross_fit: CrossFit | None
    _mapper: LinearMapper | None = None  # of induced pairs; its parameters are chosen once

    def plain(self) -> Round:
        """Fit the dictionaries alone."""
        clock = time.process_time()
        report = FitReport()
        mapper = self.learner(self.vectors, self.pairs, {}, False)
        maps = mapper.learn(self.vectors, self.pairs, report)
        judgement = None
        if self.cross_fit is not None:
            training = [fold.train for fold in self.cross_fit.folds]
            judgement = self.cross_fit.judge(settled(mapper, report), training)
        return Round(maps, report, _told(None, mapper, judgement, clock), None, judgement)

    def learn(self, induced: Induced, clock: float) -> Round:
        """Fit the dictionaries and what was induced, in CPU seconds since the clock."""
        report, mapper = FitReport(), self._learner_of(induced)
        maps = mapper.learn(self.vectors, self._joined(self.pairs, induced.pairs), report)
        learnt = replace(induced, listed={})  # lists are large, and of use to the next search only
        return Round(maps, report, _told(induced, mapper, None, clock), learnt)

    def judged(self, each: Round) -> Round:
        """Judge a round of induced pairs, where there are words to judge by."""
        if self.cross_fit is None or each.induced is None or each.judgement is not None:
            return each
        clock = time.process_time()
        mapper = self._learner_of(each.induced)
        judgement = self.cross_fit.judge(mapper, self._training(each.induced))
        told = replace(
            each.told,
            held_out_precision=judgement.precision,
            cpu_seconds=round((each.told.cpu_seconds or 0) + time.process_time() - clock, 2),
        )
        return replace(each, told=told, judgement=judgement)

    def _learner_of(self, induced: Induced) -> LinearMapper:
        """Return the mapper of all rounds; held-out words choose its parameters in the first."""
        if self._mapper is None:
            aside: Pairs = {}
            pairs = self._joined(self.pairs, induced.pairs)
            if self.cross_fit is not None:
                aside, pairs = self.cross_fit.folds[0].held_out, self._training(induced)[0]
            self._mapper = self.learner(self.vectors, pairs, aside, True)
        return self._mapper

    def _training(self, induced: Induced) -> list[Pairs]:
        """Return what each fold is trained on."""
        folds = [] if self.cross_fit is None else self.cross_fit.folds
        return [self._joined(f.train, f.without_held_out(induced.pairs)) for f in folds]

    def _joined(self, dictionary: Pairs, induced: Pairs) -> Pairs:
        join = join_mutual if self.induction == "mutual" else join_all
        return {edge: join(dictionary[edge].given(), induced[edge]) for edge in dictionary}


def pays(new: Round, plain: Round) -> bool:
    """Tell whether a round translates held-out words better than the plain fit, beyond chance.

    Without such words it may go on.
    """
    if new.judgement is None or plain.judgement is None:
        return True
    gain, error = new.judgement.gain(plain.judgement)
    return gain > CHANCE_ERRORS * error


def falls(new: Round, plain: Round) -> bool:
    """Tell whether a round translates held-out words worse by more than chance."""
    if new.judgement is None or plain.judgement is None:
        return False
    gain, error = new.judgement.gain(plain.judgement)
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
