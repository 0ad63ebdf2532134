"""The seam: tasks go in, results come out in their order, whatever executor is behind it."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from geomm_plugin.errors import GeommError, ParameterError, WorkError
from geomm_plugin.files.turns import CAN_WRITE_AT
from geomm_plugin.work import Cluster, job_count

T = TypeVar("T")
Kind: TypeAlias = Literal["processes", "threads"]

_AHEAD = 4  # tasks handed out for each worker before the first result is waited for
_UNKNOWN_WIDTH = 8  # workers that an executor of the user's is taken to have


@dataclass(frozen=True)
class Task(Generic[T]):
    """A call, and in a few words what it does: "Reading en.vec, part 3"."""

    what: str
    function: Callable[..., T]
    arguments: tuple[Any, ...] = ()


class InThisProcess(Executor):
    """An executor that does each task at once, when it is submitted."""

    def submit(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Do it; the future is there with its result, or with its error."""
        future: Future[T] = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@dataclass(frozen=True)
class Workers:
    """Who does the tasks: an executor, and how many tasks it does at a time."""

    executor: Executor
    width: int = 1
    elsewhere: bool = False  # in other processes: arguments are copied, memory is not shared
    client: Any = None  # Dask's, where the workers are a cluster's
    in_turn: bool = False  # on this machine; tasks are begun in the order of their submission

    @property
    def is_serial(self) -> bool:
        """True if tasks are done one after the other, when their results are asked for."""
        return isinstance(self.executor, InThisProcess)

    def in_order(self, tasks: Iterable[Task[T]], *, beside: bool = False) -> Iterator[T]:
        """Yield the results in the order of the tasks; a few tasks are worked on ahead.

        Parameters
        ----------
        beside
            Whether it is work beside other work, for which half of the workers are left.
        """
        ahead = 1 if self.is_serial else _AHEAD * self.width
        if beside:
            ahead = max(1, self.width // 2)
        waiting: deque[tuple[Task[T], Future[T]]] = deque()
        try:
            for task in tasks:
                waiting.append((task, self.executor.submit(task.function, *task.arguments)))
                if len(waiting) >= ahead:
                    yield self._result(*waiting.popleft())
            while waiting:
                yield self._result(*waiting.popleft())
        finally:
            for _, future in reversed(waiting):  # so that none is begun whose turn cannot come
                future.cancel()

    def as_completed(self, tasks: Sequence[Task[T]]) -> Iterator[tuple[int, T | WorkError]]:
        """Yield (number of the task, result) as each is there; an error instead of a result."""
        numbers: dict[Future[T], int] = {}
        remaining = list(enumerate(tasks))[::-1]
        try:
            while remaining or numbers:
                while remaining and len(numbers) < self.width:
                    number, task = remaining.pop()
                    numbers[self.executor.submit(task.function, *task.arguments)] = number
                for future in wait(numbers, return_when=FIRST_COMPLETED).done:
                    number = numbers.pop(future)
                    try:
                        yield number, self._result(tasks[number], future)
                    except WorkError as error:
                        yield number, error
        finally:
            for future in numbers:
                future.cancel()

    def share(self, value: T) -> T:
        """Return what stands for a large argument of many tasks; a cluster is sent it once."""
        if self.client is None:
            return value
        from geomm_plugin.alignment.cluster import scatter

        shared: T = scatter(self.client, value)
        return shared

    def check_files(self, paths: Iterable[os.PathLike[str]]) -> None:
        """Refuse files that some worker of a cluster does not see as we see them."""
        if self.client is not None:
            from geomm_plugin.alignment.cluster import check_files

            check_files(self.client, paths)

    def _result(self, task: Task[T], future: Future[T]) -> T:
        try:
            return future.result()
        except (GeommError, OSError, MemoryError) as error:
            if isinstance(error, WorkError):
                raise WorkError(f"{task.what}: {error}") from error
            raise
        except Exception as error:
            if self.is_serial:
                raise
            raise WorkError(f"{task.what} failed: {type(error).__name__}: {error}.") from error


@contextmanager
def open_workers(
    jobs: int | None = None,
    cluster: Cluster | None = None,
    kind: Kind = "processes",
    *,
    blas_threads: int = 1,
    attempts: int = 3,
) -> Iterator[Workers]:
    """Give workers for a `with` block; at its end they end, whatever they do.

    Parameters
    ----------
    jobs
        How many tasks at the same time; -1 is one for each core. By default 1: in this process.
    cluster
        The address of a Dask scheduler ("tcp://host:8786"), a Dask Client, or any Executor of
        `concurrent.futures`; then it says how many.
    kind
        What jobs are: processes, or threads for work that lets go of the interpreter's lock.
    blas_threads
        Of each worker process.
    attempts
        How often a task is begun whose process ends before it is done.
    """
    count = job_count(jobs)
    if cluster is not None:
        if count > 1:
            raise ParameterError(
                f"The cluster says how many tasks are worked on at once; jobs={jobs} does not go "
                "with it. Leave one of the two out."
            )
        with _given_workers(cluster) as workers:
            yield workers
    elif count == 1:
        yield Workers(InThisProcess())
    elif kind == "threads" or sys.platform == "win32":
        yield from _with(ThreadPoolExecutor(count), count)
    else:
        from geomm_plugin.alignment.worker_process import WorkerProcesses

        yield from _with(WorkerProcesses(count, blas_threads, attempts), count, elsewhere=True)


def _with(executor: Executor, count: int, elsewhere: bool = False) -> Iterator[Workers]:
    try:
        yield Workers(executor, count, elsewhere, in_turn=CAN_WRITE_AT)
    except BaseException:
        executor.shutdown(cancel_futures=True)
        raise
    executor.shutdown()


@contextmanager
def _given_workers(cluster: Cluster) -> Iterator[Workers]:
    if isinstance(cluster, Executor):
        width = getattr(cluster, "_max_workers", _UNKNOWN_WIDTH)
        yield Workers(cluster, width, elsewhere=not isinstance(cluster, ThreadPoolExecutor))
        return
    from geomm_plugin.alignment.cluster import connected

    with connected(cluster) as (client, width):
        executor = client.get_executor(pure=False)
        yield Workers(executor, width, elsewhere=True, client=client)
