"""[evaluate] The interface of a task: something that an aligned space can be scored on.

A task holds its data; `score(space)` returns rows of numbers. Rows also carry what each single item
(a sentence, a text) scored, so that two mappers can be compared item by item.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from geomm_plugin.arrays import Vector
from geomm_plugin.errors import ParameterError
from geomm_plugin.evaluation.significance import Interval, bootstrap_interval
from geomm_plugin.registry.hookspecs import hookimpl
from geomm_plugin.shared_space import SharedSpace

if TYPE_CHECKING:
    from geomm_plugin.retrieval import Retrieval


@dataclass(frozen=True, eq=False)
class TaskScore:
    """One row of a task: what it is about, its scores, and the items behind the first score."""

    task: str
    about: Mapping[str, str]  # e.g. {"pair": "en-es", "retrieval": "csls"}
    scores: Mapping[str, float]  # the main one first, e.g. {"p@1": 0.78, "p@5": 0.87}
    items: Vector | None = None  # one number for each item; the main score is their mean
    details: Mapping[str, Any] = field(default_factory=dict)  # what else a reader should know
    error: str | None = None  # why there is no score

    @property
    def main(self) -> str:
        """The name of the score that mappers are compared by."""
        return next(iter(self.scores), "")

    @cached_property
    def interval(self) -> Interval | None:
        """Where the main score lies with 95 % confidence, if single items are known."""
        return None if self.items is None else bootstrap_interval([self.items])

    def row(self, seed: int = 0) -> dict[str, Any]:
        """Return the numbers as one JSON object; the seed is that of the interval."""
        row = {"task": self.task, **self.about, **self.scores}
        if self.items is not None:
            interval = self.interval if seed == 0 else bootstrap_interval([self.items], seed=seed)
            assert interval is not None
            row |= {f"{self.main}_low": interval.low, f"{self.main}_high": interval.high}
        return row | dict(self.details)


class Task(ABC):
    """What an aligned space can be scored on; made with its data, used for any number of spaces."""

    name: ClassVar[str]
    roles: ClassVar[tuple[str, ...]] = ()  # of its files on the command line: texts, train, test
    ranks: ClassVar[bool] = False  # whether a retrieval can be chosen

    @classmethod
    @abstractmethod
    def from_files(
        cls, files: Mapping[str, Mapping[str, str]], retrievals: Sequence[Retrieval] = ()
    ) -> Self:
        """Read the task from files, as `geomm evaluate --task NAME` does.

        Parameters
        ----------
        files
            For each role the files by language, e.g. {"texts": {"en": "s.en.txt", ...}}.
        retrievals
            How targets are ranked; if there are none, the task's own choice.
        """

    def among(self, languages: Collection[str]) -> Task | None:
        """Return the part of the task that concerns these languages alone; None if there is none.

        Where pairs of languages are fitted alone, each space is scored on its part.
        """
        raise ParameterError(
            f"The task {self.name} is scored on one space, and cannot be divided by pairs of "
            "languages. Leave each_pair out, or let the task define among()."
        )

    @abstractmethod
    def score(self, space: SharedSpace) -> list[TaskScore]:
        """Score a space; rows come in the same order whatever the space."""


def as_space(space: Mapping[str, object]) -> SharedSpace:
    """Return a shared space itself, or make one of aligned embeddings by language."""
    return space if isinstance(space, SharedSpace) else SharedSpace(space)


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


@hookimpl
def register_tasks() -> Iterable[type[Task]]:
    """The built-in tasks."""
    from geomm_plugin.evaluation.classify import Classify
    from geomm_plugin.evaluation.sentences import Sentences

    return [Sentences, Classify]
