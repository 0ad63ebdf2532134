"""How a fit went: what every mapper tells, typed, and to and from JSON.

A report is written by `learn` and saved with the mapper. It may come back from anybody's file, so
`FitReport.from_json` takes any JSON object: what is not as we write it is left as it is, in
`extras`. CPU seconds are told, but not saved, so that equal fits save equally.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from geomm_plugin.errors import FormatError

T = TypeVar("T")
ALL_DICTIONARIES = "all dictionaries"  # names a choice or a solver that all dictionaries share


@dataclass(frozen=True)
class PairCounts:
    """How many pairs of a dictionary were used, and how many words of each language are missing."""

    used: int
    missing: Mapping[str, int]

    def __str__(self) -> str:
        missing = (f"{count} missing in {language}" for language, count in self.missing.items())
        return ", ".join([f"{self.used} pairs", *missing])

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {"used": self.used, "missing": dict(self.missing)}

    @classmethod
    def from_json(cls, content: Any) -> PairCounts:
        """Read what to_json gave; a FormatError says what is odd about it."""
        return cls(_count(_item(content, "used")), _dict(_item(content, "missing"), _count))


@dataclass(frozen=True)
class Choice:
    """The value of lambda that was taken, and the held-out P@1 of each that was tried."""

    value: float
    scores: Mapping[float, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        scores = {repr(float(tried)): float(score) for tried, score in self.scores.items()}
        return {"chosen": float(self.value), "held-out p@1": scores}

    @classmethod
    def from_json(cls, content: Any) -> Choice:
        """Read what to_json gave; a FormatError says what is odd about it."""
        scores = _dict(_item(content, "held-out p@1"), _share)
        return cls(
            _positive(_item(content, "chosen")),
            {_positive(tried): score for tried, score in scores.items()},
        )


@dataclass(frozen=True)
class SolverRun:
    """How an iterative solver ended."""

    name: str
    iterations: int
    stopped: str  # why, in a sentence
    cost: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        run = {"name": self.name, "iterations": int(self.iterations), "stopped": self.stopped}
        return run if self.cost is None else run | {"cost": float(self.cost)}

    @classmethod
    def from_json(cls, content: Any) -> SolverRun:
        """Read what to_json gave; a FormatError says what is odd about it."""
        return cls(
            _text(_item(content, "name")),
            _count(_item(content, "iterations")),
            _text(_item(content, "stopped")),
            _or_none(_item(content, "cost", None), _number),
        )


@dataclass(frozen=True)
class RoundReport:
    """One round of self-learning: what its maps were fitted to, and how good they are."""

    words: int  # most frequent words among which pairs were looked for; 0 in the plain fit
    pairs_induced: int  # by the maps of the round before
    mean_csls: float | None = None  # of those that are mutual
    held_out_precision: float | None = None  # P@1, where words could be held out
    regularization: float | None = None  # lambda, where all dictionaries have the same
    cpu_seconds: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        values = {
            "words": self.words,
            "pairs induced": self.pairs_induced,
            "mean csls": self.mean_csls,
            "held-out p@1": self.held_out_precision,
            "regularization": self.regularization,
            "cpu seconds": self.cpu_seconds,
        }
        return {name: value for name, value in values.items() if value is not None}

    @classmethod
    def from_json(cls, content: Any) -> RoundReport:
        """Read what to_json gave; a FormatError says what is odd about it."""
        return cls(
            _count(_item(content, "words")),
            _count(_item(content, "pairs induced")),
            _or_none(_item(content, "mean csls", None), _number),
            _or_none(_item(content, "held-out p@1", None), _share),
            _or_none(_item(content, "regularization", None), _positive),
            _or_none(_item(content, "cpu seconds", None), _positive),
        )


@dataclass
class FitReport:
    """What a fit tells; `learn` fills in what its method has.

    `pairs`, `regularization` and `solver` are by dictionary ("en-es"), or under ALL_DICTIONARIES.
    """

    pairs: dict[str, PairCounts] = field(default_factory=dict)
    hub: str | None = None  # the language that all others were mapped to
    regularization: dict[str, Choice] = field(default_factory=dict)
    solver: dict[str, SolverRun] = field(default_factory=dict)
    rounds: list[RoundReport] = field(default_factory=list)  # of self-learning
    kept_round: int | None = None  # whose maps were kept; 0 is the plain fit
    seeds: dict[str, str] = field(default_factory=dict)  # that started it without a dictionary
    recover: dict[str, float] = field(default_factory=dict)  # share of pairs that are confirmed
    witnessed: dict[str, float] = field(default_factory=dict)  # share of cognates that are found
    cpu_seconds: float | None = None
    extras: dict[str, Any] = field(default_factory=dict)  # plain values, whatever a method tells

    def to_json(self, *, times: bool = True) -> dict[str, Any]:
        """Return plain values; what is empty is left out, and times where they are not wanted."""
        rounds = [each.to_json() for each in self.rounds]
        values = {
            "pairs": {name: counts.to_json() for name, counts in self.pairs.items()},
            "hub": self.hub,
            "regularization": {name: c.to_json() for name, c in self.regularization.items()},
            "solver": {name: run.to_json() for name, run in self.solver.items()},
            "rounds": rounds if times else [_without_time(each) for each in rounds],
            "kept round": self.kept_round,
            "seeds": dict(self.seeds),
            "recover": {name: float(share) for name, share in self.recover.items()},
            "witnessed": {name: float(share) for name, share in self.witnessed.items()},
            "cpu seconds": self.cpu_seconds if times else None,
        }
        return self.extras | {
            n: value for n, value in values.items() if value not in (None, {}, [])
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> FitReport:
        """Read what to_json gave; anything else is welcome, and stays in `extras`."""
        rest = dict(content)

        def take(name: str, read: Callable[[Any], T], default: T) -> T:
            try:
                value = read(rest[name])
            except (KeyError, FormatError):
                return default
            del rest[name]
            return value

        return cls(
            pairs=take("pairs", lambda value: _dict(value, PairCounts.from_json), {}),
            hub=take("hub", _text, None),
            regularization=take("regularization", lambda value: _dict(value, Choice.from_json), {}),
            solver=take("solver", lambda value: _dict(value, SolverRun.from_json), {}),
            rounds=take("rounds", lambda value: _list(value, RoundReport.from_json), []),
            kept_round=take("kept round", _count, None),
            seeds=take("seeds", lambda value: _dict(value, _text), {}),
            recover=take("recover", lambda value: _dict(value, _share), {}),
            witnessed=take("witnessed", lambda value: _dict(value, _share), {}),
            cpu_seconds=take("cpu seconds", _positive, None),
            extras=rest,
        )

    def adopt(self, fit: FitReport) -> None:
        """Take over what the report of a fit inside this one tells of its maps."""
        self.hub = fit.hub
        self.regularization, self.solver = fit.regularization, fit.solver
        self.extras |= fit.extras

    def choices(self) -> dict[str, Choice]:
        """Return how lambda was chosen; what is told there in another form is a FormatError."""
        if "regularization" in self.extras:
            raise FormatError(
                "This mapper's report does not tell how lambda was chosen as geomm tells it: "
                f"'regularization' is {self.extras['regularization']!r:.120}. Fit and save the "
                "mapper again."
            )
        return self.regularization


def report_of(mapper: object) -> FitReport:
    """Return the report of any mapper; an empty one if it is not fitted, or tells nothing."""
    report = getattr(mapper, "report_", None)
    if isinstance(report, FitReport):
        return report
    return FitReport.from_json(report if isinstance(report, Mapping) else {})


def _without_time(content: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name != "cpu seconds"}


_REQUIRED = object()


def _item(content: Any, name: str, default: object = _REQUIRED) -> Any:
    if not isinstance(content, Mapping) or (name not in content and default is _REQUIRED):
        raise FormatError(f"{content!r:.60} holds no {name!r}. Fit and save the mapper again.")
    return content.get(name, default)


def _or_none(content: Any, read: Callable[[Any], T]) -> T | None:
    return None if content is None else read(content)


def _dict(content: Any, read: Callable[[Any], T]) -> dict[str, T]:
    if not isinstance(content, Mapping):
        raise _odd(content, "names with values belong")
    return {_text(name): read(value) for name, value in content.items()}


def _list(content: Any, read: Callable[[Any], T]) -> list[T]:
    if not isinstance(content, list):
        raise _odd(content, "a list belongs")
    return [read(value) for value in content]


def _text(content: Any) -> str:
    if not isinstance(content, str):
        raise _odd(content, "a text belongs")
    return content


def _count(content: Any) -> int:
    if type(content) is not int or content < 0:
        raise _odd(content, "a whole number from 0 on belongs")
    return content


def _positive(content: Any) -> float:
    return _number(content, least=0)


def _share(content: Any) -> float:
    return _number(content, least=0, most=1)


def _number(
    content: Any, least: float = -sys.float_info.max, most: float = sys.float_info.max
) -> float:
    """Return a finite number that was read as one, or (a name in JSON) as its text."""
    try:
        number = math.nan if isinstance(content, bool) else float(content)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not least <= number <= most:
        raise _odd(content, f"a number from {least:g} to {most:g} belongs")
    return number


def _odd(content: Any, expected: str) -> FormatError:
    return FormatError(f"{content!r:.60} stands where {expected}. Fit and save the mapper again.")
