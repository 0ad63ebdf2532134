"""[fit] Pairwise methods that map both languages of a dictionary, and many languages through a hub.

For two languages the shared space is the method's own. For more, the edge e from L towards the hub
has maps A_L^e and A_P^e (P its next language, Z the vectors of P's words in the dictionary). The
hub's map has the mean of the metrics that its edges found (each scaled to one trace), and each
edge's space is turned, never stretched, to where P already is:

    A_hub A_hub' = mean over the hub's edges of A_hub^e A_hub^e'
    A_L = c A_L^e R,     min over c and rotations R of ||Z (c A_P^e R - A_P)||^2

so that for one edge it is, up to a rotation of the shared space, what the edge found. To solve with
A_P^e instead would blow up every direction that a whitened method has weighed down.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.errors import LanguagesError
from geomm_plugin.factorization import eigh, svd
from geomm_plugin.fit_report import FitReport
from geomm_plugin.fitting.edge import Edge
from geomm_plugin.fitting.hub import HubMapper
from geomm_plugin.fitting.moments import gram
from geomm_plugin.mapper import Pairs, Vectors

SMALLEST = 1e-10  # directions that weigh less than this part of the heaviest are noise


@dataclass(kw_only=True, eq=False, repr=False)
class TwoSidedMapper(HubMapper):
    """Write learn_sides(); many languages are given."""

    @property
    def width(self) -> int | None:
        """The most dimensions that the space of many languages may have, if there is a limit."""
        return None

    @abstractmethod
    def learn_sides(self, edge: Edge, report: FitReport) -> tuple[Matrix, Matrix]:
        """Return the maps of the edge's source and target, into one space."""

    def learn(self, vectors: Vectors, pairs: Pairs, report: FitReport) -> dict[str, Matrix]:
        """Learn two maps for each edge; join them in the hub's space."""
        hub, edges = self.edges_to_hub(vectors, pairs, report)
        sides = [self.learn_sides(edge, report) for edge in edges]
        if len(edges) == 1:
            return {edges[0].source: sides[0][0], hub: sides[0][1]}
        metric = mean_metric(
            [side for edge, (_, side) in zip(edges, sides, strict=True) if edge.target == hub]
        )
        joined = {hub: metric[:, : self.width]}
        for edge, (source, target) in zip(edges, sides, strict=True):
            variance = gram(edge.z, edge.pairs.target)
            joined[edge.source] = source @ turn(target, joined[edge.target], variance)
        return joined


def turn(start: Matrix, goal: Matrix, variance: Matrix) -> Matrix:
    """Return c R, with rotation R, that takes Z start nearest to Z goal; variance is Z'Z.

    start' Z'Z goal = P diag(s) Q' (SVD):   R = P Q',   c = sum(s) / ||Z start||^2
    """
    p, s, q = svd(start.T @ variance @ goal)
    length = float(np.vdot(start, variance @ start))
    scale = float(s.sum()) / length if length > 0 else 1.0
    rotation: Matrix = scale * (p @ q.T)
    return rotation


def mean_metric(maps: list[Matrix]) -> Matrix:
    """Return A with A A' = mean of A_e A_e', each scaled to trace 1; its heaviest columns first."""
    total = np.zeros((len(maps[0]), len(maps[0])))
    for matrix in maps:
        weight = float(np.vdot(matrix, matrix))
        total += matrix @ matrix.T / (weight if weight > 0 else 1)
    values, basis = eigh(total / len(maps))
    kept = np.flatnonzero(values > values.max(initial=0) * SMALLEST)[::-1]
    if not len(kept):
        raise LanguagesError(
            "The dictionaries leave no direction to map along: every map of the hub is zero. "
            "Check that their words have vectors that are not zero, and give more pairs."
        )
    root: Matrix = basis[:, kept] * np.sqrt(values[kept])
    return root
