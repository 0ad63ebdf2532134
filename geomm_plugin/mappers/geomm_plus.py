"""GeoMM with both losses, the whole vocabulary's variance, and self-learning: nothing to choose.

    min over W of   ||X W Z' - Y||^2 + lambda ( a c ||W||^2 + mu ( c ||X W||^2 + a ||W Z'||^2 ) )

X and Z hold the dictionary's unique words, Y its labels; a and c are the mean eigenvalues of
A = X'X = Q diag(a_i) Q' and C = Z'Z = R diag(c_j) R', so that lambda and mu have no units. The mu
terms are the quadratic parts of least squares from X to Z and from Z to X, whose linear part is
that of classification, M = X'YZ: a mixture of GeoMM (mu = 0) with regression both ways,

    W = Q [ (Q' M R)_ij / (a_i c_j + lambda (a c + mu (a_i c + a c_j))) ] R'  =  P diag(s) V'
    A_s = P diag(sqrt s),     A_t = V diag(sqrt s)

GeoMM divides by a_i c_j + lambda: where a_i is small and c_j large, it raises a direction that is
mostly noise in one language. The sum a_i + c_j stays large there. How much noise there is depends
on how many pairs stand against how many dimensions, so that lambda = 10 d / |Omega| need not be
chosen on held-out words. Few rows estimate A badly, too, so a share of the variance of the most
frequent words is mixed in:

    A  <-  (1 - background) A / tr A  +  background G / tr G,       G = X_V'X_V,  and C alike

Last, self-learning (`geomm_plugin.fitting.self_learning`). What was tried on the way, and what each
part gains: docs, "What geomm_plus is made of".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.factorization import eigh
from geomm_plugin.fit_report import Choice, FitReport
from geomm_plugin.fitting.hub import Edge, HubMapper
from geomm_plugin.fitting.latent import Inference
from geomm_plugin.fitting.moments import Moments, frequent_gram
from geomm_plugin.fitting.regularized import Regularization
from geomm_plugin.fitting.self_learning import SelfLearner
from geomm_plugin.mapper import LinearMapper, Pairs, Vectors
from geomm_plugin.registry.parameters import AtLeast, Within
from geomm_plugin.rows import Rows

LAMBDA_AT_ONE_PAIR_PER_DIMENSION = 10.0
BACKGROUND_WORDS = 10_000  # most frequent words whose variance is mixed in
SMALLEST_DENOMINATOR = 1e-12  # those that are not above it are left out


@dataclass(kw_only=True, eq=False, repr=False)
class GeoMMPlus(SelfLearner):
    """GeoMM mixed with regression, and self-learning: take it if you do not want to choose."""

    name: ClassVar[str] = "geomm_plus"

    regularization: Regularization = "auto"  # 10 d / |Omega|
    mixture: Annotated[float, AtLeast(0)] = 1.0  # mu, the weight of regression; 0 is GeoMM
    background: Annotated[float, Within(0, 1)] = 0.3  # share of the vocabulary in the variances
    hub: str | None = None  # of many languages; by default that with the most dictionaries

    def learner(self, vectors: Vectors, pairs: Pairs, held_out: Pairs | None) -> LinearMapper:
        """Return the mixture in closed form; it chooses nothing by validation."""
        return Mixture(
            regularization=self.regularization,
            mixture=self.mixture,
            background=self.background,
            hub=self.hub,
        )


@dataclass(kw_only=True, eq=False, repr=False)
class Mixture(HubMapper):
    """The mixture of classification and regression, in closed form."""

    name: ClassVar[str] = "mixture"
    space: ClassVar[Inference] = "latent"

    regularization: Regularization = "auto"
    mixture: float = 1.0
    background: float = 0.3

    def learn_edge(self, edge: Edge, report: FitReport) -> Matrix:
        """Return W from the dictionary's matrices and the vocabularies' variances."""
        moments = edge.moments()
        weight = self._weight(moments)
        report.regularization[str(edge)] = Choice(weight, {})
        source = self._variance(moments.source, edge.x)
        target = self._variance(moments.target, edge.z)
        return solve_mixture(moments.cross, source, target, weight, self.mixture)

    def _weight(self, moments: Moments) -> float:
        """Return lambda: the number given, or 10 d / |Omega| (d the mean of two that differ)."""
        if self.regularization != "auto":
            return self.regularization
        dimensions = sum(moments.cross.shape) / 2
        return LAMBDA_AT_ONE_PAIR_PER_DIMENSION * dimensions / moments.pairs

    def _variance(self, own: Matrix, vectors: Rows) -> Matrix:
        """Return the dictionary's variance with a share of the vocabulary's, each at trace 1."""
        if not self.background:
            return own
        frequent = frequent_gram(vectors, BACKGROUND_WORDS)
        own, frequent = (each / (np.trace(each) or 1) for each in (own, frequent))
        mixed: Matrix = (1 - self.background) * own + self.background * frequent
        return mixed


def solve_mixture(
    cross: Matrix, source: Matrix, target: Matrix, regularization: float, mixture: float
) -> Matrix:
    """Return W from M = cross and the variances A = source and C = target."""
    a, q = eigh(source)
    c, r = eigh(target)
    a, c = (values / (max(values.mean(), 0) or 1) for values in (a, c))
    numerator = q.T @ cross @ r
    denominator = np.multiply.outer(a, c) + regularization * (1 + mixture * np.add.outer(a, c))
    usable = denominator > SMALLEST_DENOMINATOR
    quotient = np.divide(numerator, denominator, out=np.zeros_like(numerator), where=usable)
    W: Matrix = q @ quotient @ r.T
    return W
