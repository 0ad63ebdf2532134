"""A scale of a chart: where a value stands, and round numbers to write beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """Maps [low, high] to [start, stop] in pixels, by value or by logarithm."""

    low: float
    high: float
    start: float
    stop: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """Return where a value stands."""
        low, high = self._scale(self.low), self._scale(self.high)
        share = (self._scale(value) - low) / (high - low)
        return self.start + share * (self.stop - self.start)

    def ticks(self, count: int = 5) -> list[float]:
        """Return about so many round values within the axis."""
        if self.logarithmic:
            exponents = range(
                math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1
            )
            steps = (1,) if math.log10(self.high / self.low) > 2 else (1, 2, 5)
            values = [step * 10.0**exponent for exponent in exponents for step in steps]
        else:
            step = round_step((self.high - self.low) / count)
            first = math.ceil(self.low / step - 1e-9)
            values = [round((first + n) * step, 10) for n in range(int(2 * count) + 2)]
        low, high = self._scale(self.low), self._scale(self.high)
        margin = 1e-9 * (high - low)  # of rounding
        return [value for value in values if low - margin <= self._scale(value) <= high + margin]

    def _scale(self, value: float) -> float:
        return math.log10(value) if self.logarithmic else value


def round_step(length: float) -> float:
    """Return the smallest of 1, 2, 5 times a power of ten that is not below a length."""
    power = 10.0 ** math.floor(math.log10(length))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= length * (1 - 1e-9))


def around(
    values: list[float], *, lowest: float = 0.0, highest: float = 1.0
) -> tuple[float, float]:
    """Return a range that holds all values with some room, within two limits."""
    low, high = min(values), max(values)
    room = max(0.08 * (high - low), 0.01)
    return max(lowest, low - room), min(highest, high + room)


def around_logarithmic(values: list[float]) -> tuple[float, float]:
    """Return a range of a logarithmic axis with room on both sides."""
    low, high = min(values), max(values)
    room = max((high / low) ** 0.12, 1.5)
    return low / room, high * room
