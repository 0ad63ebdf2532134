"""A template: one mapper and one feature. Keep what you need, and put your own in its place."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from geomm_plugin import HubMapper, hookimpl
from geomm_plugin.retrieval import Feature


@dataclass(kw_only=True, eq=False, repr=False)
class Mine(HubMapper):
    """Least squares from source to target: write here what yours minimizes."""

    name: ClassVar[str] = "mine"
    ridge: float = 1.0  # a parameter: its type and default are what the command line takes

    def learn_pair(self, x, z):
        """Return W for rows x and their translations z, both normalized."""
        return np.linalg.solve(x.T @ x + self.ridge * np.eye(x.shape[1]), x.T @ z)


class SameEnd(Feature):
    """1 for words that end in the same letter: a number that `reranked` may use."""

    name = "same_end"
    fixed_weights: ClassVar[dict[str, float]] = {"same_end": 0.05}

    def values(self, queries, targets):
        """Return a number for each query and each of its targets."""
        ends = np.array([ord(word[-1]) for word in self.target.words])
        own = np.array([ord(word[-1]) for word in queries.words])
        return (ends[targets] == own[:, None]).astype(float)[:, :, None]


@hookimpl
def register_mappers():
    """Add the mapper."""
    return [Mine]


@hookimpl
def register_features():
    """Add the feature."""
    return [SameEnd]
