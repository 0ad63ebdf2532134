"""Rotations without a dictionary, from iterative closest points.

    min over rotations R of   mean_i min_j |x_i R - z_j|^2 + mean_j min_i |x_i R - z_j|^2

on the principal axes of the most frequent words, from many starts
(`geomm_plugin.fitting.seeds.icp`);
then Procrustes rounds on mutual best translations by CSLS.
Hoshen and Wolf: "Non-Adversarial Unsupervised Word Translation", EMNLP 2018.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from geomm_plugin.mappers.self_learning import UnsupervisedRotation


@dataclass(kw_only=True, eq=False, repr=False)
class ICP(UnsupervisedRotation):
    """Rotations without a dictionary, from closest points on principal axes."""

    name: ClassVar[str] = "icp"

    seeds: tuple[str, ...] = ("icp",)  # e.g. icp:starts=500
