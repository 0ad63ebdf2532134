"""[evaluate] Tasks, which an aligned space can be scored on, and the scores that they return.

A score also holds what each single item (a word, a sentence, a text) got, so that two mappers can
be compared item by item.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from geomm_plugin.arrays import Vector
from geomm_plugin.errors import ParameterError
from geomm_plugin.evaluation.significance import Interval, bootstrap_interval
from geomm_plugin.registry import as_retrieval
from geomm_plugin.retrieval import Retrieval
from geomm_plugin.shared_space import SharedSpace
from geomm_plugin.text import html_table

AVERAGE = "average"  # the pair of a score that is the mean over pairs of languages


@dataclass(frozen=True, eq=False)
class Score:
    """What a space scores on one part of a task: what it is about, numbers, items, details."""

    averaged: ClassVar[bool] = False  # whether tables have the mean over pairs of languages, too

    task: str
    about: Mapping[str, str]  # e.g. {"pair": "en-es", "retrieval": "csls"}
    scores: Mapping[str, float]  # the main one first, e.g. {"p@1": 0.78, "p@5": 0.87}
    items: Vector | None = None  # one number for each item; the main score is their mean
    details: Mapping[str, Any] = field(default_factory=dict)  # what else a reader should know
    error: str | None = None  # why there is no score
    parts: tuple[Score, ...] = ()  # of a mean: the scores that it is the mean of

    @property
    def main(self) -> str:
        """The name of the score that mappers are compared by."""
        return next(iter(self.scores), "")

    @property
    def samples(self) -> list[Vector]:
        """The items: one sample, or of a mean that of each part; none where they are unknown."""
        return [score.items for score in self.parts or (self,) if score.items is not None]

    @property
    def interval(self) -> Interval | None:
        """Where the main score lies with 95 % confidence, if single items are known."""
        return bootstrap_interval(self.samples) if self.samples else None

    def bounds(self, seed: int = 0) -> dict[str, float]:
        """Return the ends of the interval as columns of a row; the seed is that of the draws."""
        if not self.samples:
            return {}
        interval = bootstrap_interval(self.samples, seed=seed)
        return {f"{self.main}_low": interval.low, f"{self.main}_high": interval.high}

    def row(self, seed: int = 0) -> dict[str, Any]:
        """Return the numbers as one JSON object; the seed is that of the interval."""
        row = {"task": self.task, **self.about, **self.scores}
        return row | self.bounds(seed) | dict(self.details)

    def _repr_html_(self) -> str:
        row = {name: value for name, value in self.row().items() if value is not None}
        cells = [f"{v:.3f}" if isinstance(v, float) else str(v) for v in row.values()]
        return html_table(list(row), [cells])


class WordScore(Score):
    """A score of words; its row is short, since intervals are drawn where mappers are compared."""

    def row(self, seed: int = 0) -> dict[str, Any]:
        """Return the numbers as one JSON object."""
        return {**self.about, **self.scores, **self.details}


def averages(scores: Iterable[Score]) -> list[Score]:
    """Return the means over pairs of languages of scores that differ in nothing else.

    Numbers are means, but counts (`n_words`) are sums; what is None for a pair is left out.
    """
    groups: dict[tuple[str, ...], list[Score]] = {}
    for score in scores:
        if score.averaged and score.error is None:
            about = (value for name, value in score.about.items() if name != "pair")
            groups.setdefault((score.task, *about), []).append(score)
    return [_mean(several) for several in groups.values() if len(several) > 1]


def _mean(several: Sequence[Score]) -> Score:
    first = several[0]
    names = dict.fromkeys(name for score in several for name in score.details)
    return type(first)(
        first.task,
        {**first.about, "pair": AVERAGE},
        {name: _mean_of([score.scores[name] for score in several]) for name in first.scores},
        details={n: _mean_of([s.details.get(n) for s in several], n) for n in names},
        parts=tuple(several),
    )


def _mean_of(values: Sequence[Any], name: str = "") -> Any:
    known = [value for value in values if value is not None]
    if name.startswith("n_"):
        return sum(known)
    return sum(known) / len(known) if known else None


class Task(ABC):
    """What an aligned space can be scored on; made with its data, used for any number of spaces."""

    name: ClassVar[str]
    roles: ClassVar[tuple[str, ...]] = ()  # of its files on the command line: texts, train, test
    ranks: ClassVar[bool] = False  # whether a retrieval can be chosen
    of_pairs: ClassVar[bool] = False  # whether files belong to pairs of languages: en-es=FILE

    @classmethod
    @abstractmethod
    def from_files(
        cls, files: Mapping[str, Mapping[str, str]], retrievals: Sequence[Retrieval] = ()
    ) -> Self:
        """Read the task from files, as `geomm evaluate --task NAME` does.

        Parameters
        ----------
        files
            For each role the files by language, e.g. {"texts": {"en": "s.en.txt", ...}}, or by pair
            of languages, {"test": {"en-es": "similarity.txt"}}.
        retrievals
            How targets are ranked; if there are none, the task's own choice.
        """

    def among(self, languages: Collection[str]) -> Self | None:
        """Return the part of the task on these languages, for pairs fitted alone, if there is."""
        raise ParameterError(
            f"The task {self.name} is scored on one space, and cannot be divided by pairs of "
            "languages. Leave each_pair out, or let the task define among()."
        )

    @abstractmethod
    def score(self, space: SharedSpace) -> Sequence[Score]:
        """Score a space; scores come in the same order whatever the space.

        Those of this package also take aligned embeddings by language.
        """


@dataclass(frozen=True, eq=False, repr=False)
class WordTask(Task):
    """A task on words: tests by language or, if it is `of_pairs`, by pair of languages."""

    roles: ClassVar[tuple[str, ...]] = ("test",)

    tests: Mapping[Any, Any]

    @staticmethod
    @abstractmethod
    def read(path: str) -> Any:
        """Read one test from its file."""

    @classmethod
    def from_files(
        cls, files: Mapping[str, Mapping[str, str]], retrievals: Sequence[Retrieval] = ()
    ) -> Self:
        """Read the tests: {"test": {"en-es": path}} of pairs, {"test": {"en": path}} of others."""
        chosen: dict[str, Any] = {"retrievals": retrievals} if cls.ranks and retrievals else {}
        key_of = split_pair if cls.of_pairs else str
        return cls({key_of(name): cls.read(p) for name, p in files["test"].items()}, **chosen)

    def among(self, languages: Collection[str]) -> Self | None:
        """Return the tests of these languages, if there are any."""
        tests = {key: t for key, t in self.tests.items() if set(_languages(key)) <= {*languages}}
        return replace(self, tests=tests) if tests else None

    def __repr__(self) -> str:
        names = ", ".join("-".join(_languages(key)) for key in self.tests)
        return f"<{type(self).__name__}: {names}>"


def _languages(key: str | tuple[str, str]) -> tuple[str, ...]:
    return (key,) if isinstance(key, str) else key


def as_retrievals(choices: str | Retrieval | Iterable[str | Retrieval]) -> list[Retrieval]:
    """Return retrievals from names or objects, or from one; what is given twice counts once."""
    several = [choices] if isinstance(choices, str | Retrieval) else choices
    return list({made.label: made for made in map(as_retrieval, several)}.values())


def as_space(space: Mapping[str, object]) -> SharedSpace:
    """Return a shared space itself, or make one of aligned embeddings by language."""
    return space if isinstance(space, SharedSpace) else SharedSpace(space)


def split_pair(name: str) -> tuple[str, str]:
    """Read "en-es"."""
    source, _, target = name.partition("-")
    if not (source and target) or "-" in target:
        raise ParameterError(
            f"{name!r} is no pair of languages such as en-es. Make the task in Python where the "
            "name of a language holds a hyphen."
        )
    return source, target


def check_tasks(tasks: Task | Iterable[Task]) -> tuple[Task, ...]:
    """Return tasks as a tuple; one that is a class or a name lacks its data."""
    given = (tasks,) if isinstance(tasks, Task | str | type) else tuple(tasks)
    for task in given:
        if not isinstance(task, Task):
            raise ParameterError(
                f"A task is given with its data, e.g. Sentences(texts={{'en': [...], 'es': [...]}})"
                f"; this is {task!r}."
            )
    return given
