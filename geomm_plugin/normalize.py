"""[normalize] Steps that make the vectors of two languages comparable, in any order.

x is a row, X all rows of one language:

- `unit`:      x / ||x||                       (a zero vector stays zero)
- `center`:    x - mean of the rows of X       (learnt in fit)
- `unitdim`:   each column / its norm over X   (learnt in fit)
- `centeremb`: x - mean of x's own numbers
- `iterative`: `unit` and `center` in turn, five times, after which rows have nearly length 1 *and*
  mean zero (Zhang, Xu, Kawarabayashi, Jegelka, Boyd-Graber: "Are Girls Neko or Shōjo?", ACL 2019)

`inverse` undoes them from the last step to the first: the mean is added, columns are multiplied by
their norms, and what `unit` took from a row it gets back on average.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from geomm_plugin.arrays import Matrix, Vector, slices
from geomm_plugin.errors import (
    FormatError,
    LanguagesError,
    ParameterError,
    UnknownNameError,
    did_you_mean,
)
from geomm_plugin.factorization import eigh, few_threads, svd
from geomm_plugin.rows import Rows

STEPS = ("unit", "center", "unitdim", "centeremb", "iterative")
ITERATIVE = ("unit", "center") * 5  # the steps that `iterative` stands for
_ROWS_IN_CACHE = 256  # scaled at a time
_ROWS_OF_LENGTH = 10_000  # whose mean length stands for that of all rows
LEARNT_STEPS = ("center", "unitdim")  # they depend on all rows of a language
DAMPING = 0.3  # times the mean singular value: smaller ones count for little in `into`
VARIANCE_ROWS = 10_000  # most frequent words, whose variance weighs directions in `into`
ROTATION_TOLERANCE = 1e-3  # by which singular values of a rotation differ, relative to the largest


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

    def fit(self, vectors: Mapping[str, Matrix | Rows]) -> Normalizer:
        """Learn the means and norms of each language: one pass over its rows for each such step."""
        for language, rows in vectors.items():
            learnt: dict[int, Vector] = {}
            for position, step in enumerate(self._plain):
                if step in LEARNT_STEPS:
                    learnt[position] = self._learn(step, Rows.of(rows), learnt, position)
            self.learnt[language] = learnt
        return self

    def transform(self, language: str, vectors: Matrix) -> Matrix:
        """Apply the steps to rows of a language, with what was learnt from it in fit."""
        return self._apply(vectors, self._learnt_of(language), len(self._plain))

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

    def lengths(self, language: str, vectors: Matrix | Rows) -> list[float]:
        """Return the mean length of a language's rows before each step, and after the last one.

        Of the first rows, the most frequent words; rows of zeros do not count.
        """
        rows, learnt = Rows.of(vectors), self._learnt_of(language)
        some = rows.take(slice(min(len(rows), _ROWS_OF_LENGTH)))
        found = []
        for count in range(len(self._plain) + 1):
            with np.errstate(all="ignore"):
                after = self._apply(some, learnt, count).astype(np.float64)
                of_rows = np.linalg.norm(after, axis=1)
            above = of_rows[of_rows > 0]
            found.append(float(above.mean()) if len(above) else 1.0)
        return found

    def inverse(self, language: str, vectors: Matrix, lengths: Sequence[float]) -> Matrix:
        """Undo the steps: normalized rows -> where such rows of the language lie before them.

        `center` and `unitdim` are undone exactly; `unit` for rows of the mean length.

        Parameters
        ----------
        lengths
            What `lengths` returns for the language's rows.
        """
        if "centeremb" in self._plain:
            raise ParameterError(
                "The normalization 'centeremb' takes from each row its own mean, which nothing "
                f"remembers, so the vectors of {language!r} as they were cannot be reached. Fit "
                "with a normalization without it, such as unit,center."
            )
        learnt = self._learnt_of(language)
        rows = vectors.astype(np.result_type(vectors.dtype, np.float32), copy=False)
        for position in reversed(range(len(self._plain))):
            step = self._plain[position]
            if step == "unit":
                rows = rows * np.asarray(lengths[position], rows.dtype)
            elif step == "center":
                rows = rows + learnt[position].astype(rows.dtype)
            else:
                rows = rows * _divisors(learnt[position], rows)
        return rows

    def only(self, *languages: str) -> Normalizer:
        """Return the same steps with what they learnt from some of the languages."""
        few = Normalizer(self.steps)
        few.learnt = {language: self._learnt_of(language) for language in languages}
        return few

    def view(self, language: str, vectors: Matrix | Rows) -> Rows:
        """Return the language's vectors, normalized when rows are asked for."""
        rows = Rows.of(vectors)
        is_as_given = not self.steps and rows.dtype != np.float16
        return rows if is_as_given else rows.map(partial(self.transform, language))

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

    def _learnt_of(self, language: str) -> dict[int, Vector]:
        if language not in self.learnt:
            raise UnknownNameError(
                f"The language {language!r} was not fitted; there are {', '.join(self.learnt)}."
            )
        return self.learnt[language]

    def _learn(self, step: str, rows: Rows, learnt: dict[int, Vector], position: int) -> Vector:
        total = np.zeros(rows.shape[1])
        for given in rows.blocks():
            with np.errstate(all="ignore"):
                block = self._apply(given, learnt, position)
                if step == "center":
                    total += block.sum(axis=0, dtype=np.float64)
                else:
                    total += (block.astype(np.float64) ** 2).sum(axis=0)
        result: Vector = total / max(len(rows), 1) if step == "center" else np.sqrt(total)
        if not np.isfinite(result).all():
            raise LanguagesError(
                f"The vectors are too large for the normalization {step!r}. Put 'unit' before it, "
                "or scale them down."
            )
        return result

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
                rows = rows - learnt[position].astype(rows.dtype)
            elif step == "unitdim":
                rows = rows / _divisors(learnt[position], rows)
            else:
                rows = rows - rows.mean(axis=1, keepdims=True)
        return rows


def matrix_into(W: Matrix, source: Rows, target: Rows) -> Matrix:
    """Return T, which moves the source's rows among the target's as W pairs them.

        C_s^(1/4) W C_t^(1/4) = U S V'  (SVD),     T = U S/(S + 0.3 mean(S)) V'

    C are the variances of the frequent rows. T is nearly the rotation U V', but for directions in
    which W sees next to nothing. Where W is a rotation, T is W itself, times a factor.
    """
    with few_threads():
        left, sizes, right = svd(W)
        if not sizes[-1] > (1 - ROTATION_TOLERANCE) * sizes[0]:
            left, sizes, right = svd(_root(source) @ W @ _root(target))
    matrix: Matrix = (left * (sizes / (sizes + DAMPING * (sizes.mean() or 1)))) @ right.T
    return matrix


def _root(rows: Rows) -> Matrix:
    """Return C^(1/4), C the variance of frequent rows and of as many without one as dimensions."""
    values, basis = eigh(rows.gram(VARIANCE_ROWS))
    values = values / (values.mean() or 1) * min(len(rows), VARIANCE_ROWS) + len(values)
    root: Matrix = (basis * values**0.25) @ basis.T
    return root


def _divisors(norms: Vector, rows: Matrix) -> Vector:
    """Return the norms of columns; 1 for a column of zeros, which stays zero."""
    divisors: Vector = np.where(norms > 0, norms, 1).astype(rows.dtype)
    return divisors
