"""Rotations without a dictionary, by optimal transport between the words of both languages.

    min over rotations Q and couplings P of   ||X Q - P Z||^2

by a convex relaxation and stochastic Sinkhorn steps (`geomm_plugin.fitting.seeds.wasserstein`);
then Procrustes rounds on mutual best translations by CSLS, as in the paper's "refine".
Grave, Joulin, Berthet: "Unsupervised Alignment of Embeddings with Wasserstein Procrustes", AISTATS
2019.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from geomm_plugin.mappers.self_learning import UnsupervisedRotation


@dataclass(kw_only=True, eq=False, repr=False)
class WassersteinProcrustes(UnsupervisedRotation):
    """Rotations without a dictionary, from a coupling of the words by optimal transport."""

    name: ClassVar[str] = "wasserstein_procrustes"

    seeds: tuple[str, ...] = ("wasserstein",)  # e.g. wasserstein:steps=500
