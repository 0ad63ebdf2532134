"""[fit] Methods with a lambda: the number given, or the best on held-out words.

For each fold, maps are fitted for every candidate on the training part and translate the held-out
words; the candidate of the best mean P@1 is taken: one for each dictionary, or one for all.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal, TypeAlias

from geomm_plugin.arrays import Matrix
from geomm_plugin.fit_report import ALL_DICTIONARIES, Choice, FitReport, HeldOut
from geomm_plugin.fitting.held_out import MapsOf, Pool, choose, splits
from geomm_plugin.fitting.hub import Edge, HubMapper
from geomm_plugin.mapper import LinearMapper
from geomm_plugin.registry.parameters import AtLeast

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
        if trials:
            words = sum(pool.words for _, pool in trials)
            report.held_out[name] = HeldOut(each.scores[each.value], words)
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
