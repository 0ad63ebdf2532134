"""[evaluate] Zero-shot transfer: a classifier of texts learns in one language, and reads another.

Texts are IDF-weighted means of their words' unit vectors in the shared space; the classifier is
multinomial logistic regression: with x_i a text's vector, y_i its label, and weights w_k and an
intercept b_k per label k,

    min over W, b of   C sum_i -log p(y_i | x_i)  +  ||W||^2 / 2,     p(k | x) ~ exp(w_k . x + b_k).

C is chosen by cross-validation on the *training* language: from small to large, until two in a row
are less accurate than the best; of equally accurate values the smallest is taken.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import Matrix, RowIndices, Vector
from geomm_plugin.errors import FormatError, ParameterError
from geomm_plugin.evaluation.task import Score, Task, as_space
from geomm_plugin.evaluation.texts import (
    LabelledTexts,
    has_words,
    read_labelled_texts,
    text_vectors,
)
from geomm_plugin.retrieval import Retrieval
from geomm_plugin.shared_space import SharedSpace

STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)  # values of C that are tried
FOLDS = 5
EXACT, ROUGH = 1e-6, 1e-4  # largest slope at the end of a fit, and of one that only tries a C


@dataclass(frozen=True, eq=False, repr=False)
class Classify(Task):
    """Texts of one language classified by what was learnt from labelled texts of another."""

    name: ClassVar[str] = "classify"
    roles: ClassVar[tuple[str, ...]] = ("train", "test")

    train: Mapping[str, LabelledTexts]  # by language; each trains a classifier of its own
    test: Mapping[str, LabelledTexts]
    C: float | None = None  # the weight of the loss; None: by cross-validation
    seed: int = 0  # divides the training texts into folds

    def __post_init__(self) -> None:
        if not self.train or not self.test:
            raise ParameterError(
                "Classification needs labelled texts to train on and others to test on, each by "
                "language: train={'en': ...}, test={'es': ...}."
            )
        if self.C is not None and not 0 < self.C < np.inf:
            raise ParameterError(f"C is a number above 0; it is {self.C}.")
        for language, texts in self.train.items():
            self._check_labels(language, texts)

    @classmethod
    def from_files(
        cls, files: Mapping[str, Mapping[str, str]], retrievals: Sequence[Retrieval] = ()
    ) -> Self:
        """Read files of label<TAB>text: {"train": {"en": path}, "test": {"es": path}}."""
        read = {
            role: {language: read_labelled_texts(path) for language, path in files[role].items()}
            for role in cls.roles
        }
        return cls(read["train"], read["test"])

    def among(self, languages: Collection[str]) -> Self | None:
        """Return what is learnt and tested in these languages; not one language from itself."""
        train = {name: texts for name, texts in self.train.items() if name in languages}
        test = {name: texts for name, texts in self.test.items() if name in languages}
        if len(train) == 1:
            test = {name: texts for name, texts in test.items() if name not in train}
        return replace(self, train=train, test=test) if train and test else None

    def score(self, space: SharedSpace) -> list[Score]:
        """Train in each training language, and test in each test language."""
        tests = {name: text_vectors(space, name, texts.texts) for name, texts in self.test.items()}
        scores = []
        for language, texts in progress.over("Training", list(self.train.items()), "languages"):
            vectors = text_vectors(space, language, texts.texts)
            classes, labels = np.unique(texts.labels, return_inverse=True)
            known = has_words(vectors)
            self._check_counts(language, np.bincount(labels[known], minlength=len(classes)))
            C, accuracy = self.C, None
            if C is None:
                C, accuracy = cross_validate(vectors[known], labels[known], seed=self.seed)
            weights = fit_logistic(vectors[known], labels[known], C)
            details = {"C": C, "cv_accuracy": accuracy}
            for name, rows in tests.items():
                answers = classes[predict(weights, rows)]
                scores.append(self._score(language, name, answers, rows, details))
        return scores

    def _score(
        self, train: str, test: str, answers: Any, vectors: Matrix, details: Mapping[str, Any]
    ) -> Score:
        truth = np.array(self.test[test].labels)
        hits = (answers == truth).astype(np.float64)
        return Score(
            self.name,
            {"train": train, "test": test},
            {"accuracy": float(hits.mean()), "macro-f1": macro_f1(truth, answers)},
            hits,
            {**details, "coverage": float(has_words(vectors).mean()), "n_texts": len(truth)},
        )

    def _check_counts(self, language: str, counts: RowIndices) -> None:
        if counts.min() < FOLDS:
            raise FormatError(
                f"The training texts of {language} need at least {FOLDS} with known words for each "
                f"label; the rarest label has {counts.min()}. Add texts, check the language, or "
                "leave the label out."
            )

    def _check_labels(self, language: str, texts: LabelledTexts) -> None:
        known = set(texts.labels)
        if len(known) < 2:
            raise FormatError(
                f"The training texts of {language} have {len(known)} labels; a classifier needs at "
                "least two."
            )
        for name, tested in self.test.items():
            unknown = sorted(set(tested.labels) - known)
            if unknown or not tested.labels:
                what = f"the label {unknown[0]!r}" if unknown else "no text"
                raise FormatError(
                    f"The test texts of {name} have {what}; those of {language}, which are learnt "
                    f"from, have {', '.join(sorted(known))}. Name labels alike in both, or leave "
                    "others out."
                )

    def __repr__(self) -> str:
        sides = [
            ", ".join(f"{language} {len(texts)}" for language, texts in side.items())
            for side in (self.train, self.test)
        ]
        return f"<Classify: train {sides[0]}; test {sides[1]}>"


def macro_f1(truth: Any, answers: Any) -> float:
    """Return the mean over labels of F1 = 2 hits / (answers with the label + texts of the label).

    Labels are those of the texts and of the answers.
    """
    classes, codes = np.unique(np.concatenate([truth, answers]), return_inverse=True)
    true, given = codes[: len(truth)], codes[len(truth) :]
    hits = np.bincount(true[true == given], minlength=len(classes))
    total = np.bincount(codes, minlength=len(classes))
    return float(np.mean(2 * hits / total))


def evaluate_classification(
    space: Mapping[str, object],
    train: Mapping[str, LabelledTexts],
    test: Mapping[str, LabelledTexts],
    *,
    C: float | None = None,
) -> list[Score]:
    """Train a classifier in one language, and test it in others that share the space.

    Parameters
    ----------
    space
        A SharedSpace, or aligned embeddings by language.
    train, test
        Labelled texts by language; read_labelled_texts(path) reads label<TAB>text.
    C
        The weight of the loss against the size of the weights; by default it is chosen by
        cross-validation on the training language.
    """
    return Classify(train, test, C).score(as_space(space))


def fit_logistic(
    vectors: Matrix,
    labels: RowIndices,
    C: float,
    start: Matrix | None = None,
    slope: float = EXACT,
) -> Matrix:
    """Return a row of weights for each dimension, and last one of intercepts: a column per label.

    Labels are 0, 1, ...; a fit that begins at the weights `start` ends sooner, and at the same.
    """
    from scipy.optimize import minimize
    from scipy.special import log_softmax

    x = np.column_stack([vectors.astype(np.float64), np.ones(len(vectors))])
    one_hot = np.eye(int(labels.max()) + 1)[labels]
    penalty = np.full((x.shape[1], 1), 1 / C)
    penalty[-1] = 0

    def loss(flat: Vector) -> tuple[float, Vector]:
        """Return the objective divided by C n, and its gradient."""
        weights = flat.reshape(x.shape[1], -1)
        log_shares = log_softmax(x @ weights, axis=1)
        value = np.vdot(penalty * weights, weights) / 2 - np.vdot(one_hot, log_shares)
        gradient = x.T @ (np.exp(log_shares) - one_hot) + penalty * weights
        return float(value) / len(x), gradient.ravel() / len(x)

    first = np.zeros((x.shape[1], one_hot.shape[1])) if start is None else start
    result = minimize(
        loss, first.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 1000, "gtol": slope}
    )
    return np.asarray(result.x).reshape(first.shape)


def predict(weights: Matrix, vectors: Matrix) -> RowIndices:
    """Return the number of the most likely label of each row."""
    best: RowIndices = (vectors @ weights[:-1] + weights[-1]).argmax(axis=1)
    return best


def cross_validate(
    vectors: Matrix,
    labels: RowIndices,
    seed: int = 0,
    strengths: Sequence[float] = STRENGTHS,
) -> tuple[float, float]:
    """Return the best C, and its accuracy on held-out items."""
    fold = divide_evenly(labels, FOLDS, seed)
    starts: list[Matrix | None] = [None] * FOLDS
    accuracies: dict[float, float] = {}
    for C in strengths:
        hits = 0
        for number, start in enumerate(starts):
            train, test = fold != number, fold == number
            weights = fit_logistic(vectors[train], labels[train], C, start, ROUGH)
            hits += int((predict(weights, vectors[test]) == labels[test]).sum())
            starts[number] = weights
        accuracies[C] = hits / len(labels)
        if max([*accuracies.values()][-2:]) < max(accuracies.values()):
            break
    best = max(accuracies, key=lambda C: accuracies[C])  # of equal ones the first, the smallest
    return best, accuracies[best]


def divide_evenly(labels: RowIndices, folds: int, seed: int) -> RowIndices:
    """Return the fold of each item, each label divided over the folds as evenly as it goes."""
    order = np.random.default_rng(seed).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), np.intp)
    fold[order] = np.arange(len(labels)) % folds
    return fold
