"""[fit] Pairwise methods with a closed form for every lambda, and lambda chosen by validation."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

from geomm_plugin.arrays import Matrix
from geomm_plugin.dictionary import RowPairs
from geomm_plugin.fitting.edge import Edge
from geomm_plugin.fitting.held_out import choose
from geomm_plugin.fitting.hub import HubMapper
from geomm_plugin.fitting.latent import latent_maps
from geomm_plugin.parameters import AtLeast


@dataclass(kw_only=True, eq=False, repr=False)
class RegularizedMapper(HubMapper):
    """Write solutions(); the choice of lambda and the latent space are given."""

    regularization: Annotated[float, AtLeast(0)] | Literal["auto"] = (
        "auto"  # lambda, or by validation
    )
    seed: Annotated[int, AtLeast(0)] = 0  # of the held-out words

    candidates: ClassVar[tuple[float, ...]]  # the values of lambda that "auto" tries
    default: ClassVar[float]  # lambda where too few words are there to hold any out

    @abstractmethod
    def solutions(self, edge: Edge) -> Callable[[float], Matrix]:
        """Return a function from lambda to W; what does not depend on lambda is computed once."""

    @property
    def latent(self) -> bool:
        """Whether the languages share the metric, or the source moves to the target's space."""
        return True

    def learn_edge(self, edge: Edge) -> Matrix:
        """Return W at the given or the best lambda, from all pairs."""
        return self.solve(edge, self.choose_regularization(edge))

    def solve(self, edge: Edge, regularization: float) -> Matrix:
        """Return W at a given lambda."""
        return self.solutions(edge)(regularization)

    def choose_regularization(self, edge: Edge) -> float:
        """Return lambda: the number given, or the best on held-out words (and report it)."""
        if self.regularization != "auto":
            return self.regularization

        def fit(train: RowPairs) -> Callable[[float], tuple[Matrix, Matrix]]:
            solution = self.solutions(replace(edge, pairs=train))
            return lambda candidate: self._two_maps(solution(candidate))

        choice = choose(
            self.candidates, fit, edge.x, edge.z, edge.pairs, default=self.default, seed=self.seed
        )
        self.report_.setdefault("regularization", {})[str(edge)] = {
            "chosen": choice.value,
            "held-out p@1": {f"{candidate:g}": score for candidate, score in choice.scores.items()},
        }
        return choice.value

    def join(self, hub: str, dimension: int, maps: dict[str, Matrix]) -> dict[str, Matrix]:
        """Share the metric between the languages, or leave it all with the source."""
        return latent_maps(hub, maps) if self.latent else super().join(hub, dimension, maps)

    def _two_maps(self, W: Matrix) -> tuple[Matrix, Matrix]:
        joined = self.join("target", W.shape[1], {"source": W})
        return joined["source"], joined["target"]
