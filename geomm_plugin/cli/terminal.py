"""What commands print, and how a run ends: with a sentence and a status, never with a traceback.

Everything printed goes through here, so that words cannot steer the terminal. Signals from outside
leave `with` blocks in order, so that no temporary file stays behind. A stop by Ctrl-C counts as one
even where a library turned it into an error of its own on the way.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress

import click

from geomm_plugin.errors import FitError, GeommError
from geomm_plugin.text import printable, printable_json

UNFIT, FAILED, INTERRUPTED = 1, 2, 130  # exit statuses; 128 + SIGINT
_NO_MEMORY = ("failed to map segment", "cannot allocate memory", "can't start new thread")


def show(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a text for people to read; what is not printable is escaped, but for line breaks."""
    with suppress(OSError) if err else nullcontext():  # where errors cannot be told, none is added
        click.echo(printable(str(text), keep="\n\t"), err=err, nl=nl)


def show_json(text: str) -> None:
    """Print JSON; it reads back as the same values."""
    click.echo(printable_json(text))


def show_data(text: str) -> None:
    """Print lines for programs: as they are into a file or a pipe, escaped on a terminal."""
    if sys.stdout.isatty():
        text = printable(text, keep="\n\t")
    click.echo(text, nl=False)


def tell(error: BaseException) -> int:
    """Say what ended a run, and what to do; return its exit status. A defect of ours is raised."""
    status = FAILED
    if isinstance(error, KeyboardInterrupt):
        sentence, status = "Stopped.", INTERRUPTED
    elif isinstance(error, GeommError):
        sentence, status = str(error), UNFIT if isinstance(error, FitError) else FAILED
    elif _lacks_memory(error):
        size = f" ({error})" if str(error) and isinstance(error, MemoryError) else ""
        sentence = f"There is not enough memory{size}. Read fewer words with --max-words, or end "
        sentence += "other programs."
    elif isinstance(error, OSError):
        place = "" if error.filename is None else f" ({error.filename})"
        sentence = f"The system refused: {error.strerror or error}{place}."
    else:
        raise error
    show(sentence, err=True)
    return status


def _lacks_memory(error: BaseException) -> bool:
    """True for a lack of memory, also where a library could not be loaded or a thread started."""
    text = str(error).lower()
    return isinstance(error, MemoryError) or (
        isinstance(error, (ImportError, RuntimeError)) and any(sign in text for sign in _NO_MEMORY)
    )


@contextmanager
def exit_cleanly() -> Iterator[None]:
    """Run the command line inside: streams that can be written to, signals, and the last word."""
    _open_standard_streams()
    interrupt = _Interrupt()
    for name, handler in (("SIGINT", interrupt), ("SIGTERM", _end), ("SIGHUP", _end)):
        usual = (signal.SIG_DFL, signal.default_int_handler)
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) in usual:
            signal.signal(getattr(signal, name), handler)
    status: object = 0
    try:
        yield
    except SystemExit as error:
        status = error.code
    except (Exception, KeyboardInterrupt) as error:
        status = tell(KeyboardInterrupt() if interrupt.came else error)
    raise SystemExit(_flushed(status))


class _Interrupt:
    """Raises KeyboardInterrupt at Ctrl-C, and remembers that it came."""

    came = False

    def __call__(self, number: int, frame: object) -> None:
        self.came = True
        raise KeyboardInterrupt


def _end(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


def _open_standard_streams() -> None:
    """Put the null device where standard streams are closed; print words of any language."""
    descriptor = os.open(os.devnull, os.O_RDWR)
    while descriptor <= 2:  # else the next file that is opened would get what goes to the stream
        descriptor = os.open(os.devnull, os.O_RDWR)
    os.close(descriptor)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123
        elif hasattr(stream, "reconfigure"):
            coding = None if stream.isatty() else "utf-8"  # a pipe gets UTF-8 on any system
            stream.reconfigure(encoding=coding, errors="backslashreplace")


def _flushed(status: object) -> object:
    """Write what is still to be written; Python's own attempt at exit would end in a traceback."""
    try:
        sys.stdout.flush()
    except OSError as error:
        is_told = status in (FAILED, INTERRUPTED)  # their sentence may be this very error's
        if not (is_told or isinstance(error, BrokenPipeError)):
            tell(error)
        status = status or FAILED
        _drop(1)
    with suppress(OSError):
        sys.stderr.flush()
        return status
    _drop(2)
    return status


def _drop(descriptor: int) -> None:
    """Let what a stream still holds go nowhere."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)
