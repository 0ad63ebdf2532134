"""[fit] The loop of self-learning: when pairs are searched, when it ends, what is kept.

    induced_r = induce(maps_r),   maps_r+1 = fit(dictionary + induced_r)

To search for pairs costs much more than a fit, so that a few rounds learn from what one search
listed. The mean CSLS of the mutual pairs rises and flattens together with the precision: the rounds
of a search end when it rises no more, and where they raised it, the maps have moved away from their
lists, and there is another search. Small dictionaries climb for many searches. They are first made
among few words, then among all. Mutual pairs are precise: the loop can run for as long as one
likes. The union of both directions gains in its first rounds and then collapses: maps with a lower
mean CSLS than those before them are dropped.

Where dictionaries can spare words, these decide by cross-fitting (see `cross_fit`) whether there is
a loop at all: the first round must translate held-out words better than the plain fit, by more than
chance, two standard errors. If it does not, the plain fit is the result, and one round is all that
was paid. How far a loop goes is not theirs to say, since words of dictionaries are frequent ones,
which know little about rare ones. They have a veto, where they fall below the plain fit at its end
by more than chance.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from geomm_plugin.fitting.induction import Induced, induce
from geomm_plugin.fitting.rounds import Round, Rounds, falls, pays

FIRST_WORDS = 10_000  # the vocabulary of all searches but the last, six times as fast as the last
ROUNDS_A_SEARCH = 3  # that learn from what it listed; in more of them maps only fit their lists
MIN_ROUND_GAIN = 5e-3  # of the mean CSLS from round to round, relative; a smaller rise is none
MIN_SEARCH_GAIN = 0.02  # by the rounds of one search, to be worth another


class Loop:
    """Rounds after the plain fit, and which of them is kept.

    Parameters
    ----------
    max_rounds
        After the plain fit.
    tell
        Is called after each round with its mean CSLS.
    """

    def __init__(self, fits: Rounds, max_rounds: int, tell: Callable[[float], None]):
        self.fits = fits
        self.max_rounds = max_rounds
        self.tell = tell
        self.rounds: list[Round] = [fits.plain()]
        self.kept = 0
        self.is_over = not max_rounds

    def run(self, words: int) -> None:
        """Learn among few words, then among so many; the round to keep is `kept`."""
        self._learn_among(min(words, FIRST_WORDS))
        if self.kept and words > FIRST_WORDS:
            self._learn_among(words)
        if self.kept > 1:
            self.rounds[self.kept] = self.fits.judged(self.rounds[self.kept])
        if falls(self.rounds[self.kept], self.rounds[0]):
            self.kept = 0

    def _learn_among(self, words: int) -> None:
        """Search and learn for as long as the rounds of a search raise the mean CSLS."""
        last, searched = self.kept, -np.inf
        while not self.is_over:
            clock = time.process_time()
            induced = self._induced(words)
            if induced.mean_csls < searched:
                self.kept = last
                return
            last, searched = self.kept, induced.mean_csls
            if not rises(self._learn_from(induced, clock), searched, MIN_SEARCH_GAIN):
                return

    def _learn_from(self, induced: Induced, clock: float) -> float:
        """Learn from one search for as long as the mean CSLS of what it listed rises; return it."""
        self._add(self.fits.learn(induced, clock))
        for _ in range(ROUNDS_A_SEARCH - 1):
            if self.is_over:
                break
            clock, last = time.process_time(), induced
            induced = self._induced(last.words, last)
            if induced.mean_csls < last.mean_csls:
                self.kept -= 1
            if not rises(induced.mean_csls, last.mean_csls, MIN_ROUND_GAIN):
                break
            self._add(self.fits.learn(induced, clock))
        return induced.mean_csls

    def _add(self, new: Round) -> None:
        is_first = len(self.rounds) == 1
        self.rounds.append(self.fits.judged(new) if is_first else new)
        self.is_over = len(self.rounds) > self.max_rounds
        if is_first and not pays(self.rounds[1], self.rounds[0]):
            self.is_over = True
        else:
            self.kept = len(self.rounds) - 1
        self.tell(new.told.mean_csls or 0.0)

    def _induced(self, words: int, last: Induced | None = None) -> Induced:
        """Return what the maps find, by a search or among what the last one listed."""
        fits, maps = self.fits, self.rounds[self.kept].maps
        listed = None if last is None else last.listed
        return induce(fits.vectors, maps, list(fits.pairs), words, fits.induction, listed)


def rises(mean: float, last: float, share: float) -> bool:
    """Tell whether a mean CSLS is higher than another by more than some share of itself."""
    return mean - last > share * abs(mean)
