"""Weights of features, learnt by a conditional logit over the candidates of words.

With S the base's score and f the numbers of the features, the word x chooses the candidate z with

    p(z | x) = exp(t S(x, z) + v . f(x, z)) / sum over candidates z' of the same

t > 0 and v maximize the weighted mean of log p of the correct candidates, less

    strength / 2  sum over numbers j of (deviation of f_j  (v_j - t w_j))^2

so that the weights v / t stay near the fixed ones w unless the words say otherwise. Both are
concave in (t, v) where a word has one correct candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from geomm_plugin.arrays import Mask, Matrix, Vector
from geomm_plugin.retrieval.rerank.reranked_index import Candidates

FIRST_SCALE = 10.0  # t, to begin with
MAX_STEPS = 200


@dataclass(frozen=True, eq=False)
class Choices:
    """Words whose correct candidates are known: (words, candidates) and their numbers."""

    base: Matrix  # -inf where there is no candidate
    numbers: Matrix
    is_correct: Mask
    weights: Vector  # of the words

    def __len__(self) -> int:
        return len(self.base)

    @classmethod
    def of(cls, candidates: Candidates, is_correct: Mask, weights: Vector) -> Choices:
        """Take the words that have a correct candidate; the others teach nothing."""
        taught = is_correct.any(axis=1)
        return cls(
            candidates.base[taught],
            candidates.numbers[taught],
            is_correct[taught],
            weights[taught],
        )

    @classmethod
    def joined(cls, parts: Sequence[Choices]) -> Choices:
        """Put several together; rows are filled up to equal lengths."""
        width = max(part.base.shape[1] for part in parts)

        def filled(values: Matrix | Mask, value: float) -> Matrix:
            missing = [(0, 0), (0, width - values.shape[1])] + [(0, 0)] * (values.ndim - 2)
            return np.pad(values, missing, constant_values=value)

        return cls(
            np.concatenate([filled(part.base, -np.inf) for part in parts]),
            np.concatenate([filled(part.numbers, 0) for part in parts]),
            np.concatenate([filled(part.is_correct, 0) for part in parts]).astype(bool),
            np.concatenate([part.weights for part in parts]),
        )


def learn_weights(choices: Choices, fixed: Vector, strength: float) -> Vector:
    """Return the weight of each number."""
    from scipy.optimize import minimize

    is_there = np.isfinite(choices.base)
    base = np.where(is_there, choices.base, 0)
    deviation = choices.numbers[is_there].std(axis=0)
    share = (choices.weights / choices.weights.sum())[:, None]
    scale = np.where(deviation > 0, deviation, 1)  # numbers that never differ keep their weight

    def loss(parameters: Vector) -> tuple[float, Vector]:
        t, v = parameters[0], parameters[1:]
        utility = np.where(is_there, t * base + choices.numbers @ v, -np.inf)
        everything, p = _softmax(utility)
        correct, q = _softmax(np.where(choices.is_correct, utility, -np.inf))
        difference = share * (p - q)
        gradient_v = np.einsum("ij,ijk->k", difference, choices.numbers)
        away = scale * (v - t * fixed)
        value = float((everything - correct) @ share[:, 0]) + strength / 2 * float(away @ away)
        gradient_v += strength * scale * away
        gradient_t = float((difference * base).sum()) - strength * float((scale * fixed) @ away)
        return value, np.concatenate([[gradient_t], gradient_v])

    first = np.concatenate([[FIRST_SCALE], FIRST_SCALE * fixed])
    bounds = [(1e-3, None)] + [(None, None)] * len(fixed)
    result = minimize(
        loss, first, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": MAX_STEPS}
    )
    weights: Vector = result.x[1:] / result.x[0]
    return weights


def _softmax(utility: Matrix) -> tuple[Vector, Matrix]:
    """Return log sum exp of each row, and the probabilities."""
    largest = utility.max(axis=1, keepdims=True)
    exponentials = np.exp(utility - largest)
    sums = exponentials.sum(axis=1, keepdims=True)
    return (largest + np.log(sums))[:, 0], exponentials / sums
