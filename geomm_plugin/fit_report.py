"""How a fit went: typed values that `learn` writes, and that are saved with the mapper as JSON.

One reader follows the annotations. A report may come back from anybody's file, so
`FitReport.from_json` takes any JSON object: what does not fit its annotation stays as it is, in
`extras`. CPU seconds are reported, but not saved, so that equal fits save equally.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, is_dataclass, replace
from typing import Annotated, Any, TypeAlias

from geomm_plugin.errors import FormatError
from geomm_plugin.registry.parameters import AtLeast, Within, is_within, options_of

ALL_DICTIONARIES = "all dictionaries"  # names a choice or a solver that all dictionaries share

JSON_NAMES = {"value": "chosen", "scores": "held-out p@1", "held_out_precision": "held-out p@1"}
MISFITS = (TypeError, ValueError, AttributeError, OverflowError)  # while anybody's JSON is read

Count: TypeAlias = Annotated[int, AtLeast(0)]
Positive: TypeAlias = Annotated[float, AtLeast(0)]
Share: TypeAlias = Annotated[float, Within(0, 1)]


@dataclass(frozen=True)
class PairCounts:
    """How many pairs of a dictionary were used, and how many words of each language are missing."""

    used: Count
    missing: Mapping[str, Count]
    sha256: str | None = None  # of the dictionary: Dictionary.sha256()

    def __str__(self) -> str:
        missing = (f"{count} missing in {language}" for language, count in self.missing.items())
        return ", ".join([f"{self.used} pairs", *missing])


@dataclass(frozen=True)
class Choice:
    """The value of lambda that was taken, and the held-out P@1 of each that was tried."""

    value: Positive
    scores: Mapping[Positive, Share]


@dataclass(frozen=True)
class HeldOut:
    """P@1 on words of a dictionary, each translated by maps that were fitted without it."""

    precision: Share
    words: Count

    def __str__(self) -> str:
        """Show it with Wilson's interval: (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)."""
        p, z2 = self.precision, 1.96**2 / max(self.words, 1)  # z² / n
        spread = math.sqrt(z2 * p * (1 - p) + z2**2 / 4)
        low, high = ((p + z2 / 2 + side * spread) / (1 + z2) for side in (-1, 1))
        return f"{p:.3f} (95 %: {low:.3f} to {high:.3f}), {self.words} words"


@dataclass(frozen=True)
class SolverRun:
    """How an iterative solver ended."""

    name: str
    iterations: Count
    stopped: str  # why, in a sentence
    cost: float | None = None


@dataclass(frozen=True)
class RoundReport:
    """One round of self-learning: what its maps were fitted to, and how good they are."""

    words: Count  # most frequent words among which pairs were looked for; 0 in the plain fit
    pairs_induced: Count  # by the maps of the round before
    mean_csls: float | None = None  # of those that are mutual
    held_out_precision: Share | None = None  # P@1, where words could be held out
    regularization: Positive | None = None  # lambda, where all dictionaries have the same
    cpu_seconds: Positive | None = None


@dataclass
class FitReport:
    """What is known of a fit; `learn` fills in what its method has.

    What is by dictionary ("en-es") may stand under ALL_DICTIONARIES.
    """

    pairs: dict[str, PairCounts] = field(default_factory=dict)
    hub: str | None = None  # the language that all others were mapped to
    regularization: dict[str, Choice] = field(default_factory=dict)
    held_out: dict[str, HeldOut] = field(default_factory=dict)
    solver: dict[str, SolverRun] = field(default_factory=dict)
    rounds: list[RoundReport] = field(default_factory=list)  # of self-learning
    kept_round: Count | None = None  # whose maps were kept; 0 is the plain fit
    seeds: dict[str, str] = field(default_factory=dict)  # that started it without a dictionary
    recover: dict[str, Share] = field(default_factory=dict)  # split_half_agreement of the pairs
    witnessed: dict[str, Share] = field(default_factory=dict)  # cognate_precision of the maps
    cpu_seconds: Positive | None = None
    extras: dict[str, Any] = field(default_factory=dict)  # plain values, whatever a method adds

    def to_json(self, *, times: bool = True) -> dict[str, Any]:
        """Return plain values; what is empty is left out, and times where they are not wanted."""
        values = _written(type(self), replace(self, extras={}))
        if not times:
            for timed in (values, *values["rounds"]):
                timed.pop("cpu seconds", None)
        return self.extras | {
            name: value for name, value in values.items() if value not in ({}, [])
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> FitReport:
        """Read what to_json gave; anything else is welcome, and stays in `extras`."""
        report, rest = cls(), dict(content)
        for own, kind in _fields(cls):
            name = _json_name(own)
            if name in rest and own.name != "extras":
                try:
                    value = _read(kind, rest[name])
                except MISFITS:
                    continue
                if value is not None:
                    setattr(report, own.name, value)
                    del rest[name]
        report.extras = rest
        return report

    def adopt(self, fit: FitReport) -> None:
        """Take over what the report of a fit inside this one says of its maps."""
        self.hub, self.held_out = fit.hub, fit.held_out
        self.regularization, self.solver = fit.regularization, fit.solver
        self.extras |= fit.extras

    def facts(self) -> dict[str, str]:
        """Return for people what the fit learnt from, what it chose and how good it is."""
        facts: dict[str, str] = {}
        for pair, counts in self.pairs.items():
            digest = f", sha256 {counts.sha256[:16]}" if counts.sha256 else ""
            facts[f"dictionary {pair}"] = f"{counts}{digest}" if counts.used else "none"
        facts |= {f"started, {pair}": seed for pair, seed in self.seeds.items()}
        facts |= {f"regularization, {n}": f"{c.value:g}" for n, c in self.regularization.items()}
        facts |= {f"held-out P@1, {name}": str(found) for name, found in self.held_out.items()}
        for name, shares in (("recover", self.recover), ("witnessed", self.witnessed)):
            facts |= {f"{name}, {pair}": f"{share:.2f}" for pair, share in shares.items()}
        return facts

    def choices(self) -> dict[str, Choice]:
        """Return how lambda was chosen; what stands there in another form is a FormatError."""
        if "regularization" in self.extras:
            raise FormatError(
                "This mapper's report does not hold how lambda was chosen as that of geomm does: "
                f"'regularization' is {self.extras['regularization']!r:.120}. Fit and save the "
                "mapper again."
            )
        return self.regularization


def report_of(mapper: object) -> FitReport:
    """Return the report of any mapper; an empty one if it is not fitted, or has none."""
    report = getattr(mapper, "report_", None)
    if isinstance(report, FitReport):
        return report
    return FitReport.from_json(report if isinstance(report, Mapping) else {})


def _json_name(own: Field[Any]) -> str:
    return JSON_NAMES.get(own.name, own.name.replace("_", " "))


def _fields(owner: Any) -> list[tuple[Field[Any], Any]]:
    """Return the fields of a dataclass, each with its annotation."""
    hints = typing.get_type_hints(owner, include_extras=True)
    return [(own, hints[own.name]) for own in fields(owner)]


def _bare(annotation: Any) -> Any:
    """Return an annotation without `| None` and without its bounds."""
    kind = options_of(annotation)[0]
    return typing.get_args(kind)[0] if typing.get_origin(kind) is Annotated else kind


def _written(annotation: Any, value: Any) -> Any:
    """Return a value of some annotation as plain values; what is None is left out of objects."""
    kind = _bare(annotation)
    if kind is Any:
        return value
    if is_dataclass(kind):
        items = [(own, hint, getattr(value, own.name)) for own, hint in _fields(kind)]
        return {_json_name(own): _written(hint, v) for own, hint, v in items if v is not None}
    arguments = typing.get_args(kind)
    if typing.get_origin(kind) is list:
        return [_written(arguments[0], each) for each in value]
    if isinstance(value, Mapping):
        if _bare(arguments[0]) is float:
            value = {repr(float(name)): each for name, each in value.items()}
        return {name: _written(arguments[1], each) for name, each in value.items()}
    return kind(value)


def _read(annotation: Any, content: Any) -> Any:
    """Return the value that was written; one of MISFITS where it does not fit the annotation."""
    kind, options = _bare(annotation), options_of(annotation)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if content is None and len(options) > 1:
        return None
    if is_dataclass(kind):
        known = [(own, hint) for own, hint in _fields(kind) if _json_name(own) in content]
        parts = {own.name: _read(hint, content[_json_name(own)]) for own, hint in known}
        return typing.cast(Any, kind)(**parts)
    if origin is list and isinstance(content, list):
        return [_read(arguments[0], each) for each in content]
    if origin in (dict, Mapping):
        return {_read(arguments[0], name): _read(arguments[1], v) for name, v in content.items()}
    # Numbers are read as such or (names in JSON) from their text.
    value = float(content) if kind is float and not isinstance(content, bool) else content
    bounds = typing.get_args(options[0])[1:]
    if type(value) is not kind or not all(is_within(value, bound) for bound in bounds):
        raise ValueError(f"{content!r:.60} is no {annotation}.")
    if kind is float and not math.isfinite(value):
        raise ValueError(f"{content!r:.60} is not finite.")
    return value
