"""Worker processes: new interpreters, not forks of this one, which may have threads.

Each has a thread here that sends it one task after the other and waits for the answer. A process
that ends before its answer (the system's memory killer, a segmentation fault) is replaced, and its
task is begun again. A process ends when its end of the connection is closed, however this one ends;
the script that is run here is not run again there, so scripts need no `if __name__ == "__main__"`.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection, Pipe
from typing import Any, NoReturn, TypeVar

from geomm_plugin.errors import WorkError

T = TypeVar("T")

_THREAD_LIMITS = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR")
# A worker makes arrays of the same size again and again: what it frees it keeps (in glibc), since
# memory that is given back to the system and asked for again costs up to a fifth of its time.
_KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(2**29), "MALLOC_MMAP_THRESHOLD_": str(2**28)}
_START = (
    "import sys; sys.path[:] = sys.argv[2:]; "
    "from geomm_plugin.alignment.worker_process import serve; serve(int(sys.argv[1]))"
)
_SENT_AS_IT_IS = ("builtins", "geomm_plugin.errors")  # modules of errors that we know


class WorkerEndedError(Exception):
    """A worker process ended before it had an answer."""


class WorkerProcesses(Executor):
    """An executor of so many processes, each started when there is a first task for it."""

    def __init__(self, count: int, blas_threads: int = 1, attempts: int = 3):
        limits = {f"{library}_NUM_THREADS": str(blas_threads) for library in _THREAD_LIMITS}
        self._environment = {**_KEEP_MEMORY, **os.environ, **limits}
        self._attempts = attempts
        self._is_stopped = False
        self._threads = ThreadPoolExecutor(count, "geomm-worker")
        self._own = threading.local()  # the process of each thread
        self._processes: list[WorkerProcess] = []

    def submit(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Let the next free process do it."""
        return self._threads.submit(self._call, partial(function, *args, **kwargs))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all processes: when they are done, or at once if futures are cancelled."""
        if cancel_futures:
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._is_stopped = True
            for process in self._processes:
                process.kill()
        self._threads.shutdown(wait=wait)
        for process in self._processes:
            process.close()

    def _call(self, call: Callable[[], T]) -> T:
        ending = "it was stopped"
        for _ in range(self._attempts):
            if self._is_stopped:
                break
            process = getattr(self._own, "process", None)
            if process is None:
                process = self._own.process = WorkerProcess(self._environment)
                self._processes.append(process)
            try:
                result: T = process.do(call)
                return result
            except WorkerEndedError as error:
                ending = str(error)
                self._own.process = None
        times = f", {self._attempts} times" if self._attempts > 1 else ""
        raise WorkError(
            f"its process ended ({ending}{times}); it may have run out of memory. Use fewer jobs."
        )


class WorkerProcess:
    """One interpreter that does tasks, seen from here."""

    def __init__(self, environment: dict[str, str]):
        self._connection, theirs = Pipe()
        with theirs:
            arguments = [str(theirs.fileno()), *(path or os.curdir for path in sys.path)]
            options = [f"-W{option}" for option in sys.warnoptions]
            with _interrupt_blocked():  # as it is in the new process, until serve() ignores it
                self._process = subprocess.Popen(
                    [sys.executable, *options, "-c", _START, *arguments],
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                )

    def do(self, call: Callable[[], object]) -> Any:
        """Send a task and wait for its answer."""
        try:
            self._connection.send(call)
        except OSError:
            pass  # it has ended: seen below
        except Exception as error:
            raise WorkError(
                f"it cannot be sent to another process ({error}). Define its mapper in a module "
                "that can be imported, or use one job."
            ) from error
        try:
            kind, answer = self._connection.recv()  # from our own process
        except (EOFError, OSError):
            raise WorkerEndedError(self._ending()) from None
        if kind == "result":
            return answer
        if kind == "error":
            raise answer
        raise WorkError(answer)

    def kill(self) -> None:
        """End the process, whatever it does."""
        with suppress(OSError):
            self._process.kill()

    def close(self) -> None:
        """End the process when it is done."""
        self._connection.close()
        self._process.wait()

    def _ending(self) -> str:
        self.kill()
        code = self._process.wait()
        return f"EXIT({code})" if code >= 0 else f"{signal.Signals(-code).name}({code})"


@contextmanager
def _interrupt_blocked() -> Iterator[None]:
    """Keep Ctrl-C from this thread, and from processes that it starts, in a `with` block."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def serve(handle: int) -> NoReturn:
    """Be a worker: do task after task until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started us
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    threading.Thread(target=_end_with, args=(handle,), daemon=True).start()
    connection = Connection(handle)
    while True:
        try:
            call = connection.recv()
        except (EOFError, OSError):
            os._exit(0)
        except Exception as error:  # what was sent cannot be made here
            connection.send(
                (
                    "failure",
                    f"it cannot be loaded in another process ({error}). Define its mapper in a "
                    "module that can be imported, or use one job.",
                )
            )
            continue
        connection.send(_answer(call))


def _answer(call: Callable[[], object]) -> tuple[str, object]:
    try:
        return "result", call()
    except BaseException as error:  # whatever it is, the other side has to know
        if type(error).__module__ in _SENT_AS_IT_IS and isinstance(error, Exception):
            return "error", error
        return "failure", f"{type(error).__name__}: {error}"


def _end_with(handle: int) -> None:
    """End this process when the other end of its connection is closed, also in the midst of work.

    A hang-up is reported whatever is asked for; data are not.
    """
    poll = select.poll()
    poll.register(handle, 0)
    poll.poll()
    os._exit(1)
