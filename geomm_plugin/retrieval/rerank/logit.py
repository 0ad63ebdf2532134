"""Weights of features, learnt by a conditional logit over the candidates of words.

With S the base's score, f the numbers of the features and e the sparse ones, the word x chooses the
candidate z with

    p(z | x) = exp(u(x, z)) / sum over candidates z' of exp(u(x, z')),   u = t S + v . f + c . e

t > 0, v and c maximize the mean of log p of the correct candidates, less

    10 / (2 n)  (sum over numbers j of (deviation of f_j  (v_j - prior_j))^2  +  |c|^2)

for n words, so that few words leave the weights at their prior and many move them. Learnt weights
are v / t and c / t: of scores in units of S.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from geomm_plugin.arrays import Mask, Matrix, RowIndices, Vector

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SCALE = 10.0  # t of a prior: how steeply probabilities follow scores
STRENGTH = 10.0  # with which weights are held to their prior
STRENGTH_OF_COLUMNS = 10.0  # with which those of sparse features are held to 0
MAX_STEPS = 100


@dataclass(frozen=True, eq=False)
class Choices:
    """Words whose correct translations are known: (words, candidates) and their numbers."""

    base: Matrix  # -inf where there is no candidate
    numbers: Matrix
    table: csr_array  # (words * candidates, columns of all sparse features)
    is_correct: Mask
    log_ranks: Vector  # of the words

    def __len__(self) -> int:
        return len(self.base)

    @property
    def has_answer(self) -> Mask:
        """Which words have a correct candidate; the others teach no weights."""
        return np.asarray(self.is_correct.any(axis=1))

    def take(self, words: RowIndices) -> Choices:
        """Return some of the words."""
        width = self.base.shape[1]
        rows = (words[:, None] * width + np.arange(width)).ravel()
        return Choices(
            self.base[words],
            self.numbers[words],
            self.table[rows],
            self.is_correct[words],
            self.log_ranks[words],
        )

    @classmethod
    def joined(cls, parts: Sequence[Choices]) -> Choices:
        """Put several together; rows are filled up to equal lengths."""
        from scipy.sparse import csr_array, vstack

        width = max(part.base.shape[1] for part in parts)

        def filled(values: Matrix | Mask, value: float) -> Matrix:
            missing = [(0, 0), (0, width - values.shape[1])] + [(0, 0)] * (values.ndim - 2)
            return np.pad(values, missing, constant_values=value)

        def spread(part: Choices) -> csr_array:
            counts = np.diff(part.table.indptr).reshape(part.base.shape)
            starts = np.append(0, np.cumsum(filled(counts, 0).ravel()))
            shape = (len(part) * width, part.table.shape[1])
            return csr_array((part.table.data, part.table.indices, starts), shape)

        return cls(
            np.concatenate([filled(part.base, -np.inf) for part in parts]),
            np.concatenate([filled(part.numbers, 0) for part in parts]),
            csr_array(vstack([spread(part) for part in parts])),
            np.concatenate([filled(part.is_correct, 0) for part in parts]).astype(bool),
            np.concatenate([part.log_ranks for part in parts]),
        )


@dataclass(frozen=True, eq=False)
class Weights:
    """What the logit learns: scores are S + numbers . f + columns . e, utilities t times that."""

    t: float
    numbers: Vector
    columns: Vector

    def scores(self, choices: Choices) -> Matrix:
        """Return the score of each candidate; -inf where there is none."""
        sparse = (choices.table @ self.columns).reshape(choices.base.shape)
        scores: Matrix = choices.base + choices.numbers @ self.numbers + sparse
        return scores


def learn_weights(
    choices: Choices,
    prior: Weights,
    strength: float = STRENGTH,
    strength_of_columns: float = STRENGTH_OF_COLUMNS,
) -> Weights:
    """Return the weights that choose the correct candidates most probably."""
    from scipy.optimize import minimize

    choices = choices.take(np.flatnonzero(choices.has_answer))
    count, width, numbers = choices.numbers.shape
    is_there = np.isfinite(choices.base)
    base = np.where(is_there, choices.base, 0)[:, :, None]
    dense = np.concatenate([base, choices.numbers], axis=2).reshape(-1, numbers + 1)
    deviation = dense[is_there.ravel()].std(axis=0)
    table, transposed = choices.table, choices.table.T.tocsr()
    held, held_columns = strength / count, strength_of_columns / count
    centre = prior.t * np.append(1.0, prior.numbers)

    def loss(parameters: Vector) -> tuple[float, Vector]:
        v, c = parameters[: numbers + 1], parameters[numbers + 1 :]
        utility = (dense @ v + table @ c).reshape(count, width)
        everything, p = softmax(np.where(is_there, utility, -np.inf))
        correct, q = softmax(np.where(choices.is_correct, utility, -np.inf))
        difference = ((p - q) / count).ravel()
        away = deviation * (v - centre)
        value = float((everything - correct).mean()) + held / 2 * float(away @ away)
        gradient = dense.T @ difference + held * deviation * away
        slope_of_columns = transposed @ difference + held_columns * c
        value += held_columns / 2 * float(c @ c)
        return value, np.concatenate([gradient, slope_of_columns])

    first = np.concatenate([centre, np.zeros(table.shape[1])])
    bounds = [(1e-3, None)] + [(None, None)] * (len(first) - 1)
    result = minimize(
        loss, first, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": MAX_STEPS}
    )
    t = float(result.x[0])
    return Weights(t, result.x[1 : numbers + 1] / t, result.x[numbers + 1 :] / t)


def softmax(utility: Matrix) -> tuple[Vector, Matrix]:
    """Return log sum exp of each row, and the probabilities."""
    largest = utility.max(axis=1, keepdims=True)
    exponentials = np.exp(utility - largest)
    sums = exponentials.sum(axis=1, keepdims=True)
    return (largest + np.log(sums))[:, 0], exponentials / sums
