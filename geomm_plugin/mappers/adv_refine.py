"""Adv-Refine: rotations without a dictionary, from adversarial training.

    min over W of max over D of   mean log D(x W) + mean log (1 - D(z))

(`geomm_plugin.fitting.seeds.adversarial`, which needs the extra `torch`); then Procrustes rounds on
mutual best translations by CSLS.
Conneau, Lample, Ranzato, Denoyer, Jégou: "Word Translation Without Parallel Data", ICLR 2018.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from geomm_plugin.mappers.icp import UnsupervisedRotation


@dataclass(kw_only=True, eq=False, repr=False)
class AdvRefine(UnsupervisedRotation):
    """Rotations without a dictionary, from adversarial training (extra `torch`)."""

    name: ClassVar[str] = "adv_refine"

    seeds: tuple[str, ...] = ("adversarial",)  # e.g. adversarial:seed=1
