"""Progress of long work, on standard error: silent unless the command line turns it on."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

from geomm_plugin.printable import printable

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")

_display: ContextVar[Progress | None] = ContextVar("display", default=None)


@contextmanager
def shown(quiet: bool = False) -> Iterator[None]:
    """Show the tasks below on standard error, if it is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}", style="dim", markup=False),
    )
    # What goes to standard output passes above the bars, or straight on if it is a file or a pipe.
    with Progress(
        *columns,
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=sys.stdout.isatty(),
    ) as display:
        token = _display.set(display)
        try:
            yield
        finally:
            _display.reset(token)


@contextmanager
def task(label: str, total: float | None = None) -> Iterator[Callable[..., None]]:
    """Give a function advance(amount, note="") that moves one bar; it does nothing if not shown."""
    display = _display.get()
    if display is None:
        yield _ignore
        return
    bar = display.add_task(printable(label), total=total, note="")

    def advance(amount: float = 1, note: str = "") -> None:
        display.update(bar, advance=amount, note=printable(note))

    try:
        yield advance
    finally:
        display.remove_task(bar)


def over(label: str, items: Sequence[T]) -> Iterator[T]:
    """Go through items with a bar that moves by one for each."""
    with task(label, total=len(items)) as advance:
        for item in items:
            yield item
            advance(1)


def _ignore(amount: float = 1, note: str = "") -> None:
    """Stand in for a bar that nobody sees."""
