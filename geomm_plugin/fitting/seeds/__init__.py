"""[fit] Seeds by name: pairs of words from no dictionary, to start self-learning with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from geomm_plugin.lazy import names_of
from geomm_plugin.registry.hookspecs import hookimpl

if TYPE_CHECKING:
    from geomm_plugin.fitting.seeds.seed import Seed, as_seed

__all__ = ["Seed", "as_seed"]

__getattr__ = names_of(__name__, {"seed": ("Seed", "as_seed")})


@hookimpl
def register_seeds() -> Iterable[type[Seed]]:
    """The built-in seeds, in the order in which they are shown, loaded when one is asked for."""
    from geomm_plugin.fitting.seeds.adversarial import Adversarial
    from geomm_plugin.fitting.seeds.icp import ClosestPoints
    from geomm_plugin.fitting.seeds.spelling import Cognates, Identical, Numerals
    from geomm_plugin.fitting.seeds.structure import GromovWasserstein, SortedRows
    from geomm_plugin.fitting.seeds.wasserstein import Wasserstein

    return [
        *(GromovWasserstein, SortedRows, ClosestPoints, Wasserstein, Adversarial),
        *(Identical, Numerals, Cognates),
    ]
