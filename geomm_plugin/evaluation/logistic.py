"""[evaluate] Multinomial logistic regression, by L-BFGS, with its strength chosen on training data.

With x_i a text's vector, y_i its label, and one weight vector w_k and intercept b_k per label,

    min over W, b of   C sum_i -log p(y_i | x_i)  +  ||W||^2 / 2,     p(k | x) ~ exp(w_k . x + b_k).

C is chosen by cross-validation, from small to large: labels are divided evenly over the folds, of
equally accurate values the smallest is taken, and after two in a row that are less accurate than
the best, no larger one is tried.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from geomm_plugin.arrays import Matrix, RowIndices, Vector

STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)  # values of C that are tried
FOLDS = 5
EXACT, ROUGH = 1e-6, 1e-4  # largest slope at the end of a fit, and of one that only tries a C
WORSE_IN_A_ROW = 2  # values of C, after which no larger one is tried


@dataclass(frozen=True, eq=False)
class LogisticRegression:
    """Weights (dimension x labels) and intercepts of a fitted classifier."""

    weights: Matrix
    intercepts: Vector

    def predict(self, vectors: Matrix) -> RowIndices:
        """Return the number of the most likely label of each row."""
        best: RowIndices = (vectors @ self.weights + self.intercepts).argmax(axis=1)
        return best


def fit_logistic(
    vectors: Matrix,
    labels: RowIndices,
    C: float,
    start: LogisticRegression | None = None,
    slope: float = EXACT,
) -> LogisticRegression:
    """Fit a classifier of labels 0, 1, ...; `start` is one to start from, since that is faster."""
    from scipy.optimize import minimize

    x = vectors.astype(np.float64)
    count, dimension = x.shape
    n_labels = int(labels.max()) + 1
    one_hot = np.eye(n_labels)[labels]

    def loss(flat: Vector) -> tuple[float, Vector]:
        """Return the objective divided by C n, and its gradient."""
        weights, intercepts = flat[:-n_labels].reshape(dimension, n_labels), flat[-n_labels:]
        logits = x @ weights + intercepts
        logits -= logits.max(axis=1, keepdims=True)
        log_sums = np.log(np.exp(logits).sum(axis=1))
        value = (log_sums.sum() - np.vdot(one_hot, logits)) / count
        value += np.vdot(weights, weights) / (2 * C * count)
        residuals = (np.exp(logits - log_sums[:, None]) - one_hot) / count
        gradient = x.T @ residuals + weights / (C * count)
        return float(value), np.concatenate([gradient.ravel(), residuals.sum(axis=0)])

    first = np.zeros((dimension + 1) * n_labels)
    if start is not None:
        first = np.concatenate([start.weights.ravel(), start.intercepts])
    result = minimize(
        loss, first, jac=True, method="L-BFGS-B", options={"maxiter": 1000, "gtol": slope}
    )
    return LogisticRegression(
        result.x[:-n_labels].reshape(dimension, n_labels), result.x[-n_labels:]
    )


def cross_validate(
    vectors: Matrix, labels: RowIndices, folds: int = FOLDS, seed: int = 0
) -> dict[float, float]:
    """Return the accuracy on held-out items for each C that was tried."""
    fold = divide_evenly(labels, folds, seed)
    classifiers: list[LogisticRegression | None] = [None] * folds
    accuracies: dict[float, float] = {}
    for C in STRENGTHS:
        hits = 0
        for number, start in enumerate(classifiers):
            train, test = fold != number, fold == number
            classifier = fit_logistic(vectors[train], labels[train], C, start, ROUGH)
            hits += int((classifier.predict(vectors[test]) == labels[test]).sum())
            classifiers[number] = classifier
        accuracies[C] = hits / len(labels)
        last = list(accuracies.values())[-WORSE_IN_A_ROW:]
        if max(last) < max(accuracies.values()):
            break
    return accuracies


def divide_evenly(labels: RowIndices, folds: int, seed: int) -> RowIndices:
    """Return the fold of each item, each label divided over the folds as evenly as it goes."""
    order = np.random.default_rng(seed).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), np.intp)
    fold[order] = np.arange(len(labels)) % folds
    return fold


def best_strength(accuracies: dict[float, float]) -> float:
    """Return the smallest C of the highest accuracy."""
    highest = max(accuracies.values())
    return min(C for C, accuracy in accuracies.items() if accuracy == highest)
