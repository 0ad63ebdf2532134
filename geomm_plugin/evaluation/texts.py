"""[evaluate] Texts in a shared space: sentence retrieval, and zero-shot classification.

A word is a run of letters, in lower case. With N texts, of which n_w hold the word w, and its unit
vector x_w, a text is the sum over its known words, at length 1:

    v(text) = sum of idf(w) x_w,     idf(w) = log((1 + N) / n_w)

Sentences: line-aligned texts, as MUSE does on Europarl (Conneau et al., 2018, arXiv:1710.04087,
section 4.2). Classification: multinomial logistic regression, learnt in one language and tested in
another: with a text's vector x_i, its label y_i, and weights w_k and an intercept b_k per label k,

    min over W, b of   C sum_i -log p(y_i | x_i)  +  ||W||^2 / 2,     p(k | x) ~ exp(w_k . x + b_k).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from geomm_plugin import progress
from geomm_plugin.arrays import Matrix, RowIndices, Vector
from geomm_plugin.embeddings import Embeddings
from geomm_plugin.errors import FormatError, ParameterError
from geomm_plugin.evaluation.metrics import P_AT_1, P_AT_5, P_AT_10, depth_of
from geomm_plugin.evaluation.task import Score, Task, as_retrievals, as_space
from geomm_plugin.files.text_lines import read_lines
from geomm_plugin.normalize import unit
from geomm_plugin.retrieval import Retrieval
from geomm_plugin.shared_space import SharedSpace

if TYPE_CHECKING:
    from scipy.sparse import csr_array

METRICS = (P_AT_1, P_AT_5, P_AT_10)  # of sentences
STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)  # values of C that are tried
FOLDS = 5
EXACT, ROUGH = 1e-6, 1e-4  # largest slope at the end of a fit, and of one that only tries a C


@dataclass(frozen=True)
class LabelledTexts:
    """Texts, each with one label."""

    labels: tuple[str, ...]
    texts: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.labels) != len(self.texts):
            raise FormatError(
                f"Each text has one label; there are {len(self.texts)} texts and "
                f"{len(self.labels)} labels."
            )

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        return f"<LabelledTexts: {len(self)} texts, {len(set(self.labels))} labels>"


def read_texts(path: str | Path) -> list[str]:
    """Read one text a line; empty lines stay, so that the lines of two files stay aligned."""
    return list(read_lines(Path(path)))


def read_labelled_texts(path: str | Path) -> LabelledTexts:
    """Read label<TAB>text, one a line; empty lines are skipped."""
    labels, texts = [], []
    for number, line in enumerate(read_lines(Path(path)), start=1):
        if not line.strip():
            continue
        label, tab, text = line.partition("\t")
        if not tab or not label.strip():
            raise FormatError(
                f"{path}, line {number}: expected a label, a tab and a text, found "
                f"{line[:60]!r}. Separate the label from its text by one tab."
            )
        labels.append(label.strip())
        texts.append(text)
    return LabelledTexts(tuple(labels), tuple(texts))


@dataclass(frozen=True, eq=False, repr=False)
class Sentences(Task):
    """The translation of each sentence among all of the other language, for each pair, both ways.

    Where several target lines are the same text, each of them is correct.
    """

    name: ClassVar[str] = "sentences"
    roles: ClassVar[tuple[str, ...]] = ("texts",)
    ranks: ClassVar[bool] = True

    texts: Mapping[str, Sequence[str]]  # by language; line i is the same sentence in each
    retrievals: str | Retrieval | Sequence[str | Retrieval] = ("csls", "cosine")

    def __post_init__(self) -> None:
        lengths = {language: len(lines) for language, lines in self.texts.items()}
        if len(lengths) < 2:
            raise ParameterError(
                "Sentences are looked for in another language: give the texts of two or more, "
                f"line by line; there is {', '.join(lengths) or 'none'}."
            )
        if len(set(lengths.values())) > 1:
            shown = ", ".join(f"{language} {count}" for language, count in lengths.items())
            raise FormatError(
                f"Aligned texts have equally many lines; these differ: {shown}. Line i must be the "
                "same sentence in each file."
            )

    @classmethod
    def from_files(
        cls, files: Mapping[str, Mapping[str, str]], retrievals: Sequence[Retrieval] = ()
    ) -> Self:
        """Read one text file for each language: {"texts": {"en": path, "es": path}}."""
        texts = {language: read_texts(path) for language, path in files["texts"].items()}
        return cls(texts, retrievals) if retrievals else cls(texts)

    def among(self, languages: Collection[str]) -> Self | None:
        """Return the sentences of these languages, if there are two of them."""
        texts = {name: lines for name, lines in self.texts.items() if name in languages}
        return replace(self, texts=texts) if len(texts) > 1 else None

    def score(self, space: Mapping[str, object]) -> list[Score]:
        """Search every language's sentences in every other one."""
        space = as_space(space)
        vectors = {name: text_vectors(space, name, lines) for name, lines in self.texts.items()}
        known = np.logical_and.reduce([rows.any(axis=1) for rows in vectors.values()])
        if not known.any():
            raise FormatError(
                f"No line has words of all vocabularies ({', '.join(vectors)}). Check the order of "
                "the languages."
            )
        rows = np.flatnonzero(known)
        details = {"coverage": float(known.mean()), "n_sentences": len(rows)}
        scores = []
        pairs = list(permutations(self.texts, 2))
        for source, target in progress.over("Searching sentences", pairs, "pairs"):
            gold = same_lines([self.texts[target][row] for row in rows.tolist()])
            for retrieval in as_retrievals(self.retrievals):
                index = retrieval.index(vectors[source][rows], vectors[target][rows])
                ranks = index.ranks(vectors[source][rows], gold, depth_of(METRICS))
                about = {"pair": f"{source}-{target}", "retrieval": retrieval.label}
                numbers = {metric.name: metric(ranks) for metric in METRICS}
                scores.append(Score(self.name, about, numbers, P_AT_1.score(ranks), details))
        return scores

    def __repr__(self) -> str:
        languages = ", ".join(self.texts)
        return f"<Sentences: {len(next(iter(self.texts.values())))} lines of {languages}>"


def same_lines(lines: Sequence[str]) -> list[RowIndices]:
    """Return for each line the rows that hold the same text, its own among them."""
    places: dict[str, list[int]] = {}
    for row, line in enumerate(lines):
        places.setdefault(line, []).append(row)
    rows_of = {line: np.array(rows, np.intp) for line, rows in places.items()}
    return [rows_of[line] for line in lines]


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
            self._check_labels(language, set(texts.labels))

    def _check_labels(self, language: str, known: set[str]) -> None:
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

    @classmethod
    def from_files(
        cls, files: Mapping[str, Mapping[str, str]], retrievals: Sequence[Retrieval] = ()
    ) -> Self:
        """Read files of label<TAB>text: {"train": {"en": path}, "test": {"es": path}}."""
        train, test = (
            {language: read_labelled_texts(path) for language, path in files[role].items()}
            for role in cls.roles
        )
        return cls(train, test)

    def among(self, languages: Collection[str]) -> Self | None:
        """Return what is learnt and tested in these languages; not one language from itself."""
        train = {name: texts for name, texts in self.train.items() if name in languages}
        test = {name: texts for name, texts in self.test.items() if name in languages}
        if len(train) == 1:
            test = {name: texts for name, texts in test.items() if name not in train}
        return replace(self, train=train, test=test) if train and test else None

    def score(self, space: Mapping[str, object]) -> list[Score]:
        """Train in each training language, and test in each test language."""
        space = as_space(space)
        tests = {name: text_vectors(space, name, texts.texts) for name, texts in self.test.items()}
        scores = []
        for language, texts in progress.over("Training", list(self.train.items()), "languages"):
            vectors = text_vectors(space, language, texts.texts)
            classes, labels = np.unique(texts.labels, return_inverse=True)
            known = vectors.any(axis=1)
            rarest = np.bincount(labels[known], minlength=len(classes)).min()
            if rarest < FOLDS:
                raise FormatError(
                    f"The training texts of {language} need at least {FOLDS} with known words for "
                    f"each label; the rarest label has {rarest}. Add texts, check the language, or "
                    "leave the label out."
                )
            C, accuracy = self.C, None
            if C is None:
                C, accuracy = cross_validate(vectors[known], labels[known], seed=self.seed)
            weights = fit_logistic(vectors[known], labels[known], C)
            for name, rows in tests.items():
                truth = np.array(self.test[name].labels)
                answers = classes[predict(weights, rows)]
                hits = (answers == truth).astype(np.float64)
                numbers = {"accuracy": float(hits.mean()), "macro-f1": macro_f1(truth, answers)}
                details = {"C": C, "cv_accuracy": accuracy}
                details |= {"coverage": float(rows.any(axis=1).mean()), "n_texts": len(truth)}
                about = {"train": language, "test": name}
                scores.append(Score(self.name, about, numbers, hits, details))
        return scores

    def __repr__(self) -> str:
        train, test = (
            ", ".join(f"{language} {len(texts)}" for language, texts in side.items())
            for side in (self.train, self.test)
        )
        return f"<Classify: train {train}; test {test}>"


def macro_f1(truth: Any, answers: Any) -> float:
    """Return the mean over labels of F1 = 2 hits / (answers with the label + texts of the label).

    Labels are those of the texts and of the answers.
    """
    classes, codes = np.unique(np.concatenate([truth, answers]), return_inverse=True)
    true, given = codes[: len(truth)], codes[len(truth) :]
    hits = np.bincount(true[true == given], minlength=len(classes))
    return float(np.mean(2 * hits / np.bincount(codes)))


def split_words(text: str) -> list[str]:
    """Return the runs of letters of a text, in lower case."""
    return _word_pattern().findall(text.lower())


@cache
def _word_pattern() -> re.Pattern[str]:
    """Return the pattern of a letter, followed by letters and the marks that belong to them."""
    marks = (c for c in map(chr, range(0x300, 0x10000)) if unicodedata.category(c)[0] == "M")
    return re.compile(rf"[^\W\d_](?:[^\W\d_]|[{re.escape(''.join(marks))}])*")


def text_vectors(space: SharedSpace, language: str, texts: Sequence[str]) -> Matrix:
    """Return one unit row for each text; a text without a known word of any weight is zero."""
    counts = word_counts(texts, space[language])
    used = np.unique(counts.indices).astype(np.intp)  # no other word need be mapped
    weighted: Any = counts * idf(counts)
    return unit(weighted.tocsr()[:, used] @ space.unit_rows(language).take(used))


def word_counts(texts: Iterable[str], embeddings: Embeddings) -> csr_array[Any, Any]:
    """Return how often each text (row) holds each word of the vocabulary (column)."""
    from scipy.sparse import csr_array

    row_of = embeddings.row_of
    known = [[row_of[word] for word in split_words(text) if word in row_of] for text in texts]
    columns = np.array([column for line in known for column in line], np.intp)
    starts = np.cumsum([0, *map(len, known)])
    ones = np.ones(len(columns), np.float32)
    counts = csr_array((ones, columns, starts), shape=(len(known), len(embeddings)))
    counts.sum_duplicates()
    return counts


def idf(counts: csr_array[Any, Any]) -> Matrix:
    """Return the weight of each word of the vocabulary; 0 for words that no text holds."""
    texts, words = counts.shape
    holding = np.bincount(counts.indices, minlength=words)
    weights = np.log((1 + texts) / np.maximum(holding, 1)) * (holding > 0)
    return np.asarray(weights, np.float32)


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
    """Return the best C, and its accuracy on held-out items of the training language.

    Values are tried from small to large, until two in a row are less accurate than the best; of
    equally accurate ones the smallest is taken.
    """
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
    best = max(accuracies, key=lambda C: accuracies[C])  # of equal ones the first
    return best, accuracies[best]


def divide_evenly(labels: RowIndices, folds: int, seed: int) -> RowIndices:
    """Return the fold of each item, each label divided over the folds as evenly as it goes."""
    order = np.random.default_rng(seed).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(len(labels), np.intp)
    fold[order] = np.arange(len(labels)) % folds
    return fold
