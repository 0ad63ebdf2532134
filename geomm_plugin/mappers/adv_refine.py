"""Adv-Refine: rotations without a dictionary, from adversarial training.

    min over W of max over D of   mean log D(x W) + mean log (1 - D(z))

(`geomm_plugin.fitting.seeds.adversarial`, which needs the extra `torch`); then Procrustes rounds on
mutual best translations by CSLS. Training is unstable: where a game leads to no translations, as
far as can be known without a dictionary, it is played again with other random numbers.
Conneau, Lample, Ranzato, Denoyer, Jégou: "Word Translation Without Parallel Data", ICLR 2018.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from geomm_plugin.fitting.seeds import Seed, as_seed
from geomm_plugin.mappers.self_learning import UnsupervisedRotation
from geomm_plugin.registry.parameters import AtLeast


@dataclass(kw_only=True, eq=False, repr=False)
class AdvRefine(UnsupervisedRotation):
    """Rotations without a dictionary, from adversarial training (extra `torch`)."""

    name: ClassVar[str] = "adv_refine"

    seeds: tuple[str, ...] = ("adversarial",)  # e.g. adversarial:epochs=20
    games: Annotated[int, AtLeast(1)] = 4  # at most, until one is confirmed

    def starts(self) -> list[Seed]:
        """Return the seeds, again for each game; those with a random seed of their own once."""
        starts = (
            (choice, as_seed(choice, seed=self.seed + game))
            for game in range(self.games)
            for choice in self.seeds
        )
        return list({(choice, getattr(seed, "seed", 0)): seed for choice, seed in starts}.values())
