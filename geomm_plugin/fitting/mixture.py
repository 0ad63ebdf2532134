"""[fit] The closed form of GeoMM mixed with regression both ways.

    W = Q [ (Q' M R)_ij / (a_i c_j + lambda (1 + mu (a_i + c_j))) ] R'

A = Q diag(a) Q' and C = R diag(c) R' are the variances of the source's and the target's words, a
and c in units of their means; M = sum of y x z' over the pairs. Docs, "What geomm_plus is made of".
"""

from __future__ import annotations

import numpy as np

from geomm_plugin.arrays import Matrix
from geomm_plugin.factorization import eigh

NOISE = 10.0  # lambda for as many pairs as dimensions
BACKGROUND_WORDS = 10_000  # most frequent words whose variance is mixed in
SMALLEST = 1e-12  # denominators that are not above it are left out


def solve_mixture(
    cross: Matrix, source: Matrix, target: Matrix, regularization: float, mixture: float
) -> Matrix:
    """Return W from M = cross and the variances A = source and C = target."""
    a, q = eigh(source)
    c, r = eigh(target)
    a, c = _relative(a)[:, None], _relative(c)
    numerator = q.T @ cross @ r
    denominator = a * c + regularization * (1 + mixture * (a + c))
    usable = denominator > SMALLEST
    quotient = np.divide(numerator, denominator, out=np.zeros_like(numerator), where=usable)
    W: Matrix = q @ quotient @ r.T
    return W


def mixture_weight(dimensions: float, pairs: int) -> float:
    """Return lambda by its rule, 10 d / |Omega|."""
    return NOISE * dimensions / pairs


def with_background(own: Matrix, background: Matrix | None, share: float) -> Matrix:
    """Return the dictionary's variance with a share of the vocabulary's, each at trace 1."""
    if background is None or not share:
        return own
    mixed: Matrix = (1 - share) * _at_trace_one(own) + share * _at_trace_one(background)
    return mixed


def _relative(values: Matrix) -> Matrix:
    """Return eigenvalues in units of their mean."""
    mean = values.mean()
    return values / mean if mean > 0 else values


def _at_trace_one(variance: Matrix) -> Matrix:
    trace = np.trace(variance)
    return variance / trace if trace > 0 else variance
