"""[fit] Seeds by name: pairs of words from no dictionary, to start self-learning with."""

from __future__ import annotations

from collections.abc import Iterable

from geomm_plugin import registry
from geomm_plugin.fitting.seeds.adversarial import Adversarial
from geomm_plugin.fitting.seeds.icp import ClosestPoints
from geomm_plugin.fitting.seeds.seed import Language, Seed
from geomm_plugin.fitting.seeds.spelling import Cognates, Identical, Numerals
from geomm_plugin.fitting.seeds.structure import GromovWasserstein, SortedRows
from geomm_plugin.fitting.seeds.wasserstein import Wasserstein
from geomm_plugin.registry.hookspecs import hookimpl
from geomm_plugin.registry.parameters import check_parameters, parameters_of, split_choice

__all__ = ["Language", "Seed", "as_seed"]


@hookimpl
def register_seeds() -> Iterable[type[Seed]]:
    """The built-in seeds, in the order in which they are shown."""
    return [
        GromovWasserstein,
        SortedRows,
        ClosestPoints,
        Wasserstein,
        Adversarial,
        Identical,
        Numerals,
        Cognates,
    ]


def as_seed(choice: str, seed: int | None = None) -> Seed:
    """Return a seed from text: NAME, or NAME:PARAMETER=VALUE,...

    Parameters
    ----------
    seed
        Of what is random in it, where the text does not say.
    """
    kind = registry.seeds[split_choice(choice)[0]]
    is_random = seed is not None and "seed" in parameters_of(kind)
    made: Seed = registry.seeds.make(choice, [f"seed={seed}"] if is_random else [])
    check_parameters(made)
    return made
