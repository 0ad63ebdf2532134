"""Work in a forked child: it shares our memory, ends with us, and cannot take us down.

The child sends its answer through a pipe. Where it ends without one (`os._exit`, a segmentation
fault, the system's memory killer), the parent learns how, and goes on.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, NoReturn

PR_SET_PDEATHSIG = 1  # <sys/prctl.h>: the signal that a process gets when its parent ends


def can_fork() -> bool:
    """Tell whether children are safe here: elsewhere BLAS libraries do not survive a fork."""
    return sys.platform == "linux"


def openmp_libraries() -> Any:
    """Return what GNU's OpenMP runs in this process; a child must limit them to one thread.

    With more, it waits forever for threads that only the parent has.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="openmp", threading_layer=["openmp", "gnu"])


@dataclass(frozen=True)
class ForkedChild:
    """A process that works for us."""

    process: int
    answers: Connection

    @classmethod
    def start(cls, work: Callable[[], object]) -> ForkedChild:
        """Fork a child that does some work and sends back what it returns."""
        from multiprocessing import Pipe

        answers, sender = Pipe(duplex=False)
        sys.stdout.flush()  # what waits there would be written twice
        sys.stderr.flush()
        parent = os.getpid()
        with warnings.catch_warnings():  # Python 3.12: other threads are BLAS's, which handles it
            warnings.simplefilter("ignore", DeprecationWarning)
            process = os.fork()
        if process == 0:
            _work(work, sender, parent)
        sender.close()
        return cls(process, answers)

    def result(self) -> tuple[object, str | None]:
        """Wait for the answer; return it, or why there is none."""
        try:
            kind, answer = self.answers.recv()  # from our own child
        except (EOFError, OSError):
            kind, answer = "death", None
        self.answers.close()
        _, status = os.waitpid(self.process, 0)
        if kind == "interrupt":
            raise KeyboardInterrupt
        if kind == "death":
            return None, f"its process ended ({_ending(status)}); it may have run out of memory."
        return (answer, None) if kind == "answer" else (None, str(answer))

    def end(self) -> None:
        """Stop the child, whatever it does."""
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        self.answers.close()


def _work(work: Callable[[], object], sender: Connection, parent: int) -> NoReturn:
    """Be the child: do the work, send the answer, and end without what the parent would do."""
    try:
        _end_with(parent)
        logging.disable()  # the parent tells what is done
        for name in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(name, signal.SIG_DFL)
        try:
            sender.send(("answer", work()))  # whole or, if it cannot be sent, not at all
        except KeyboardInterrupt:
            sender.send(("interrupt", None))
        except BaseException as error:  # whatever it is, the parent has to know
            sender.send(("error", f"{type(error).__name__}: {error}"))
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(0)


def _end_with(parent: int) -> None:
    """Ask the system to end this process when its parent ends, however that may be."""
    import ctypes

    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it has ended already
        os._exit(1)


def _ending(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"EXIT({code})" if code >= 0 else f"{signal.Signals(-code).name}({code})"
