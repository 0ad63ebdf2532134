"""[fit] How lambda was chosen, from a mapper's `report_`, which may come from anybody's file.

{"regularization": {"en-es": {"chosen": 10, "held-out p@1": {"1": 0.42, "10": 0.47}}}}
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from geomm_plugin.errors import FormatError


@dataclass(frozen=True)
class Choice:
    """The best of several candidates, and the held-out P@1 of each that was tried."""

    value: float
    scores: dict[float, float]


def regularization_choices(report: Mapping[str, Any]) -> dict[str, Choice]:
    """Return the lambda chosen for each dictionary, and the held-out P@1 of each that was tried.

    Empty if lambda was given; what is not as `geomm` reports it is a FormatError.
    """
    told = report.get("regularization", {})
    if not isinstance(told, Mapping):
        raise _odd(f"'regularization' is {told!r:.60}")
    found = {}
    for name, choice in told.items():
        scores = choice.get("held-out p@1") if isinstance(choice, Mapping) else None
        if not isinstance(scores, Mapping) or "chosen" not in choice:
            raise _odd(f"the 'regularization' of {name!r:.60} is {choice!r:.60}")
        found[name] = Choice(
            _number(choice["chosen"]),
            {_number(tried): _number(score, most=1) for tried, score in scores.items()},
        )
    return found


def _number(value: Any, most: float = sys.float_info.max) -> float:
    """Return a number from 0 on that was read as one, or (a name in JSON) as its text."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 <= number <= most:
        bounds = "from 0 to 1" if most == 1 else "from 0 on"
        raise _odd(f"{value!r:.60} stands where a number {bounds} belongs")
    return number


def _odd(what: str) -> FormatError:
    return FormatError(
        f"This mapper's report does not tell how lambda was chosen as geomm tells it: {what}. Fit "
        "and save the mapper again."
    )
