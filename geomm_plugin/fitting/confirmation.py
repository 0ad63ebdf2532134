"""[fit] Refusing maps that found no translations, as far as can be told without a dictionary.

Two things are asked of the maps between two languages, and both must hold:

    recover   >= 0.5, of rotations 0.75   pairs confirm each other (see `recover`)
    witnessed >= 0.05                     words spelt alike are translations (see `witnesses`)

The pairs of rotations were chosen by a rotation, so a rotation finds many of them again even where
all are wrong: they need more.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.errors import UnsupervisedError
from geomm_plugin.factorization import svd
from geomm_plugin.fit_report import FitReport
from geomm_plugin.fitting.seeds import Language
from geomm_plugin.fitting.witnesses import MIN_WITNESSED, witnessed
from geomm_plugin.language_graph import LanguagePair

MIN_RECOVER = 0.5
MIN_RECOVER_OF_ROTATIONS = 0.75
EQUAL = 1e-3  # singular values of a rotation differ by no more, relative to the largest


def least_recover(source_map: Matrix, target_map: Matrix) -> float:
    """Return the share of pairs that must be recovered: more for rotations."""
    both = source_map @ target_map.T
    values = svd(both)[1] if np.isfinite(both).all() else np.zeros(1)
    is_rotation = values[-1] > (1 - EQUAL) * values[0]
    return MIN_RECOVER_OF_ROTATIONS if is_rotation else MIN_RECOVER


def is_confirmed(recover: float, needed: float, witness: float | None) -> bool:
    """Tell whether maps are confirmed; where no words are spelt alike, by the others alone."""
    return recover >= needed and (witness is None or witness >= MIN_WITNESSED)


def confirm(
    name: str,
    languages: Mapping[str, Language],
    maps: Mapping[str, Matrix],
    edges: Iterable[LanguagePair],
    report: FitReport,
    on_failure: Literal["error", "warn"],
    by_rotation: bool = False,
) -> None:
    """Complete a report that has `recover`; refuse (or warn of) maps that are not confirmed.

    Parameters
    ----------
    by_rotation
        Whether pairs were found by rotations, whatever the last maps are.
    """
    failed = []
    for source, target in edges:
        edge = f"{source}-{target}"
        recover, needed = report.recover[edge], least_recover(maps[source], maps[target])
        needed = MIN_RECOVER_OF_ROTATIONS if by_rotation else needed
        witness = witnessed(languages[source], languages[target], maps[source], maps[target])
        if witness is not None:
            report.witnessed[edge] = witness
        if not is_confirmed(recover, needed, witness):
            failed.append(_reason(edge, recover, needed, witness))
    if failed:
        _refuse(name, failed, on_failure)


def _reason(edge: str, recover: float, needed: float, witness: float | None) -> str:
    if recover < needed or witness is None:
        return (
            f"{edge}: {recover:.0%} of its pairs are confirmed by the others, "
            f"{needed:.0%} are needed"
        )
    return (
        f"{edge}: {witness:.0%} of the words spelt alike are translated as each other, "
        f"{MIN_WITNESSED:.0%} are needed; does every word stand beside its own vector?"
    )


def _refuse(name: str, failed: Sequence[str], on_failure: Literal["error", "warn"]) -> None:
    message = (
        f"{name} found no translations without a dictionary ({'; '.join(failed)}). Ways out: start "
        "from words spelt alike (seeds=cognates or seeds=identical), or give a dictionary of a "
        "hundred pairs to geomm_plus; on_failure='warn' goes on."
    )
    if on_failure == "error":
        raise UnsupervisedError(message)
    warnings.warn(message, stacklevel=2)
