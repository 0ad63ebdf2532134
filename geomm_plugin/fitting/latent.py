"""Where words are compared: in a latent space that both sides share, or in the target's own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Literal, TypeAlias

import numpy as np

from geomm_plugin.arrays import Matrix, Vector
from geomm_plugin.errors import LanguagesError
from geomm_plugin.factorization import eigh, few_threads, generalized_eigh, svd

# Both languages carry half of the metric of W, or the source carries all of it (A_hub = I).
Inference: TypeAlias = Literal["latent", "target"]
RELATIVE_RANK_TOLERANCE = 1e-12  # directions that are shorter, relatively, are left out
MOST_STEPS, SHORTEST_STEP = 50, 2.0**-20
TOLERANCE = 1e-4  # a step that gains less of the distance is the last


def join_maps(
    inference: Inference, hub: str, dimension: int, maps: dict[str, Matrix]
) -> dict[str, Matrix]:
    """Turn the maps W into the hub's space into one A per language."""
    return latent_maps(hub, maps) if inference == "latent" else {hub: np.eye(dimension), **maps}


def latent_maps(hub: str, maps: dict[str, Matrix]) -> dict[str, Matrix]:
    """Share the metric of the maps into a hub between both sides: A_L A_hub' = W_L.

    For one map W = P diag(s) V' this is the paper's latent space:

        A_s = P diag(sqrt s),     A_hub = V diag(sqrt s)

    Several maps (each scaled alike) share one metric of the hub, G, chosen by `hub_metric`:

        A_hub = G^(1/2),     A_L = W_L G^(-1/2)
    """
    if not any(W.any() for W in maps.values()):
        raise LanguagesError(
            "The dictionary leaves no direction to map along: every map is zero. Check that its "
            "words have vectors that are not zero, and give more pairs."
        )
    if len(maps) == 1:
        ((language, W),) = maps.items()
        p, s, v = svd(W)
        kept = s > s.max() * RELATIVE_RANK_TOLERANCE
        root = np.sqrt(s[kept])
        return {hub: v[:, kept] * root, language: p[:, kept] * root}
    weights, metrics = zip(*(_scaled_metric(W) for W in maps.values() if W.any()), strict=True)
    values, basis = hub_metric(metrics)
    scales = np.sqrt(values) * np.sqrt(np.mean(weights))
    return {hub: basis * scales} | {language: W @ basis / scales for language, W in maps.items()}


def _scaled_metric(W: Matrix) -> tuple[float, Matrix]:
    """Return the trace of M = (W'W)^(1/2), and M / trace."""
    _, s, v = svd(W)
    trace = float(s.sum())
    return trace, (v * (s / trace)) @ v.T


def hub_metric(metrics: Sequence[Matrix]) -> tuple[Vector, Matrix]:
    """Return the eigenvalues and eigenvectors of the hub's metric, where they are not zero.

    W = A_L A_hub' is kept whatever G = A_hub A_hub' is. Words of L then have the metric W G^-1 W',
    and cosines divide by lengths. For its pair alone G = M = (W'W)^(1/2), and words of L have the
    metric (WW')^(1/2). For all pairs at once, both are to be as near as one G allows:

        min over G of   sum over L of   ||M_L G^-1 M_L - M_L||^2 + ||G - M_L||^2

    by Gauss-Newton steps D of G^-1 from the mean of M_L. The operator of the normal equations,

        D -> sum over L of  M_L^2 D M_L^2 + G^2 D G^2  =  sum over L of  M_L E_L M_L - G F_L G

    with the residuals E_L = M_L - M_L G^-1 M_L and F_L = M_L - G, is inverted with the mean of
    M_L^2 in place of each:  X [(X'RX)_ij / (k_i k_j + 1)] X',  X'G^2X = I,  X' mean X = diag(k).
    """
    b, basis = eigh(reduce(np.add, metrics) / len(metrics))
    kept = b > b.max(initial=0) * RELATIVE_RANK_TOLERANCE
    basis = basis[:, kept]
    own: list[Matrix] = [basis.T @ each @ basis for each in metrics]
    squares: Matrix = reduce(np.add, (each @ each for each in own)) / len(own)
    inverse: Matrix = np.diag(1 / b[kept])
    metric: Matrix = np.diag(b[kept])
    distance = _distance(own, inverse, metric)
    with few_threads():
        for _ in range(MOST_STEPS):
            direction = _direction(own, squares, inverse, metric)
            before, step = distance, 1.0
            while step > SHORTEST_STEP:
                tried = inverse + step * direction
                h, q = eigh(tried)
                if h[0] > 0:
                    distance = _distance(own, tried, turned := (q / h) @ q.T)
                    if distance < before:
                        inverse, metric = tried, turned
                        break
                step /= 2
            if before - distance <= TOLERANCE * before:
                break
    values, turn = eigh(metric)
    return values[::-1], (basis @ turn)[:, ::-1]  # the largest first


def _distance(metrics: list[Matrix], inverse: Matrix, metric: Matrix) -> float:
    """Return the sum that is minimized, for G^-1 and G."""
    parts = (part for M in metrics for part in (M @ inverse @ M - M, metric - M))
    return float(sum(np.vdot(part, part) for part in parts))


def _direction(metrics: list[Matrix], squares: Matrix, inverse: Matrix, metric: Matrix) -> Matrix:
    """Return the step of G^-1."""
    R = sum(
        (M @ (M - M @ inverse @ M) @ M - metric @ (M - metric) @ metric for M in metrics),
        np.zeros_like(metric),
    )
    square = metric @ metric
    square[np.diag_indices_from(square)] += RELATIVE_RANK_TOLERANCE * np.trace(square)
    k, X = generalized_eigh(squares, square)
    D: Matrix = X @ ((X.T @ R @ X) / (len(metrics) * (np.outer(k, k) + 1))) @ X.T
    return (D + D.T) / 2


def root_of_square(matrix: Matrix) -> Matrix:
    """Return (W'W)^(1/2)."""
    _, s, v = svd(matrix)
    root: Matrix = (v * s) @ v.T
    return root
