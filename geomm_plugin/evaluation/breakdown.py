"""[evaluate] Where points come from: P@1 of groups of test words.

- spelling: the gold translation is *identical* to the word, a *cognate*, or *different*. Two words
  are cognates if their longest common subsequence has at least 0.58 of the letters of the longer
  one (Melamed, 1999), in lower case and plain letters (accents stripped, other alphabets in Latin).
- frequency: how frequent the word is in its vocabulary, by its place there.
- translations: how many correct translations it has.

A gain on names only, which have identical spelling, must be seen as such.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from geomm_plugin.errors import ParameterError, did_you_mean
from geomm_plugin.retrieval.rerank.spelling import plain_spellings

if TYPE_CHECKING:
    from geomm_plugin.evaluation.translation import WordResult

By = Literal["spelling", "frequency", "translations"]
MIN_COGNATE_SHARE = 0.58  # of the longer word's letters that both have, in the same order
BANDS = (1_000, 5_000, 20_000)  # the last place of each band of frequency


@dataclass(frozen=True)
class Group:
    """Some of the test words, by their place among all."""

    name: str
    words: tuple[int, ...]
    p_at_1: float | None  # None where there are no words


def check_by(by: str | None) -> None:
    """Refuse a breakdown that does not exist."""
    if by is not None and by not in GROUPS:
        raise ParameterError(
            f"Words are grouped by {', '.join(GROUPS)}, not by {by!r}.{did_you_mean(by, GROUPS)}"
        )


def break_down(words: Sequence[WordResult], by: str) -> list[Group]:
    """Return the words of an evaluation in groups, each with its P@1."""
    check_by(by)
    names, group_of = GROUPS[by]
    members: dict[str, list[int]] = {name: [] for name in names}
    for number, result in enumerate(words):
        members[group_of(result)].append(number)
    return [
        Group(name, tuple(numbers), _p_at_1([words[number].rank for number in numbers]))
        for name, numbers in members.items()
    ]


def _p_at_1(ranks: Sequence[int]) -> float | None:
    return sum(rank == 1 for rank in ranks) / len(ranks) if ranks else None


def is_cognate(word: str, other: str) -> bool:
    """True if two words share most of their letters in the same order."""
    return common_letters(word, other) >= MIN_COGNATE_SHARE


@lru_cache(maxsize=2**17)
def common_letters(word: str, other: str) -> float:
    """Return the length of the longest common subsequence as a share of the longer word."""
    first, second = (text[1:-1] for text in plain_spellings([word, other]))
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
    place = sum(result.row >= last for last in BANDS)
    return BAND_NAMES[place]


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
