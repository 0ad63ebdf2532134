"""[fit] Closed forms with a lambda: chosen by validation, or by the rule of the mixture.

For each fold, maps are fitted for every candidate on the training part and translate the held-out
words; the candidate of the best mean P@1 is taken: one for each
dictionary, or one for all. The mixture of GeoMM with regression both ways is

    W = Q [ (Q' M R)_ij / (a_i c_j + lambda (1 + mu (a_i + c_j))) ] R'

A = Q diag(a) Q' and C = R diag(c) R' are the variances of the source's and the target's words, a
and c in units of their means; M = sum of y x z' over the pairs. Docs, "What geomm_plus is made of".
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal, TypeAlias

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.factorization import eigh
from geomm_plugin.fit_report import ALL_DICTIONARIES, Choice, FitReport
from geomm_plugin.fitting.held_out import MapsOf, Pool, choose, splits
from geomm_plugin.fitting.hub import Edge, HubMapper
from geomm_plugin.mapper import LinearMapper
from geomm_plugin.registry.parameters import AtLeast

LAMBDA_AT_ONE_PAIR_PER_DIMENSION = 10.0  # of the mixture
BACKGROUND_WORDS = 10_000  # most frequent words whose variance is mixed in
SMALLEST_DENOMINATOR = 1e-12  # those that are not above it are left out

# A value of lambda, or "auto": the best on held-out words.
Regularization: TypeAlias = Annotated[float, AtLeast(0)] | Literal["auto"]


class Regularized(LinearMapper):
    """Write maps_of(); the choice of one lambda for some dictionaries is given."""

    regularization: Regularization
    seed: int  # of the held-out words
    candidates: ClassVar[tuple[float, ...]]  # the values of lambda that "auto" tries
    default: ClassVar[float]  # lambda where too few words are there to hold any out

    @abstractmethod
    def maps_of(self, edge: Edge) -> MapsOf:
        """Return a function from lambda to both maps; what all share is computed once."""

    def choose_regularization(
        self, edges: Sequence[Edge], report: FitReport, name: str = ALL_DICTIONARIES
    ) -> float:
        """Return lambda: the number given, or the best on held-out words (and report it).

        That is the best one for a dictionary, on average over all, times their number.
        """
        if self.regularization != "auto":
            return self.regularization
        trials = [
            (self.maps_of(replace(edge, pairs=train)), Pool(edge.x, edge.z, held_out))
            for edge in edges
            for train, held_out in splits(edge.pairs, self.seed)
        ]
        each = choose(self.candidates, trials, default=self.default)
        scores = {value * len(edges): score for value, score in each.scores.items()}
        report.regularization[name] = Choice(each.value * len(edges), scores)
        return each.value * len(edges)


@dataclass(kw_only=True, eq=False, repr=False)
class RegularizedMapper(HubMapper, Regularized):
    """Write solutions(); the choice of lambda and many languages are given."""

    regularization: Regularization = "auto"  # lambda, or by validation
    seed: Annotated[int, AtLeast(0)] = 0  # of the held-out words

    @abstractmethod
    def solutions(self, edge: Edge) -> Callable[[float], Matrix]:
        """Return a function from lambda to W; what does not depend on lambda is computed once."""

    def maps_of(self, edge: Edge) -> MapsOf:
        """Return a function from lambda to the maps of both sides."""
        solution = self.solutions(edge)
        return lambda regularization: self.two_maps(solution(regularization))

    def learn_edge(self, edge: Edge, report: FitReport) -> Matrix:
        """Return W at the given or the best lambda, from all pairs."""
        return self.solve(edge, self.choose_regularization([edge], report, str(edge)), report)

    def solve(self, edge: Edge, regularization: float, report: FitReport) -> Matrix:
        """Return W at a given lambda."""
        return self.solutions(edge)(regularization)


def solve_mixture(
    cross: Matrix, source: Matrix, target: Matrix, regularization: float, mixture: float
) -> Matrix:
    """Return W from M = cross and the variances A = source and C = target."""
    a, q = eigh(source)
    c, r = eigh(target)
    a, c = _relative(a)[:, None], _relative(c)
    numerator = q.T @ cross @ r
    denominator = a * c + regularization * (1 + mixture * (a + c))
    usable = denominator > SMALLEST_DENOMINATOR
    quotient = np.divide(numerator, denominator, out=np.zeros_like(numerator), where=usable)
    W: Matrix = q @ quotient @ r.T
    return W


def mixture_weight(dimensions: float, pairs: int) -> float:
    """Return lambda by its rule, 10 d / |Omega|."""
    return LAMBDA_AT_ONE_PAIR_PER_DIMENSION * dimensions / pairs


def with_background(own: Matrix, background: Matrix | None, share: float) -> Matrix:
    """Return the dictionary's variance with a share of the vocabulary's, each at trace 1."""
    if background is None or not share:
        return own
    mixed: Matrix = (1 - share) * _at_trace_one(own) + share * _at_trace_one(background)
    return mixed


def _relative(values: Matrix) -> Matrix:
    """Return eigenvalues in units of their mean."""
    mean = values.mean()
    return values / mean if mean > 0 else values


def _at_trace_one(variance: Matrix) -> Matrix:
    trace = np.trace(variance)
    return variance / trace if trace > 0 else variance
