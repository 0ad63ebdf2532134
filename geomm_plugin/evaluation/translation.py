"""[evaluate] Bilingual lexicon induction: how many words find their translation.

A word of the test dictionary is evaluated if the vocabularies hold it and at least one of its
translations; coverage is the share of such words. Its rank is that of its best correct translation
among all target words, where wrong words with an equal score come first.

P@1 of groups of words says where points come from (a gain on names only must be seen as such):

- spelling: the gold translation is *identical* to the word, a *cognate*, or *different*. Two words
  are cognates if their longest common subsequence has at least 0.58 of the letters of the longer
  one (Melamed, 1999), in lower case and plain letters (accents stripped, other alphabets in Latin).
- frequency: how frequent the word is in its vocabulary, by its place there.
- translations: how many correct translations it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np

from geomm_plugin import progress, registry
from geomm_plugin.arrays import RowIndices
from geomm_plugin.dictionary import (
    Dictionary,
    DictionaryLike,
    as_dictionary,
    read_dictionary,
    refuse_swapped,
)
from geomm_plugin.errors import DictionaryError, ParameterError, did_you_mean
from geomm_plugin.evaluation.metrics import NOT_FOUND, depth_of
from geomm_plugin.evaluation.task import (
    Score,
    WordScore,
    WordTask,
    as_retrievals,
    as_space,
    averages,
)
from geomm_plugin.registry import as_retrieval
from geomm_plugin.retrieval import Reranked, Retrieval
from geomm_plugin.retrieval.rerank.ngrams import plain_spellings
from geomm_plugin.shared_space import Reranking, SharedSpace
from geomm_plugin.work import Cluster, compute_pool

UnknownWords = Literal["skip", "wrong"]
By = Literal["spelling", "frequency", "translations"]
MIN_COGNATE_SHARE = 0.58  # of the longer word's letters that both have, in the same order
BANDS = (1_000, 5_000, 20_000)  # the last place of each band of frequency
WORDS = "bli"  # the name of word translation among tasks: bilingual lexicon induction


@dataclass(frozen=True)
class WordResult:
    """What became of one test word."""

    word: str
    gold: tuple[str, ...]  # its correct translations that the vocabulary holds
    rank: int  # of the best of them
    answers: tuple[tuple[str, float], ...]  # the best target words and their scores, if asked for
    row: int = 0  # of the word in its vocabulary, where the most frequent one is the first
    probability: float | None = None  # of the best answer, from a retrieval that has them


@dataclass(frozen=True, eq=False)
class Evaluation(WordScore):
    """The scores of one language pair, and the words behind them.

    `scores` are by metric; `details` hold the coverage, the number of words, and P@1 and number of
    each group of words.
    """

    averaged: ClassVar[bool] = True

    pair: tuple[str, str] = ("", "")
    words: tuple[WordResult, ...] = ()
    missing: tuple[str, ...] = ()  # test words that were not evaluated (or counted as wrong)
    ranks: RowIndices = field(default_factory=lambda: np.empty(0, np.intp))  # see `evaluate`

    @property
    def retrieval(self) -> str:
        """The label of the retrieval."""
        return self.about["retrieval"]

    @property
    def coverage(self) -> float:
        """The share of test words that the vocabularies hold, with a translation."""
        return float(self.details["coverage"])

    @property
    def n_words(self) -> int:
        """How many words the scores are the mean over."""
        return int(self.details["n_words"])


@dataclass(frozen=True, eq=False, repr=False)
class Translation(WordTask):
    """The translation of each word of test dictionaries, among all words of the other language."""

    name: ClassVar[str] = WORDS
    ranks: ClassVar[bool] = True
    of_pairs: ClassVar[bool] = True
    read = staticmethod(read_dictionary)

    tests: Mapping[tuple[str, str], DictionaryLike]
    retrievals: str | Retrieval | Sequence[str | Retrieval] = ("csls",)
    metrics: str | Iterable[str] | None = None  # registered names; None: all
    oov: UnknownWords = "skip"
    answers: int = 0  # how many of the best target words are kept for each word
    by: By | None = None
    learnt: Mapping[str, Reranking] | None = None  # weights to use, by the retrieval's label

    def score(self, space: Mapping[str, object]) -> list[Evaluation]:
        """Translate the words of each dictionary by each retrieval."""
        space = as_space(space)
        options: dict[str, Any] = {
            name: getattr(self, name) for name in ("metrics", "oov", "answers", "by")
        }
        scores = []
        for (source, target), test in self.tests.items():
            with progress.task(f"Evaluating {source}-{target}"):
                for retrieval in as_retrievals(self.retrievals):
                    if self.learnt is not None:
                        space.reranking = self.learnt.get(retrieval.label, {})
                    scores.append(evaluate(space, source, target, test, retrieval, **options))
        return scores

    def expected(self) -> list[Score]:
        """Return scores as every space gives them, and their means, with no word right."""
        scores = [
            blank("-".join(pair), retrieval.label, chosen_metrics(self.metrics), self.by)
            for pair in self.tests
            for retrieval in as_retrievals(self.retrievals)
        ]
        return [*scores, *averages(scores)]


def blank(
    pair: str = "", retrieval: str = "", metrics: Iterable[str] = ("p@1",), by: By | None = None
) -> Evaluation:
    """Return a score with no word right, for what is shown where no mapper was scored."""
    details: dict[str, Any] = {"coverage": 0.0, "n_words": 0}
    for group in () if by is None else GROUPS[by][0]:
        details |= {f"p@1 {group}": 0, f"n_words {group}": 0}
    about, scores = {"pair": pair, "retrieval": retrieval}, dict.fromkeys(metrics, 0.0)
    return Evaluation(WORDS, about, scores, np.zeros(1), details)


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

    `ranks` of the result are those of its words, and NOT_FOUND of missing ones that count as wrong.

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
        "spelling", "frequency" or "translations": rows also have P@1 of each such group of words.
    jobs
        How many threads compare words at the same time; -1 is one for each core. By default the
        threads of BLAS. The scores are the same.
    cluster
        The address of a Dask scheduler, or a Dask Client.
    """
    check_by(by)
    if oov not in ("skip", "wrong"):
        raise ParameterError(f"oov is 'skip' or 'wrong', not {oov!r}.")
    retrieval = as_retrieval(retrieval)
    space = as_space(space)
    chosen = [registry.metrics[name] for name in chosen_metrics(metrics)]
    gold, missing = gold_rows(space, source, target, as_dictionary(dictionary))
    index = space.index(source, target, retrieval)
    correct_rows = [np.array(correct) for correct in gold.values()]
    with compute_pool(jobs, cluster):
        ranks = index.ranks(space.queries(list(gold), source), correct_rows, depth_of(chosen))
        best: Sequence[Sequence[tuple[Any, ...]]] = [[]] * len(gold)
        if answers:
            ask = space.answers if isinstance(retrieval, Reranked) else space.translate
            best = ask(list(gold), source, target, answers, retrieval)
    words = tuple(
        WordResult(
            word,
            tuple(space[target].words[row] for row in correct),
            int(rank),
            tuple((other, score) for other, score, *_ in found),
            space[source].row_of[word],
            *found[0][2:] if found else (),
        )
        for (word, correct), rank, found in zip(gold.items(), ranks, best, strict=True)
    )
    if oov == "wrong":
        ranks = np.concatenate([ranks, np.full(len(missing), NOT_FOUND)])
    details: dict[str, Any] = {
        "coverage": len(gold) / (len(gold) + len(missing)),
        "n_words": len(ranks),
    }
    for name, results in break_down(words, by).items() if by is not None else ():
        hits = sum(result.rank == 1 for result in results)
        details[f"p@1 {name}"] = hits / len(results) if results else None
        details[f"n_words {name}"] = len(results)
    return Evaluation(
        WORDS,
        {"pair": f"{source}-{target}", "retrieval": retrieval.label},
        {metric.name: metric(ranks) for metric in chosen},
        chosen[0].score(ranks),
        details,
        pair=(source, target),
        words=words,
        missing=tuple(missing),
        ranks=ranks,
    )


def chosen_metrics(metrics: str | Iterable[str] | None) -> list[str]:
    """Return the names of some metrics, or of one; by default of all."""
    return [metrics] if isinstance(metrics, str) else list(metrics or registry.metrics)


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
    refuse_swapped(dictionary, source, target, space)
    if not known:
        raise DictionaryError(
            f"None of the {len(gold)} test words is in both vocabularies ({source}, {target}). "
            "Check the language order and the letter case of the dictionary."
        )
    return known, [word for word, correct in gold.items() if not correct]


def check_by(by: str | None) -> None:
    """Refuse a breakdown that does not exist."""
    if by is not None and by not in GROUPS:
        raise ParameterError(
            f"Words are grouped by {', '.join(GROUPS)}, not by {by!r}.{did_you_mean(by, GROUPS)}"
        )


def break_down(words: Iterable[WordResult], by: str) -> dict[str, list[WordResult]]:
    """Return the words of an evaluation in groups, by name."""
    names, group_of = GROUPS[by]
    groups: dict[str, list[WordResult]] = {name: [] for name in names}
    for result in words:
        groups[group_of(result)].append(result)
    return groups


def is_cognate(word: str, other: str) -> bool:
    """True if two words share most of their letters in the same order."""
    return common_letters(word, other) >= MIN_COGNATE_SHARE


@lru_cache(maxsize=2**17)
def common_letters(word: str, other: str) -> float:
    """Return the length of the longest common subsequence as a share of the longer word."""
    first, second = plain_spellings([word, other])
    places: dict[str, int] = {}
    for place, letter in enumerate(first):
        places[letter] = places.get(letter, 0) | 1 << place
    # Hyyro (2004): bit i of `row` is 0 where letter i of the first word adds to the subsequence.
    row = (1 << len(first)) - 1
    for letter in second:
        matches = row & places.get(letter, 0)
        row = (row + matches) | (row - matches)
    common = len(first) - (row & ((1 << len(first)) - 1)).bit_count()
    return common / max(len(first), len(second), 1)


def _spelling(result: WordResult) -> str:
    if result.word in result.gold:
        return "identical"
    alike = any(is_cognate(result.word, gold) for gold in result.gold)
    return "cognate" if alike else "different"


def _frequency(result: WordResult) -> str:
    return BAND_NAMES[sum(result.row >= last for last in BANDS)]


def _translations(result: WordResult) -> str:
    return COUNT_NAMES[min(len(result.gold), len(COUNT_NAMES)) - 1]


BAND_NAMES = (
    f"1-{BANDS[0]:,}",
    *(f"{low + 1:,}-{high:,}" for low, high in pairwise(BANDS)),
    f"from {BANDS[-1] + 1:,}",
)
COUNT_NAMES = ("1 translation", "2 translations", "3 or more")
GROUPS: dict[str, tuple[tuple[str, ...], Callable[[WordResult], str]]] = {
    "spelling": (("identical", "cognate", "different"), _spelling),
    "frequency": (BAND_NAMES, _frequency),
    "translations": (COUNT_NAMES, _translations),
}
