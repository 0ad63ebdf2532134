"""[normalize] Steps that make the vectors of two languages comparable, in any order.

x is a row, X all rows of one language:

- `unit`:      x / ||x||                       (a zero vector stays zero)
- `center`:    x - mean of the rows of X       (learnt in fit)
- `unitdim`:   each column / its norm over X   (learnt in fit)
- `centeremb`: x - mean of x's own numbers
- `iterative`: `unit` and `center` in turn, five times, after which rows have nearly length 1 *and*
  mean zero (Zhang, Xu, Kawarabayashi, Jegelka, Boyd-Graber: "Are Girls Neko or Shōjo?", ACL 2019)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from geomm_plugin.arrays import BLOCK_ROWS, Matrix, Vector, slices
from geomm_plugin.errors import (
    FormatError,
    LanguagesError,
    ParameterError,
    UnknownNameError,
    did_you_mean,
)

STEPS = ("unit", "center", "unitdim", "centeremb", "iterative")
ITERATIVE = ("unit", "center") * 5  # the steps that `iterative` stands for
_ROWS_IN_CACHE = 256  # scaled at a time
LEARNT_STEPS = ("center", "unitdim")  # they depend on all rows of a language


def unit(vectors: Matrix) -> Matrix:
    """Scale each row to length 1; a zero row stays zero. float16 is scaled in float32."""
    result = np.empty(vectors.shape, np.result_type(vectors.dtype, np.float32))
    for part in slices(len(vectors), _ROWS_IN_CACHE):
        rows, scaled = vectors[part].astype(result.dtype, copy=False), result[part]
        largest = np.abs(rows).max(axis=1, keepdims=True, initial=0)
        # Divide by the largest number first: squares of huge or tiny ones leave float32's range.
        np.divide(rows, np.where(largest > 0, largest, 1), out=scaled)
        lengths = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
        scaled /= np.where(lengths > 0, lengths, 1)
    return result


def center(vectors: Matrix, mean: Vector) -> Matrix:
    """Subtract the mean of a language's rows."""
    result: Matrix = vectors - mean.astype(vectors.dtype)
    return result


def unitdim(vectors: Matrix, norms: Vector) -> Matrix:
    """Divide each column by its norm over a language's rows; a zero column stays zero."""
    result: Matrix = vectors / np.where(norms > 0, norms, 1).astype(vectors.dtype)
    return result


def centeremb(vectors: Matrix) -> Matrix:
    """Subtract from each row the mean of its own numbers."""
    result: Matrix = vectors - vectors.mean(axis=1, keepdims=True)
    return result


class Normalizer:
    """Ordered steps, and what they learnt from each language.

    Parameters
    ----------
    steps
        Names among STEPS, applied from left to right.
    """

    def __init__(self, steps: Sequence[str] = ("unit", "center")):
        for step in steps:
            if step not in STEPS:
                raise ParameterError(
                    f"There is no normalization {step!r}.{did_you_mean(step, STEPS)} "
                    f"Steps: {', '.join(STEPS)}."
                )
        self.steps = tuple(steps)
        self._plain = tuple(
            plain for step in steps for plain in (ITERATIVE if step == "iterative" else (step,))
        )
        self.learnt: dict[str, dict[int, Vector]] = {}  # language -> position of a step -> array

    def fit(self, vectors: Mapping[str, Any]) -> Normalizer:
        """Learn the means and norms of each language: one pass over its rows for each such step."""
        for language, rows in vectors.items():
            learnt: dict[int, Vector] = {}
            for position, step in enumerate(self._plain):
                if step in LEARNT_STEPS:
                    learnt[position] = self._learn(step, rows, learnt, position)
            self.learnt[language] = learnt
        return self

    def transform(self, language: str, vectors: Matrix) -> Matrix:
        """Apply the steps to rows of a language, with what was learnt from it in fit."""
        if language not in self.learnt:
            raise UnknownNameError(
                f"The language {language!r} was not fitted; there are {', '.join(self.learnt)}."
            )
        return self._apply(vectors, self.learnt[language], len(self._plain))

    @property
    def has_affine_directions(self) -> bool:
        """Whether `directions` is there: no mean is subtracted after `unit`."""
        plain = self._plain
        return "unit" not in plain or "center" not in plain[plain.index("unit") :]

    def directions(self, language: str, vectors: Matrix) -> Matrix:
        """Apply the steps but `unit`: an affine map, to rows that point where transform's do.

        An affine map of a mean is the mean of what is mapped, which fastText's vectors need. After
        `unit`, a common factor of a row passes through all other steps but `center`.
        """
        return self._apply(vectors, self.learnt[language], len(self._plain), skip="unit")

    def view(self, language: str, vectors: Matrix) -> NormalizedVectors:
        """Return the language's vectors, normalized when rows are asked for."""
        return NormalizedVectors(self, language, vectors)

    def state(self) -> dict[str, Vector]:
        """Return what was learnt, as named arrays."""
        return {
            f"{language}/{position}": array
            for language, arrays in self.learnt.items()
            for position, array in arrays.items()
        }

    def restore(self, dimensions: Mapping[str, int], state: Mapping[str, Vector]) -> None:
        """Take back what state() gave, for languages of these dimensions."""
        places = {
            f"{language}/{position}": (language, position)
            for language in dimensions
            for position, step in enumerate(self._plain)
            if step in LEARNT_STEPS
        }
        if places.keys() != state.keys():
            raise FormatError(
                f"The normalization {', '.join(self.steps)} learns the arrays "
                f"{', '.join(places) or 'none'}; there are {', '.join(state) or 'none'}."
            )
        learnt: dict[str, dict[int, Vector]] = {language: {} for language in dimensions}
        for name, (language, position) in places.items():
            array = state[name]
            is_floating = np.issubdtype(array.dtype, np.floating)
            if not (
                is_floating and array.shape == (dimensions[language],) and np.isfinite(array).all()
            ):
                raise FormatError(
                    f"The array {name!r} must hold {dimensions[language]} finite numbers, one a "
                    "dimension."
                )
            learnt[language][position] = array
        self.learnt = learnt

    def _learn(self, step: str, rows: Any, learnt: dict[int, Vector], position: int) -> Vector:
        total = np.zeros(rows.shape[1])
        sums = partial(self._block_sums, step, learnt, position)
        for part in rows.each_block(sums) if hasattr(rows, "each_block") else _each(sums, rows):
            total += part
        result: Vector = total / max(len(rows), 1) if step == "center" else np.sqrt(total)
        if not np.isfinite(result).all():
            raise LanguagesError(
                f"The vectors are too large for the normalization {step!r}. Put 'unit' before it, "
                "or scale them down."
            )
        return result

    def _block_sums(
        self, step: str, learnt: dict[int, Vector], position: int, rows: Matrix
    ) -> Vector:
        """Return the sums that a step learns from, over some rows."""
        with np.errstate(all="ignore"):
            block = self._apply(rows, learnt, position)
            if step == "center":
                sums: Vector = block.sum(axis=0, dtype=np.float64)
            else:
                sums = (block.astype(np.float64) ** 2).sum(axis=0)
        return sums

    def _apply(
        self, vectors: Matrix, learnt: dict[int, Vector], count: int, skip: str = ""
    ) -> Matrix:
        rows = vectors.astype(np.result_type(vectors.dtype, np.float32), copy=False)
        for position, step in enumerate(self._plain[:count]):
            if step == skip:
                continue
            if step == "unit":
                rows = unit(rows)
            elif step == "center":
                rows = center(rows, learnt[position])
            elif step == "unitdim":
                rows = unitdim(rows, learnt[position])
            else:
                rows = centeremb(rows)
        return rows


def _each(function: Callable[[Matrix], Vector], rows: Matrix) -> Iterator[Vector]:
    for block in slices(len(rows), BLOCK_ROWS):
        yield function(rows[block])


class NormalizedVectors(np.lib.mixins.NDArrayOperatorsMixin):
    """The vectors of a language, normalized row by row when they are asked for.

    `view[rows]` is an ordinary array; the vocabulary itself is never copied. All other operations
    of an array (`view.T`, `view - mean`, `np.asarray(view)`, ...) normalize all rows first.
    """

    ndim = 2

    def __init__(self, normalizer: Normalizer, language: str, vectors: Matrix):
        self.normalizer = normalizer
        self.language = language
        self.raw = vectors
        self.grams: dict[int, Matrix] = {}  # X'X of so many first rows, where it was asked for

    @property
    def shape(self) -> tuple[int, int]:
        """Words and dimensions."""
        return (len(self.raw), int(self.raw.shape[1]))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the normalized numbers."""
        return np.result_type(self.raw.dtype, np.float32)

    def __len__(self) -> int:
        return len(self.raw)

    def __getitem__(self, rows: Any) -> Any:
        if isinstance(rows, (int, np.integer)):
            return self[np.array([rows])][0]
        if isinstance(rows, tuple) and rows and isinstance(rows[0], slice):
            return self[rows[0]][(slice(None), *rows[1:])]  # whole rows first, then columns
        if isinstance(rows, tuple) or rows is None or rows is Ellipsis:
            return np.asarray(self)[rows]
        return self.normalizer.transform(self.language, self.raw[rows])

    def blocks(self, size: int = BLOCK_ROWS) -> Iterator[Matrix]:
        """Go through the normalized vectors in order, some rows at a time."""
        for start in range(0, len(self), size):
            yield self[start : start + size]

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Matrix:
        all_rows: Matrix = self[:]
        return all_rows if dtype is None else all_rows.astype(dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        arrays = (np.asarray(x) if isinstance(x, NormalizedVectors) else x for x in inputs)
        return getattr(ufunc, method)(*arrays, **options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(f"Normalized vectors have no attribute {name!r}.")
        return getattr(np.asarray(self), name)
