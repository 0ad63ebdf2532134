"""A crew: whoever divides products over whole vocabularies, for as long as a `with` block lasts.

    with crew(jobs=4):
        space.dictionary("en", "es")    # each of four threads compares a quarter of the columns

What computes asks `each_part`, and knows nothing of who does it. Without a crew it is this thread,
with the threads of BLAS. With jobs it is threads with one BLAS thread each: these divide all of the
work, where BLAS divides the products alone. On a cluster, the large arrays are sent to each worker
once. A thread of a crew has no crew of its own, so that nothing multiplies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, TypeVar

from geomm_plugin.factorization import few_threads, thread_count
from geomm_plugin.work.workers import Cluster, Task, Workers, open_workers

T = TypeVar("T")

_at_work: ContextVar[Workers | None] = ContextVar("crew", default=None)


@contextmanager
def crew(jobs: int | None = None, cluster: Cluster | None = None) -> Iterator[None]:
    """Divide what is computed in a `with` block among so many threads, or a cluster's workers.

    Parameters
    ----------
    jobs
        How many threads; -1 is one for each core. None leaves things as they are.
    cluster
        The address of a Dask scheduler, a Dask Client, or an Executor of `concurrent.futures`.
    """
    if jobs is None and cluster is None:
        yield
        return
    with open_workers(jobs, cluster, "threads") as workers:
        token = _at_work.set(None if workers.is_serial else workers)
        try:
            yield
        finally:
            _at_work.reset(token)


@contextmanager
def some_crew() -> Iterator[None]:
    """Give a `with` block the crew that there is, or one of as many threads as BLAS has.

    What is computed in parts by one BLAS thread each is the same to the bit for any crew.
    """
    with nullcontext() if _at_work.get() is not None else crew(thread_count()):
        yield


def crew_size(in_memory: bool = False) -> int:
    """Return among how many the work is divided; `in_memory`: how many share our memory."""
    workers = _at_work.get()
    return 1 if workers is None or (in_memory and workers.elsewhere) else workers.width


def each_part(
    what: str,
    function: Callable[..., T],
    arrays: tuple[Any, ...],
    parts: Sequence[Any],
    *,
    in_memory: bool = False,
) -> Iterator[T]:
    """Yield function(*arrays, part) of each part, in order.

    Parameters
    ----------
    arrays
        Large arguments of all calls; a cluster is sent them once.
    in_memory
        Whether it must be done by who shares our memory: the function changes something, or takes
        less time than to send what it needs.
    """
    workers = _at_work.get()
    if workers is None or (in_memory and workers.elsewhere):
        yield from (function(*arrays, part) for part in parts)
        return
    shared = tuple(map(workers.share, arrays))
    tasks = (Task(what, function, (*shared, part)) for part in parts)
    with nullcontext() if workers.elsewhere else few_threads():
        yield from workers.in_order(tasks)
