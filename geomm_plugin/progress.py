"""Progress of long work, on standard error: silent unless the command line turns it on.

On a terminal it is bars. Elsewhere, in batch jobs, it is a line for each stage that is done, with
how much it was and how long it took: at once with `-v`, else when a run has lasted ten seconds, and
then without the stages that took less than one. The lines are ordinary logging, under the logger
"geomm_plugin".
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, TextIO, TypeVar

from geomm_plugin.text import printable

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")

logger = logging.getLogger("geomm_plugin")
_is_verbose: ContextVar[bool] = ContextVar("is_verbose", default=False)
_display: ContextVar[Progress | None] = ContextVar("display", default=None)


@contextmanager
def shown(
    quiet: bool = False,
    after: float = 10.0,  # seconds that a run lasts before its lines are shown unasked
    shortest: float = 1.0,  # seconds; lines of shorter stages are shown only if asked for
) -> Iterator[None]:
    """Show the tasks below on standard error: bars on a terminal, else lines."""
    is_verbose = _is_verbose.get()
    if quiet or is_verbose or not sys.stderr.isatty():
        late = _logged(0.0 if is_verbose else after, shortest)
        with late if is_verbose or not quiet else nullcontext():
            yield
        return
    from rich import progress as bars
    from rich.console import Console

    columns = (
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(bar_width=30),
        bars.TaskProgressColumn(),
        bars.TimeElapsedColumn(),
        bars.TextColumn("{task.fields[note]}", style="dim", markup=False),
    )
    # What goes to standard output passes above the bars, or straight on if it is a file or a pipe.
    above, console = sys.stdout.isatty(), Console(stderr=True)
    with bars.Progress(*columns, console=console, transient=True, redirect_stdout=above) as display:
        token = _display.set(display)
        try:
            yield
        finally:
            _display.reset(token)


@contextmanager
def verbose() -> Iterator[None]:
    """Show lines from the beginning in a `with` block, also on a terminal, instead of bars."""
    token = _is_verbose.set(True)
    try:
        yield
    finally:
        _is_verbose.reset(token)


@contextmanager
def _logged(after: float, shortest: float) -> Iterator[None]:
    """Write what is logged to standard error, once some seconds have passed."""
    handler, level = _LateHandler(after, shortest), logger.level
    logger.addHandler(handler)
    logger.setLevel(min(level or logging.INFO, logging.INFO))
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


class _LateHandler(logging.StreamHandler[TextIO]):
    """Keeps lines until so many seconds have passed; then they come, and all others at once."""

    def __init__(self, after: float, shortest: float):
        super().__init__(sys.stderr)
        self.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
        self._shown_from = time.monotonic() + after
        self._shortest = shortest if after else 0.0
        self._kept: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        if getattr(record, "seconds", self._shortest) < self._shortest:
            return
        self._kept.append(record)
        if time.monotonic() >= self._shown_from:
            for kept in self._kept:
                super().emit(kept)
            self._kept.clear()


@contextmanager
def task(label: str, total: float | None = None, unit: str = "") -> Iterator[Callable[..., None]]:
    """Give a function advance(amount, note="") that moves one bar, if bars are shown.

    At its end, what was done is logged: the label, how many of the unit, and the seconds.
    """
    start = time.perf_counter()
    done = 0.0
    with _bar(label, total) as move:

        def advance(amount: float = 1, note: str = "") -> None:
            nonlocal done
            done += amount
            move(amount, note)

        yield advance
    unit = unit.removesuffix("s") if done == 1 else unit
    amount = f"{done:,.0f} {unit}".rstrip() + " in " if done else ""
    seconds = time.perf_counter() - start
    logger.info("%s: %s%.1f s", printable(label), amount, seconds, extra={"seconds": seconds})


@contextmanager
def _bar(label: str, total: float | None) -> Iterator[Callable[..., None]]:
    display = _display.get()
    if display is None:
        yield lambda amount, note: None
        return
    bar = display.add_task(printable(label), total=total, note="")

    def advance(amount: float, note: str) -> None:
        display.update(bar, advance=amount, note=printable(note))

    try:
        yield advance
    finally:
        display.remove_task(bar)


def over(label: str, items: Sequence[T], unit: str = "") -> Iterator[T]:
    """Go through items with a bar that moves by one for each, which is one `unit` ("words")."""
    with task(label, len(items), unit) as advance:
        for item in items:
            yield item
            advance(1)
