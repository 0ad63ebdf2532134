"""Two losses of one's own, over one rotation U a language and one metric B that all share.

With s = x U_source B U_target' z' the score of two words, a word x and its translation z, and z'
and x' words of other pairs of their group:

    logistic      mean log(1 + exp(k (1/2 - s(x, z)))) + mean log(1 + exp(k (s(x, z') - 1/2)))
    max-margin    mean max(0, 1 - s(x, z) + s(x, z'))^2 + mean max(0, 1 - s(x, z) + s(x', z))^2

and in both the weight times ||B||^2. A group is drawn once, so that the loss stays the same while
it is minimized: other pairs of the group are the wrong examples.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import autograd.numpy as np
from numpy.random import default_rng

from geomm_plugin import RiemannianMapper, hookimpl
from geomm_plugin.registry.parameters import AtLeast

GROUP = 128  # pairs whose words are compared with each other


@dataclass(kw_only=True, eq=False, repr=False)
class GroupedLoss(RiemannianMapper):
    """Write loss_of_scores(); the scores within each group of pairs are given."""

    weight: Annotated[float, AtLeast(0)] = 1e-3  # of ||B||^2
    seed: Annotated[int, AtLeast(0)] = 0  # of the groups
    max_iterations: Annotated[int, AtLeast(1)] = 60

    def loss(self, rotations, metric, vectors, pairs):
        total = self.weight * np.sum(metric**2)
        for (source, target), own in pairs.items():
            x = vectors[source] @ rotations[source] @ metric
            z = vectors[target] @ rotations[target]
            i, j = groups(own, self.seed)
            scores = np.matmul(x[i], np.swapaxes(z[j], 1, 2))
            wrong = (i[:, :, None] != i[:, None, :]) & (j[:, :, None] != j[:, None, :])
            paired = np.sum(scores * np.eye(scores.shape[1]), axis=2)
            total = total + self.loss_of_scores(paired, scores, wrong)
        return total


def groups(own, seed):
    """Return the pairs in groups, one a row; the last one is filled up with the first pairs."""
    size = min(GROUP, len(own))
    order = np.resize(default_rng(seed).permutation(len(own)), (-(-len(own) // size), size))
    return own.source[order], own.target[order]


@dataclass(kw_only=True, eq=False, repr=False)
class LogisticGeoMM(GroupedLoss):
    """Tell translations from other pairs of words, by logistic regression (an example)."""

    name: ClassVar[str] = "logistic_geomm"
    slope: Annotated[float, AtLeast(0)] = 8.0  # k

    def loss_of_scores(self, paired, scores, wrong):
        right = np.logaddexp(0, self.slope * (0.5 - paired))
        return np.mean(right) + np.mean(wrong * np.logaddexp(0, self.slope * (scores - 0.5)))


@dataclass(kw_only=True, eq=False, repr=False)
class MaxMarginGeoMM(GroupedLoss):
    """Score translations above other words, by a margin (an example)."""

    name: ClassVar[str] = "max_margin_geomm"

    def loss_of_scores(self, paired, scores, wrong):
        beyond = (1 - side + scores for side in (paired[:, :, None], paired[:, None, :]))
        return sum(np.mean(wrong * np.maximum(0, each) ** 2) for each in beyond)


@hookimpl
def register_mappers():
    return [LogisticGeoMM, MaxMarginGeoMM]
