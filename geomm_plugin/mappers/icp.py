"""Rotations without a dictionary, from iterative closest points.

    min over rotations R of   mean_i min_j |x_i R - z_j|^2 + mean_j min_i |x_i R - z_j|^2

on the principal axes of the most frequent words, from many starts
(`geomm_plugin.fitting.seeds.icp`);
then Procrustes rounds on mutual best translations by CSLS.
Hoshen and Wolf: "Non-Adversarial Unsupervised Word Translation", EMNLP 2018.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from geomm_plugin.mappers.self_learning import ProcrustesSemi
from geomm_plugin.registry.parameters import AtLeast


@dataclass(kw_only=True, eq=False, repr=False)
class UnsupervisedRotation(ProcrustesSemi):
    """What rotations without a dictionary share, whatever they start from."""

    needs_dictionary: ClassVar[bool] = False
    supervised: ClassVar[str] = "procrustes_semi"

    normalize: tuple[str, ...] | None = ("unit", "center", "unit")
    vocabulary: Annotated[int, AtLeast(1)] = 10_000  # most frequent words to find pairs among


@dataclass(kw_only=True, eq=False, repr=False)
class ICP(UnsupervisedRotation):
    """Rotations without a dictionary, from closest points on principal axes."""

    name: ClassVar[str] = "icp"

    seeds: tuple[str, ...] = ("icp",)  # e.g. icp:starts=500
