"""Where words are compared: in a latent space that both sides share, or in the target's own."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from geomm_plugin.arrays import Matrix, Vector
from geomm_plugin.errors import LanguagesError
from geomm_plugin.factorization import eigh, svd

# Both languages carry half of the metric of W, or the source carries all of it (A_hub = I).
Inference: TypeAlias = Literal["latent", "target"]


def join_maps(
    inference: Inference, hub: str, dimension: int, maps: dict[str, Matrix]
) -> dict[str, Matrix]:
    """Turn the maps W into the hub's space into one A per language."""
    return latent_maps(hub, maps) if inference == "latent" else {hub: np.eye(dimension), **maps}


def latent_maps(hub: str, maps: dict[str, Matrix]) -> dict[str, Matrix]:
    """Share the metric of the maps into a hub between both sides.

    For one map W = P diag(s) V' this is the paper's latent space: A_s = P diag(sqrt s) and
    A_hub = V diag(sqrt s). For several, the hub's metric is the mean of theirs (each scaled alike),

        B = mean of (W_L' W_L)^(1/2) = E diag(b) E'
        A_hub = E diag(sqrt b),     A_L = W_L E diag(1/sqrt b)

    so that W(L, hub) = W_L still holds exactly, and W(L, K) = W_L B^-1 W_K'.
    """
    metrics = {language: root_of_square(matrix) for language, matrix in maps.items()}
    traces = {language: float(np.trace(metric)) for language, metric in metrics.items()}
    typical = float(np.mean(list(traces.values())))
    total = sum(
        (metrics[name] * (typical / traces[name] if traces[name] > 0 else 0) for name in maps),
        start=np.zeros_like(next(iter(metrics.values()))),
    )
    b, basis = eigh(total / len(maps))
    kept = np.flatnonzero(b > b.max(initial=0) * 1e-12)[::-1]  # the largest first
    if not len(kept):
        raise LanguagesError(
            "The dictionary leaves no direction to map along: every map is zero. Check that its "
            "words have vectors that are not zero, and give more pairs."
        )
    root: Vector = np.sqrt(b[kept])
    basis = basis[:, kept]
    joined: dict[str, Matrix] = {hub: basis * root}
    return joined | {name: (matrix @ basis) / root for name, matrix in maps.items()}


def root_of_square(matrix: Matrix) -> Matrix:
    """Return (W'W)^(1/2)."""
    _, s, v = svd(matrix)
    root: Matrix = (v * s) @ v.T
    return root
