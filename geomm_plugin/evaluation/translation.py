"""[evaluate] Bilingual lexicon induction: how many words find their translation.

A word of the test dictionary is evaluated if the vocabularies hold it and at least one of its
translations; coverage is the share of such words. Its rank is that of its best correct translation
among all target words, where wrong words with an equal score come first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from geomm_plugin import registry
from geomm_plugin.arrays import RowIndices
from geomm_plugin.dictionary import Dictionary, DictionaryLike, as_dictionary, warn_if_swapped
from geomm_plugin.errors import DictionaryError, ParameterError
from geomm_plugin.evaluation.breakdown import By, break_down, check_by
from geomm_plugin.evaluation.metrics import NOT_FOUND, Metric, depth_of
from geomm_plugin.registry import as_retrieval
from geomm_plugin.retrieval import Retrieval
from geomm_plugin.shared_space import SharedSpace
from geomm_plugin.text import html_table
from geomm_plugin.work import Cluster, compute_pool

UnknownWords = Literal["skip", "wrong"]


@dataclass(frozen=True)
class WordResult:
    """What became of one test word."""

    word: str
    gold: tuple[str, ...]  # its correct translations that the vocabulary holds
    rank: int  # of the best of them
    answers: tuple[tuple[str, float], ...]  # the best target words and their scores, if asked for
    row: int = 0  # of the word in its vocabulary, where the most frequent one is the first


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The scores of one language pair, and the words behind them."""

    pair: tuple[str, str]
    retrieval: str
    scores: dict[str, float]  # by metric
    coverage: float
    n_words: int
    words: tuple[WordResult, ...]
    missing: tuple[str, ...]  # test words that were not evaluated (or counted as wrong)
    ranks: RowIndices  # of the words, and NOT_FOUND of the missing ones that count as wrong
    by: By | None = None  # how the rows break P@1 down; see evaluation.breakdown

    def row(self) -> dict[str, Any]:
        """Return the numbers as one JSON object."""
        return {
            "pair": "-".join(self.pair),
            "retrieval": self.retrieval,
            **self.scores,
            "coverage": self.coverage,
            "n_words": self.n_words,
            **self.parts(),
        }

    def _repr_html_(self) -> str:
        row = {name: value for name, value in self.row().items() if value is not None}
        cells = [f"{v:.3f}" if isinstance(v, float) else str(v) for v in row.values()]
        return html_table(list(row), [cells])

    def parts(self) -> dict[str, Any]:
        """Return P@1 and the number of words of each group that P@1 is broken down by."""
        parts: dict[str, Any] = {}
        for group in [] if self.by is None else break_down(self, self.by):
            parts[f"p@1 {group.name}"] = group.p_at_1
            parts[f"n_words {group.name}"] = len(group.words)
        return parts


def evaluate(
    space: Mapping[str, object],
    source: str,
    target: str,
    dictionary: DictionaryLike,
    retrieval: str | Retrieval = "csls",
    *,
    metrics: str | Iterable[str] | None = None,
    oov: UnknownWords = "skip",
    answers: int = 0,
    by: By | None = None,
    jobs: int | None = None,
    cluster: Cluster | None = None,
) -> Evaluation:
    """Score the translations of a test dictionary's source words.

    Parameters
    ----------
    space
        A SharedSpace, or aligned embeddings by language.
    metrics
        Registered names, by default all. Without "mrr", which needs every rank, large vocabularies
        are evaluated several times faster.
    oov
        "skip" leaves words out that are not in the vocabularies; "wrong" counts them as errors.
    answers
        How many of the best target words are kept for each word.
    by
        "spelling", "frequency" or "translations": rows then tell P@1 of each such group of words.
    jobs
        How many threads compare words at the same time; -1 is one for each core. By default the
        threads of BLAS. The scores are the same.
    cluster
        The address of a Dask scheduler, a Dask Client, or an Executor of `concurrent.futures`.
    """
    check_by(by)
    if oov not in ("skip", "wrong"):
        raise ParameterError(f"oov is 'skip' or 'wrong', not {oov!r}.")
    retrieval = as_retrieval(retrieval)
    space = space if isinstance(space, SharedSpace) else SharedSpace(space)
    chosen = [registry.metrics[name] for name in chosen_metrics(metrics)]
    gold, missing = gold_rows(space, source, target, as_dictionary(dictionary))
    searched = space.index(source, target, retrieval)
    queries = space.queries(list(gold), source)
    correct_rows = [np.array(correct) for correct in gold.values()]
    best: list[tuple[tuple[str, float], ...]] = [()] * len(gold)
    with compute_pool(jobs, cluster):
        ranks = searched.ranks(queries, correct_rows, depth_of(chosen))
        neighbors = searched.search(queries, answers) if answers else None
    if neighbors is not None:
        best = [
            tuple(
                (space[target].words[row], float(score)) for row, score in zip(*both, strict=True)
            )
            for both in zip(neighbors.indices, neighbors.scores, strict=True)
        ]
    words = tuple(
        WordResult(
            word,
            tuple(space[target].words[row] for row in correct),
            int(rank),
            answer,
            space[source].row_of[word],
        )
        for (word, correct), rank, answer in zip(gold.items(), ranks, best, strict=True)
    )
    if oov == "wrong":
        ranks = np.concatenate([ranks, np.full(len(missing), NOT_FOUND)])
    return Evaluation(
        (source, target),
        retrieval.label,
        scores_of(chosen, ranks),
        len(gold) / (len(gold) + len(missing)),
        len(ranks),
        words,
        tuple(missing),
        ranks,
        by,
    )


def chosen_metrics(metrics: str | Iterable[str] | None) -> list[str]:
    """Return the names of some metrics, or of one; by default of all."""
    return [metrics] if isinstance(metrics, str) else list(metrics or registry.metrics)


def scores_of(metrics: Iterable[Metric], ranks: RowIndices) -> dict[str, float]:
    """Return the score of each metric."""
    return {metric.name: metric(ranks) for metric in metrics}


def gold_rows(
    space: SharedSpace, source: str, target: str, dictionary: Dictionary
) -> tuple[dict[str, list[int]], list[str]]:
    """Return the target rows of each source word's translations, and the words that have none."""
    source_rows, target_rows = space[source].row_of, space[target].row_of
    gold: dict[str, dict[int, None]] = {}
    for here, there in dictionary:
        correct = gold.setdefault(here, {})
        if here in source_rows and there in target_rows:
            correct[target_rows[there]] = None
    known = {word: list(correct) for word, correct in gold.items() if correct}
    if not known:
        raise DictionaryError(
            f"None of the {len(gold)} test words is in both vocabularies ({source}, {target}). "
            "Check the language order and the letter case of the dictionary."
        )
    warn_if_swapped(dictionary, source, target, space)
    return known, [word for word, correct in gold.items() if not correct]
