"""Factorizations of d x d matrices, in float64, with few BLAS threads.

At these sizes threads mostly wait for each other: the same 40 ms job can take seconds of CPU.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import cache, lru_cache
from typing import Any

import numpy as np

from geomm_plugin.arrays import Matrix, Vector


@lru_cache(maxsize=1)
def _controller(modules: int) -> Any:
    """Return what limits threads, looked up anew when modules (and their BLAS) have been loaded."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@cache
def _all() -> int:
    """Return how many threads BLAS had before any limit."""
    pools = _controller(len(sys.modules)).select(user_api="blas").info()
    return max((pool["num_threads"] for pool in pools), default=1)


def few_threads(count: int = 1) -> AbstractContextManager[Any]:
    """Limit BLAS to a few threads inside a `with` block: for d x d matrices, as in every fit."""
    _all()  # counted before the first limit
    controller = _controller(len(sys.modules))
    limited: AbstractContextManager[Any] = controller.limit(limits=count, user_api="blas")
    return limited


def all_threads() -> AbstractContextManager[Any]:
    """Give BLAS all its threads again: for products over vocabularies in the midst of a fit."""
    return few_threads(_all())


def eigh(symmetric: Matrix) -> tuple[Vector, Matrix]:
    """Return eigenvalues and vectors of a positive semi-definite matrix; no value is below zero."""
    with few_threads():
        values, vectors = np.linalg.eigh(symmetric.astype(np.float64, copy=False))
    return np.maximum(values, 0), vectors


def svd(matrix: Matrix) -> tuple[Matrix, Vector, Matrix]:
    """Return P, s, V with matrix = P diag(s) V'; the signs are fixed, so that two runs agree."""
    with few_threads():
        p, s, v_transposed = np.linalg.svd(
            matrix.astype(np.float64, copy=False), full_matrices=False
        )
    largest = np.abs(p).argmax(axis=0)
    signs = np.where(p[largest, np.arange(len(s))] < 0, -1.0, 1.0)
    return p * signs, s, v_transposed.T * signs


def polar(matrix: Matrix) -> Matrix:
    """Return the (semi-)orthogonal matrix nearest to a matrix: P V' of its SVD."""
    p, _, v = svd(matrix)
    rotation: Matrix = p @ v.T
    return rotation
