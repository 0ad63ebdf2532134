"""Factorizations of d x d matrices, in float64, with few BLAS threads and a second driver.

At these sizes threads mostly wait for each other: the same 40 ms job can take seconds of CPU.

The iterations inside an SVD or an eigenvalue problem may fail to converge on one processor and not
on another. So each factorization has several drivers of LAPACK: the next one is asked where the
first raises or returns what is not finite. Matrices of extreme size (beyond 2^-100 ... 2^100) are
scaled by a power of two before and after, which is exact.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import cache, lru_cache, partial
from typing import Any, Literal, TypeAlias

import numpy as np

from geomm_plugin.arrays import Matrix, Vector
from geomm_plugin.errors import GeommError

LARGEST_UNSCALED = 100  # binary exponent of the largest entry; its square is far from overflow
NEXT_STEP = (
    "The vectors may be zero or of extreme size, or the dictionary too small. Look at both; "
    "normalize the vectors by 'unit' first, or regularize more."
)
Driver: TypeAlias = Callable[..., tuple[Matrix, ...]]


class FactorizationError(GeommError, np.linalg.LinAlgError):
    """A matrix that no driver of LAPACK can factorize."""


@lru_cache(maxsize=1)
def _controller(modules: int) -> Any:
    """Return what limits threads, looked up anew when modules (and their BLAS) have been loaded."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@cache
def thread_count() -> int:
    """Return how many threads BLAS had before any limit."""
    pools = _controller(len(sys.modules)).select(user_api="blas").info()
    return max((pool["num_threads"] for pool in pools), default=1)


def few_threads(count: int = 1) -> AbstractContextManager[Any]:
    """Limit BLAS to a few threads inside a `with` block: for d x d matrices, as in every fit."""
    thread_count()  # counted before the first limit
    controller = _controller(len(sys.modules))
    limited: AbstractContextManager[Any] = controller.limit(limits=count, user_api="blas")
    return limited


def all_threads() -> AbstractContextManager[Any]:
    """Give BLAS all its threads again: for products over vocabularies in the midst of a fit."""
    return few_threads(thread_count())


def eigh(symmetric: Matrix) -> tuple[Vector, Matrix]:
    """Return eigenvalues and vectors of a positive semi-definite matrix; no value is below zero."""
    what = "The eigenvalues of a matrix"
    scaled, exponent = _scaled(symmetric, what)
    drivers = (
        lambda matrix: tuple(np.linalg.eigh(matrix)),
        partial(_scipy_eigh, driver="evr"),
        partial(_scipy_eigh, driver="ev"),
    )
    values, vectors = _first_finite(what, drivers, scaled)
    return np.maximum(np.ldexp(values, exponent), 0), vectors


def generalized_eigh(a: Matrix, b: Matrix) -> tuple[Vector, Matrix]:
    """Return w and X with X' a X = diag(w), X' b X = I, for symmetric a and positive definite b."""
    what = "The eigenvalues of a pair of matrices"
    _check_finite(what, float(np.abs(a).max(initial=0)), a.shape)
    _check_finite(what, float(np.abs(b).max(initial=0)), b.shape)
    drivers = (partial(_scipy_eigh, driver="gvd"), partial(_scipy_eigh, driver="gv"))
    values, vectors = _first_finite(what, drivers, a, b)
    return values, vectors


def svd(matrix: Matrix) -> tuple[Matrix, Vector, Matrix]:
    """Return P, s, V with matrix = P diag(s) V'; the signs are fixed, so that two runs agree."""
    what = "The singular value decomposition of a matrix"
    scaled, exponent = _scaled(matrix, what)
    drivers = (
        lambda matrix: tuple(np.linalg.svd(matrix, full_matrices=False)),
        partial(_scipy_svd, driver="gesvd"),
        partial(_scipy_svd, driver="gesdd"),
    )
    p, s, v_transposed = _first_finite(what, drivers, scaled)
    largest = np.abs(p).argmax(axis=0)
    signs = np.where(p[largest, np.arange(len(s))] < 0, -1.0, 1.0)
    return p * signs, np.ldexp(s, exponent), v_transposed.T * signs


def polar(matrix: Matrix) -> Matrix:
    """Return the (semi-)orthogonal matrix nearest to a matrix: P V' of its SVD."""
    p, _, v = svd(matrix)
    rotation: Matrix = p @ v.T
    return rotation


def spectral_norm(matrix: Matrix) -> float:
    """Return the largest singular value."""
    what = "The largest singular value of a matrix"
    scaled, exponent = _scaled(matrix, what)
    drivers = (
        lambda rows: (np.asarray(np.linalg.norm(rows, 2)),),
        lambda rows: (_scipy_svd(rows, driver="gesvd")[1].max(),),
    )
    (largest,) = _first_finite(what, drivers, scaled)
    return float(np.ldexp(largest, exponent))


def solve(matrix: Matrix, rhs: Matrix) -> Matrix:
    """Return x with matrix @ x = rhs, of one or several matrices; the shortest x if there are many.

    Elimination comes first; where a pivot is zero, the solution of least squares by the SVD.
    """
    try:
        with few_threads():
            solution: Matrix = np.linalg.solve(matrix, rhs)
    except np.linalg.LinAlgError:
        return _least_squares(matrix, rhs)
    return solution


def positive_solver(matrix: Matrix) -> Callable[[Matrix], Matrix]:
    """Return what solves matrix @ x = rhs for a positive definite matrix, by Cholesky's factors.

    Where rounding leaves a pivot that is not positive, as `solve`.
    """
    from scipy.linalg import cho_factor, cho_solve

    try:
        with few_threads():
            return partial(cho_solve, cho_factor(matrix))
    except np.linalg.LinAlgError:
        return partial(solve, matrix)


def orthonormal_columns(matrix: Matrix) -> Matrix:
    """Return Q of the QR factorization; Householder reflections always end."""
    with few_threads():
        columns: Matrix = np.linalg.qr(_scaled(matrix, "The QR factorization of a matrix")[0])[0]
    return columns


def _first_finite(what: str, drivers: Iterable[Driver], *matrices: Matrix) -> tuple[Matrix, ...]:
    """Return what the first driver gives that neither raises nor returns NaN or infinity."""
    problems: list[str] = []
    for driver in drivers:
        if problems:
            import scipy.linalg  # noqa: F401  # its BLAS must be there before threads are limited
        try:
            with few_threads():
                factors = driver(*matrices)
        except np.linalg.LinAlgError as error:
            problems.append(str(error))
            continue
        if all(np.isfinite(factor).all() for factor in factors):
            return factors
        problems.append("the result is not finite")
    raise FactorizationError(
        f"{what} of the shape {matrices[0].shape} was not found: {'; '.join(problems)}. {NEXT_STEP}"
    )


def _scaled(matrix: Matrix, what: str) -> tuple[Matrix, int]:
    """Return a matrix of ordinary size in float64, and the exponent of the 2 it was divided by."""
    matrix = matrix.astype(np.float64, copy=False)
    largest = float(np.abs(matrix).max(initial=0))
    _check_finite(what, largest, matrix.shape)
    exponent = int(np.frexp(largest)[1])
    if abs(exponent) <= LARGEST_UNSCALED:
        return matrix, 0
    return np.ldexp(matrix, -exponent), exponent


def _check_finite(what: str, largest: float, shape: tuple[int, ...]) -> None:
    if not np.isfinite(largest):
        raise FactorizationError(
            f"{what} of the shape {shape} needs finite numbers, but some are NaN or infinite. "
            f"{NEXT_STEP}"
        )


def _scipy_eigh(*matrices: Matrix, driver: Literal["ev", "evr", "gv", "gvd"]) -> tuple[Matrix, ...]:
    import scipy.linalg

    return tuple(scipy.linalg.eigh(*matrices, driver=driver, check_finite=False))


def _scipy_svd(matrix: Matrix, driver: Literal["gesvd", "gesdd"]) -> tuple[Matrix, ...]:
    import scipy.linalg

    settings: Any = {"full_matrices": False, "check_finite": False}
    return tuple(scipy.linalg.svd(matrix, lapack_driver=driver, **settings))


def _least_squares(matrix: Matrix, rhs: Matrix) -> Matrix:
    """Solve by the SVD; singular values below rounding count as zero."""
    if matrix.ndim > 2:
        rhs = np.broadcast_to(rhs, (*matrix.shape[:-2], *rhs.shape[-2:]))
        return np.stack([_least_squares(one, b) for one, b in zip(matrix, rhs, strict=True)])
    p, s, v = svd(matrix)
    usable = s > s.max(initial=0) * max(matrix.shape) * np.finfo(np.float64).eps
    inverse = np.divide(1, s, out=np.zeros_like(s), where=usable)
    solution: Matrix = (v * inverse) @ (p.T @ rhs)
    return solution
