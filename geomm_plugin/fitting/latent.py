"""Where words are compared: in a latent space that both sides share, or in the target's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from geomm_plugin.arrays import Matrix, Vector
from geomm_plugin.errors import LanguagesError
from geomm_plugin.factorization import eigh, polar, svd

# Both languages carry half of the metric of W, or the source carries all of it (A_hub = I).
Inference: TypeAlias = Literal["latent", "target"]
SMALLEST = 1e-12  # directions that are shorter, relatively, are left out
MOST_ROUNDS, TOLERANCE = 20, 1e-9  # of the rotations; each round's gain is relative


def join_maps(
    inference: Inference, hub: str, dimension: int, maps: dict[str, Matrix]
) -> dict[str, Matrix]:
    """Turn the maps W into the hub's space into one A per language."""
    return latent_maps(hub, maps) if inference == "latent" else {hub: np.eye(dimension), **maps}


def latent_maps(hub: str, maps: dict[str, Matrix]) -> dict[str, Matrix]:
    """Share the metric of the maps into a hub between both sides.

    For one map W = P diag(s) V' this is the paper's latent space:

        A_s = P diag(sqrt s),     A_hub = V diag(sqrt s)

    Several maps W_L = P_L diag(s_L) V_L' (each scaled alike) have as many latent spaces, in which
    the hub's words lie differently: no single space keeps every W_L and all cosines. Here each is
    rotated until the hub lies as near to the mean as it can (generalized Procrustes),

        min over R_L R_L' = I of   sum over L of ||V_L diag(sqrt s_L) R_L - A_hub||^2
        A_hub = mean of V_L diag(sqrt s_L) R_L,     A_L = P_L diag(sqrt s_L) R_L

    Lengths and angles of L's own words are then those of the pair alone. Docs, "A third language".
    """
    latent = {language: _Latent.of(matrix) for language, matrix in maps.items()}
    weights = [one.weight for one in latent.values() if one.weight > 0]
    if not weights:
        raise LanguagesError(
            "The dictionary leaves no direction to map along: every map is zero. Check that its "
            "words have vectors that are not zero, and give more pairs."
        )
    if len(latent) == 1:
        ((language, one),) = latent.items()
        return {hub: one.hub * np.sqrt(one.weight), language: one.own * np.sqrt(one.weight)}
    typical = float(np.mean(weights))
    rotations, mean = _rotate([one.hub for one in latent.values()])
    joined = {hub: mean * np.sqrt(typical)}
    for (language, one), rotation in zip(latent.items(), rotations, strict=True):
        joined[language] = one.own @ rotation * (one.weight / np.sqrt(typical))
    return joined


@dataclass(frozen=True)
class _Latent:
    """The latent space of one map, W = weight own hub': own = P sqrt(s), hub = V sqrt(s), tr 1."""

    own: Matrix
    hub: Matrix
    weight: float

    @classmethod
    def of(cls, W: Matrix) -> _Latent:
        p, s, v = svd(W)
        weight = float(s.sum())
        kept = s > s.max(initial=0) * SMALLEST
        root: Vector = np.sqrt(s[kept] / weight) if weight > 0 else s[kept]
        return cls(p[:, kept] * root, v[:, kept] * root, weight)


def _rotate(images: list[Matrix]) -> tuple[list[Matrix], Matrix]:
    """Rotate images of one language until they are nearest to their mean; return that, too."""
    b, basis = eigh(np.mean([image @ image.T for image in images], axis=0))
    kept = b > b.max(initial=0) * SMALLEST
    mean: Matrix = (basis[:, kept] * np.sqrt(b[kept]))[:, ::-1]  # the largest first
    size = 0.0
    for _ in range(MOST_ROUNDS):
        rotations = [polar(image.T @ mean) for image in images]
        turned = [image @ rotation for image, rotation in zip(images, rotations, strict=True)]
        mean = np.mean(turned, axis=0)
        before, size = size, float(np.vdot(mean, mean))
        if size - before <= TOLERANCE * size:
            break
    return rotations, mean


def root_of_square(matrix: Matrix) -> Matrix:
    """Return (W'W)^(1/2)."""
    _, s, v = svd(matrix)
    root: Matrix = (v * s) @ v.T
    return root
