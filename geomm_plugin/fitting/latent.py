"""Where words are compared: in a latent space that both sides share, or in the target's own."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.errors import LanguagesError
from geomm_plugin.factorization import svd

# Both languages carry half of the metric of W, or the source carries all of it (A_hub = I).
Inference: TypeAlias = Literal["latent", "target"]
RELATIVE_RANK_TOLERANCE = 1e-12  # directions that are shorter, relatively, are left out


def two_maps(inference: Inference, W: Matrix) -> tuple[Matrix, Matrix]:
    """Return A of the source and of the target for a map W between them."""
    return latent_maps(W) if inference == "latent" else (W, np.eye(W.shape[1]))


def latent_maps(W: Matrix) -> tuple[Matrix, Matrix]:
    """Share the metric of W = P diag(s) V' between both sides, the paper's latent space.

    A_s = P diag(sqrt s),     A_t = V diag(sqrt s)
    """
    if not W.any():
        raise LanguagesError(
            "The dictionary leaves no direction to map along: every map is zero. Check that its "
            "words have vectors that are not zero, and give more pairs."
        )
    p, s, v = svd(W)
    kept = s > s.max() * RELATIVE_RANK_TOLERANCE
    root = np.sqrt(s[kept])
    return p[:, kept] * root, v[:, kept] * root


def root_of_square(matrix: Matrix) -> Matrix:
    """Return (W'W)^(1/2)."""
    _, s, v = svd(matrix)
    root: Matrix = (v * s) @ v.T
    return root
