"""GeoMM with self-learning, for two languages or jointly for many.

    min over W of 1/|Omega| ||X_s W X_t' - Y||^2 + lambda ||W||^2,   Omega = dictionary + induced

Jawanpuria, Balgovind, Kunchukuttan, Mishra: "Learning Multilingual Word Embeddings in Latent Metric
Space: A Geometric Approach", TACL 2019, section "Semi-supervised GeoMM". `induction="paper"` is the
paper's loop: a fifth of the dictionary validates, pairs of both directions among the 25,000 most
frequent words are joined with the rest, and the loop ends when validation gains no more
(`geomm_plugin.fitting.self_learning.published_loop`). The default differs: it keeps mutual pairs
only, labelled by their CSLS, begins if cross-fitting shows a gain, and ends by the mean CSLS.

lambda is on the scale of the 1/|Omega| loss, so that it follows the dictionary as it grows. With
"auto" the first fit, on the dictionary alone, is that of `geomm` itself; later ones take the lambda
that translates held-out words best, or 0.1 where none can be held out. (Held-out *induced* pairs do
not do: they were found by maps with some lambda and favour ever larger ones.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from geomm_plugin.arrays import Matrix
from geomm_plugin.fit_report import FitReport
from geomm_plugin.fitting.held_out import Pool, choose
from geomm_plugin.fitting.hub import Edge, edges_of
from geomm_plugin.fitting.regularized import Regularization
from geomm_plugin.fitting.self_learning import SelfLearner
from geomm_plugin.mapper import LinearMapper, Pairs, Vectors
from geomm_plugin.mappers.geomm import GeoMM
from geomm_plugin.mappers.geomm_multi import GeoMMMulti, bilingual_maps


@dataclass(kw_only=True, eq=False, repr=False)
class ScaledGeoMM(GeoMM):
    """GeoMM with lambda on the scale of the 1/|Omega| loss."""

    def solve(self, edge: Edge, regularization: float, report: FitReport) -> Matrix:
        """Return W at lambda |Omega| on the plain loss, which is the same problem."""
        return super().solve(edge, regularization * len(edge.pairs), report)


@dataclass(kw_only=True, eq=False, repr=False)
class _Semi(SelfLearner):
    """What both ways of GeoMM share: the choice of lambda for induced pairs."""

    candidates: ClassVar[tuple[float, ...]] = (3e-3, 0.01, 0.03, 0.1, 0.3)
    default: ClassVar[float] = 0.1

    # lambda on the scale of the 1/|Omega| loss, or by validation
    regularization: Regularization = "auto"

    def share(self, vectors: Vectors, pairs: Pairs, held_out: Pairs | None) -> float:
        """Return lambda: the number given, or the best on held-out words of the dictionary."""
        if self.regularization != "auto":
            return self.regularization
        held_out = held_out or {}
        trials = [
            (bilingual_maps(edge), Pool(edge.x, edge.z, held_out[edge.source, edge.target]))
            for edge in edges_of(vectors, {aside: pairs[aside] for aside in held_out})
        ]
        return choose(self.candidates, trials, default=self.default).value


@dataclass(kw_only=True, eq=False, repr=False)
class GeoMMSemi(_Semi):
    """GeoMM with self-learning from a few dozen pairs; induction="paper": the published loop."""

    name: ClassVar[str] = "geomm_semi"

    hub: str | None = None  # of many languages; by default that with the most dictionaries

    def learner(self, vectors: Vectors, pairs: Pairs, held_out: Pairs | None) -> LinearMapper:
        """Return GeoMM with a lambda that follows the number of pairs."""
        if self.regularization == "auto" and held_out is None:
            return GeoMM(hub=self.hub, seed=self.seed)
        return ScaledGeoMM(hub=self.hub, regularization=self.share(vectors, pairs, held_out))


@dataclass(kw_only=True, eq=False, repr=False)
class GeoMMMultiSemi(_Semi):
    """GeoMM for many languages with self-learning: pairs are induced on every dictionary's edge."""

    name: ClassVar[str] = "geomm_multi_semi"
    joint: ClassVar[bool] = True

    def learner(self, vectors: Vectors, pairs: Pairs, held_out: Pairs | None) -> LinearMapper:
        """Return the joint mapper: one metric for all dictionaries, so lambda grows with them."""
        if self.regularization == "auto" and held_out is None:
            return GeoMMMulti(seed=self.seed)
        return GeoMMMulti(regularization=self.share(vectors, pairs, held_out) * len(pairs))
