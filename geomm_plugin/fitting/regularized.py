"""[fit] Pairwise methods with a closed form for every lambda, and lambda chosen by validation.

Lambda is chosen per dictionary: for each fold, W is fitted for every candidate on the training part
and its maps translate the held-out words; the candidate of the best mean P@1 is taken, and W fitted
once more on all pairs.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal, TypeAlias

from geomm_plugin.arrays import Matrix
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.fit_report import FitReport
from geomm_plugin.fitting.edge import Edge
from geomm_plugin.fitting.held_out import MapsOf, Pool, Trial, choose, folds
from geomm_plugin.fitting.hub import HubMapper
from geomm_plugin.fitting.latent import Inference
from geomm_plugin.registry.parameters import AtLeast

# A value of lambda, or "auto": the best on held-out words.
Regularization: TypeAlias = Annotated[float, AtLeast(0)] | Literal["auto"]


@dataclass(kw_only=True, eq=False, repr=False)
class RegularizedMapper(HubMapper):
    """Write solutions(); the choice of lambda and the latent space are given."""

    regularization: Regularization = "auto"  # lambda, or by validation
    seed: Annotated[int, AtLeast(0)] = 0  # of the held-out words

    candidates: ClassVar[tuple[float, ...]]  # the values of lambda that "auto" tries
    default: ClassVar[float]  # lambda where too few words are there to hold any out

    @abstractmethod
    def solutions(self, edge: Edge) -> Callable[[float], Matrix]:
        """Return a function from lambda to W; what does not depend on lambda is computed once."""

    @property
    def space(self) -> Inference:
        """Languages share the metric, unless a method says otherwise."""
        return "latent"

    def learn_edge(self, edge: Edge, report: FitReport) -> Matrix:
        """Return W at the given or the best lambda, from all pairs."""
        return self.solve(edge, self.choose_regularization(edge, report), report)

    def solve(self, edge: Edge, regularization: float, report: FitReport) -> Matrix:
        """Return W at a given lambda."""
        return self.solutions(edge)(regularization)

    def choose_regularization(self, edge: Edge, report: FitReport) -> float:
        """Return lambda: the number given, or the best on held-out words (and report it)."""
        if self.regularization != "auto":
            return self.regularization
        trials = [
            Trial(self._maps_of(edge, train), Pool(edge.x, edge.z, held_out))
            for train, held_out in folds(edge.pairs, self.seed)
        ]
        choice = choose(self.candidates, trials, default=self.default)
        report.regularization[str(edge)] = choice
        return choice.value

    def _maps_of(self, edge: Edge, train: RowPairs) -> MapsOf:
        """Return a function from lambda to the two maps fitted on the training pairs."""
        solution = self.solutions(replace(edge, pairs=train))
        return lambda regularization: self.two_maps(solution(regularization))
