"""[fit] Seeds by name: dictionaries from nothing, to start self-learning with."""

from __future__ import annotations

from geomm_plugin.errors import UnknownNameError, did_you_mean
from geomm_plugin.fitting.seeds.adversarial import Adversarial
from geomm_plugin.fitting.seeds.cognates import Cognates
from geomm_plugin.fitting.seeds.gromov_wasserstein import GromovWasserstein
from geomm_plugin.fitting.seeds.icp import ClosestPoints
from geomm_plugin.fitting.seeds.identical import Identical
from geomm_plugin.fitting.seeds.numerals import Numerals
from geomm_plugin.fitting.seeds.seed import Language, Seed
from geomm_plugin.fitting.seeds.sorted_rows import SortedRows
from geomm_plugin.fitting.seeds.wasserstein import Wasserstein
from geomm_plugin.registry.parameters import (
    check_parameters,
    parameters_of,
    parse_settings,
    split_choice,
)

__all__ = ["SEEDS", "Language", "Seed", "as_seed"]

SEEDS: dict[str, type[Seed]] = {
    seed.name: seed
    for seed in (
        GromovWasserstein,
        SortedRows,
        ClosestPoints,
        Wasserstein,
        Adversarial,
        Identical,
        Numerals,
        Cognates,
    )
}


def as_seed(choice: str, seed: int | None = None) -> Seed:
    """Return a seed from text: NAME, or NAME:PARAMETER=VALUE,...

    Parameters
    ----------
    seed
        Of what is random in it, where the text does not say.
    """
    name, settings = split_choice(choice)
    if name not in SEEDS:
        raise UnknownNameError(
            f"There is no seed {name!r}.{did_you_mean(name, SEEDS)} There are: {', '.join(SEEDS)}."
        )
    seed_class = SEEDS[name]
    params = parse_settings(seed_class, settings)
    if seed is not None and "seed" in parameters_of(seed_class):
        params.setdefault("seed", seed)
    made = seed_class(**params)
    check_parameters(made)
    return made
