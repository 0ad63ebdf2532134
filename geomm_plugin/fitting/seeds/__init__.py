"""[fit] Seeds by name: dictionaries from nothing, to start self-learning with."""

from __future__ import annotations

from geomm_plugin.errors import UnknownNameError, did_you_mean
from geomm_plugin.fitting.seeds.gromov_wasserstein import GromovWasserstein
from geomm_plugin.fitting.seeds.icp import ClosestPoints
from geomm_plugin.fitting.seeds.identical import Identical
from geomm_plugin.fitting.seeds.numerals import Numerals
from geomm_plugin.fitting.seeds.seed import Language, Seed
from geomm_plugin.fitting.seeds.sorted_rows import SortedRows
from geomm_plugin.parameters import check_parameters, parse_settings, split_choice

__all__ = ["SEEDS", "Language", "Seed", "as_seed"]

SEEDS: dict[str, type[Seed]] = {
    seed.name: seed for seed in (GromovWasserstein, SortedRows, ClosestPoints, Identical, Numerals)
}


def as_seed(choice: str | Seed) -> Seed:
    """Return a seed, given itself or as text: NAME, or NAME:PARAMETER=VALUE,..."""
    if isinstance(choice, Seed):
        return choice
    name, settings = split_choice(choice)
    if name not in SEEDS:
        raise UnknownNameError(
            f"There is no seed {name!r}.{did_you_mean(name, SEEDS)} There are: {', '.join(SEEDS)}."
        )
    seed_class = SEEDS[name]
    seed = seed_class(**parse_settings(seed_class, settings))
    check_parameters(seed)
    return seed
