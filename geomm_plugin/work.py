"""Jobs go in, results come out: here, in threads, in processes, or on a cluster.

    with process_pool(jobs=4) as pool:                  # one job a language or a mapper
        for path in pool.in_order(Job(f"Reading {name}", read, (name,)) for name in names):
            ...
    with compute_pool(jobs=4):                          # one job a block of rows
        space.dictionary("en", "es")

Processes are joblib's (loky): new interpreters, one BLAS thread each, that need no
`if __name__ == "__main__"`. A process that ends in the midst of a job costs that job alone. With
`joblib.parallel_config`, its backend does the jobs instead. Results do not depend on who does them.
"""

from __future__ import annotations

import os
import platform
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np

from geomm_plugin.errors import GeommError, ParameterError, WorkError, missing_extra
from geomm_plugin.factorization import few_threads, thread_count

T = TypeVar("T")
Cluster: TypeAlias = "str | Any"  # the address of a Dask scheduler, or a Dask Client

CONNECT_SECONDS = 5.0
WORKERS_SECONDS = 30.0  # batch systems start workers one after the other
_THREAD_LIMITS = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR")
# A worker makes arrays of the same size again and again: what it frees it keeps (in glibc), since
# memory that is given back to the system and asked for again costs up to a fifth of its time.
_KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(2**29), "MALLOC_MMAP_THRESHOLD_": str(2**28)}
_ADVICE = "Define its mapper in a module that can be imported, or use one job."


class Job(NamedTuple, Generic[T]):
    """A call, and in a few words what it does: "Reading en.vec"."""

    what: str
    function: Callable[..., T]
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Pool:
    """Who does the jobs, and how many at a time."""

    width: int = 1
    elsewhere: bool = False  # in other processes: arguments are copied, memory is not shared
    executor: Any = None  # of concurrent.futures; None: this process, or joblib's active backend
    shared: tuple[Any, ...] = ()  # arguments in front of each job's own, which others have already
    client: Any = None  # Dask's, where the workers are a cluster's

    def in_order(self, jobs: Iterable[Job[T]]) -> Iterator[T]:
        """Yield the results in the order of the jobs."""
        if self.elsewhere:
            with self._begun(jobs) as begun:
                yield from (_result(job, future) for future, (_, job) in begun.items())
        else:
            yield from (job.function(*self.shared, *job.arguments) for job in jobs)

    def as_completed(self, jobs: Iterable[Job[T]]) -> Iterator[tuple[int, T | WorkError]]:
        """Yield (number of the job, result) as each is there; an error instead of a result."""
        with self._begun(jobs) as begun:
            for future in as_completed(begun):
                number, job = begun[future]
                try:
                    yield number, _result(job, future)
                except WorkError as error:
                    yield number, error

    def check_files(self, paths: Iterable[os.PathLike[str]]) -> None:
        """Refuse files that some worker of a cluster does not see as we see them."""
        if self.client is not None:
            names = [os.fspath(Path(path).absolute()) for path in paths]
            for worker, path, there, _ in _differences(self.client, sizes, names):
                seen = "no such file" if there is None else f"{there} bytes"
                raise WorkError(
                    f"The worker {worker} cannot see {path}: it sees {seen}. Put inputs and "
                    "outputs on storage that all workers see under the same path."
                )

    @contextmanager
    def _begun(self, jobs: Iterable[Job[T]]) -> Iterator[dict[Future[bytes], tuple[int, Job[T]]]]:
        """Begin jobs elsewhere; those that nobody waits for any more are forgotten."""
        jobs = list(jobs)
        calls = ((_answer, _pickled(job), *self.shared) for job in jobs)
        if self.executor is None:
            from joblib import Parallel, delayed

            futures: list[Future[bytes]] = [Future() for _ in jobs]
            answers = Parallel(self.width)(delayed(call[0])(*call[1:]) for call in calls)
            for future, answer in zip(futures, answers, strict=True):
                future.set_result(answer)
        else:
            futures = [self.executor.submit(*call) for call in calls]
        try:
            yield dict(zip(futures, enumerate(jobs), strict=True))
        finally:
            for future in futures:
                future.cancel()


@contextmanager
def process_pool(
    jobs: int | None = None,
    cluster: Cluster | None = None,
    *,
    shared: tuple[Any, ...] = (),
    isolated: bool = False,
) -> Iterator[Pool]:
    """Give who does whole jobs (a language, a mapper) for a `with` block; at its end they end.

    Parameters
    ----------
    jobs
        How many at the same time; -1 is one for each core. None is what `joblib.parallel_config`
        says, else 1: in this process.
    cluster
        The address of a Dask scheduler, "tcp://host:8786", or a Dask Client; it says how many.
    shared
        Large values, handed to each function before its own arguments. Processes map their arrays
        into memory from a file; a cluster is sent them once.
    isolated
        Whether one job at a time, too, is done in a process of its own. A job that ends its process
        has failed then; other ones, which may be victims, are begun again.
    """
    _check_one_of(jobs, cluster)
    backend, given = _active_backend()
    if cluster is None:
        cluster = getattr(backend, "client", None)
    count = job_count(given if jobs is None else jobs)
    if cluster is not None:
        with _on_cluster(cluster) as pool:
            yield replace(pool, shared=_sent(pool.client, shared))
    elif backend is not None:
        yield Pool((given or 1) if jobs is None else count, True, shared=shared)
    elif count == 1 and not isolated:
        yield Pool(shared=shared)
    else:
        attempts = 1 if isolated else 3
        with _stored(shared) as stored, _Processes(count, attempts) as processes:
            yield Pool(count, True, processes, stored)


_compute_pool: ContextVar[Pool | None] = ContextVar("compute_pool", default=None)


@contextmanager
def compute_pool(jobs: int | None = None, cluster: Cluster | None = None) -> Iterator[None]:
    """Split large matrix products inside a `with` block among threads, or a cluster's workers.

    What computes asks `each_part`, and knows nothing of who does it. Each thread has one BLAS
    thread: together they divide all of the work, where BLAS divides the products alone. A thread of
    the pool has no pool of its own, so that nothing multiplies. Results are the same to the bit.

    Parameters
    ----------
    jobs
        How many threads; -1 is one for each core. None is the pool that there is; else as many
        threads as BLAS has.
    """
    _check_one_of(jobs, cluster)
    if jobs is None and cluster is None and _compute_pool.get() is not None:
        yield
        return
    with ExitStack() as stack:
        pool = None
        if cluster is not None:
            pool = stack.enter_context(_on_cluster(cluster))
        elif (count := thread_count() if jobs is None else job_count(jobs)) > 1:
            pool = Pool(count, executor=stack.enter_context(ThreadPoolExecutor(count)))
        token = _compute_pool.set(pool)
        try:
            yield
        finally:
            _compute_pool.reset(token)


def pool_size(in_memory: bool = False) -> int:
    """Return among how many the work is divided; `in_memory`: how many share our memory."""
    pool = _compute_pool.get()
    return 1 if pool is None or (in_memory and pool.elsewhere) else pool.width


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
    pool = _compute_pool.get()
    if pool is None or (in_memory and pool.elsewhere):
        yield from (function(*arrays, part) for part in parts)
    elif pool.elsewhere:
        workers = replace(pool, shared=_sent(pool.client, arrays))
        yield from workers.in_order(Job(what, function, (part,)) for part in parts)
    else:
        with few_threads():
            yield from pool.executor.map(partial(function, *arrays), parts)


def job_count(jobs: int | None) -> int:
    """Return how many jobs a number means: -1 is one for each core, None is one."""
    if jobs is None:
        return 1
    if jobs == 0 or isinstance(jobs, bool) or not isinstance(jobs, int):
        raise ParameterError(f"jobs is a number of processes, or -1 for all cores; it is {jobs!r}.")
    return jobs if jobs > 0 else max(1, core_count() + 1 + jobs)


def threads_each(processes: int) -> int:
    """Return how many BLAS threads each of several processes gets: its share of the cores.

    What the user set (OMP_NUM_THREADS, ...) goes first.
    """
    for library in ("OPENBLAS", "MKL", "OMP"):
        given = os.environ.get(f"{library}_NUM_THREADS", "")
        if given.isdecimal() and int(given):
            return int(given)
    return max(1, core_count() // max(1, processes))


def core_count() -> int:
    """Return how many cores this process may use."""
    from joblib import cpu_count

    return int(cpu_count())


def _active_backend() -> tuple[Any, int | None]:
    """Return the backend of `joblib.parallel_config`, if it is not the default, and its jobs."""
    if "joblib" not in sys.modules:  # so nobody configured it, and it need not be imported
        return None, None
    from joblib.parallel import BACKENDS, get_active_backend

    backend, count = get_active_backend()
    return (None if isinstance(backend, BACKENDS["loky"]) else backend), count


# Processes of this machine


class _Processes(ThreadPoolExecutor):
    """Threads, each with a process of its own that does its jobs: one that ends costs one job.

    Parameters
    ----------
    attempts
        How often a job is begun whose process ends.
    """

    def __init__(self, count: int, attempts: int):
        super().__init__(count, initializer=_leave_ctrl_c)
        limits = {f"{library}_NUM_THREADS": str(threads_each(count)) for library in _THREAD_LIMITS}
        self._environment = {**_KEEP_MEMORY, **os.environ, **limits}
        self._attempts = attempts
        self._own: dict[int, Any] = {}  # the process of each thread
        self._giving = threading.Lock()
        self._ended = False

    def submit(self, *call: Any) -> Future[Any]:  # type: ignore[override]
        """Have a call done by a process."""
        return super().submit(self._do, *call)

    def _do(self, *call: Any) -> Any:
        for _ in range(self._attempts):
            try:
                return self._given(call).result()
            except BrokenProcessPool as error:
                ended = error
                del self._own[threading.get_ident()]
        how = str(ended).partition("{")[2].partition("}")[0] or type(ended).__name__
        raise WorkError(f"its process ended ({how}); it may have run out of memory.") from ended

    def _given(self, call: tuple[Any, ...]) -> Future[Any]:
        """Give a job to this thread's process; loky cannot end one that has yet to take its job."""
        from joblib.externals.loky.process_executor import ProcessPoolExecutor

        settings = {"env": self._environment, "initializer": _start, "initargs": (os.getpid(),)}
        with self._giving:
            if self._ended:
                raise WorkError("it was to begin when the others were ended.")
            if (me := threading.get_ident()) not in self._own:
                self._own[me] = ProcessPoolExecutor(1, **settings)
            given: Future[Any] = self._own[me].submit(*call)
            while not (given.running() or given.done()):
                time.sleep(0.001)
        return given

    def __exit__(self, kind: Any, *error: Any) -> None:
        """End the processes, in the midst of a job if there was an error."""
        with self._giving:
            self._ended = True
        for process in list(self._own.values()):
            process.shutdown(kill_workers=kind is not None)
        self.shutdown()


def _leave_ctrl_c() -> None:
    """Block Ctrl-C in a thread, and so in the processes that it starts: this process ends them."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])


def _start(parent: int) -> None:
    """Be a new worker: leave Ctrl-C to the parent, and end with it, however that may be."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()


# Jobs as bytes, and their results


def _pickled(job: Job[Any]) -> bytes:
    """Return a call as bytes: the job's, or where it cannot be sent, one that says so."""
    from joblib.externals.loky.cloudpickle_wrapper import dumps

    try:
        call: bytes = dumps((job.function, job.arguments))
    except Exception as error:
        problem = f"it cannot be sent to another process ({error}). {_ADVICE}"
        call = dumps((_refuse, (problem,)))
    return call


def _answer(call: bytes, *shared: Any) -> bytes:
    """Do a pickled call in a worker; return its result or its error as (kind, value), pickled."""
    from joblib.externals.loky.cloudpickle_wrapper import dumps, loads

    try:
        function, arguments = loads(call)  # from the process that started this one
    except Exception as error:
        function = _refuse
        arguments = (f"it cannot be loaded in another process ({error}). {_ADVICE}",)
    try:
        given = _loaded(shared[0].path) if shared and isinstance(shared[0], _Stored) else shared
        answer: bytes = dumps((True, function(*given, *arguments)))
    except BaseException as error:  # whatever it is, the other side has to know
        known = type(error).__module__ in ("builtins", "geomm_plugin.errors")
        if not (known and isinstance(error, Exception | KeyboardInterrupt)):
            error = WorkError(f"{type(error).__name__}: {error}")
        answer = dumps((False, error))
    return answer


def _refuse(*arguments: Any) -> None:
    raise WorkError(arguments[-1])


def _result(job: Job[T], future: Future[bytes]) -> T:
    """Return what a job returned elsewhere, or raise what it raised."""
    from joblib.externals.loky.cloudpickle_wrapper import loads

    try:
        is_result, value = loads(future.result())  # from our own worker
        if is_result:
            result: T = value
            return result
        raise value
    except WorkError as error:
        raise WorkError(f"{job.what}: {error}") from error
    except (GeommError, OSError, MemoryError):
        raise
    except Exception as error:
        raise WorkError(f"{job.what} failed: {type(error).__name__}: {error}.") from error


class _Stored(NamedTuple):
    """Values in a file, whose arrays workers map into memory."""

    path: str


@contextmanager
def _stored(values: tuple[Any, ...]) -> Iterator[tuple[_Stored, ...]]:
    """Put values into a file for a `with` block; it goes, too, where this process is killed."""
    if not values:
        yield ()
        return
    import joblib
    from joblib.externals.loky.backend import resource_tracker
    from joblib.externals.loky.cloudpickle_wrapper import dumps

    buffers: list[Any] = []
    pickled = dumps(values, protocol=5, buffer_callback=buffers.append)
    with tempfile.TemporaryDirectory(prefix="geomm-", ignore_cleanup_errors=True) as folder:
        resource_tracker.register(folder, "folder")
        try:
            path = f"{folder}/shared"
            joblib.dump((pickled, [np.asarray(buffer.raw()) for buffer in buffers]), path)
            yield (_Stored(path),)
        finally:
            resource_tracker.unregister(folder, "folder")


@cache
def _loaded(path: str) -> tuple[Any, ...]:
    import joblib
    from joblib.externals.loky.cloudpickle_wrapper import loads

    pickled, buffers = joblib.load(path, mmap_mode="r")  # written by `_stored`
    values: tuple[Any, ...] = loads(pickled, buffers=buffers)
    return values


# A cluster: reached, of our version, and seeing our files, or a sentence


def _check_one_of(jobs: int | None, cluster: Cluster | None) -> None:
    if cluster is not None and job_count(jobs) > 1:
        raise ParameterError(
            f"The cluster says how many jobs are worked on at once; jobs={jobs} does not go with "
            "it. Leave one of the two out."
        )


@contextmanager
def _on_cluster(cluster: Cluster) -> Iterator[Pool]:
    try:
        from distributed import Client
    except ImportError as error:
        raise missing_extra("A cluster", "cluster") from error
    client: Any = cluster
    if isinstance(cluster, str):
        open_client: Any = Client
        try:
            client = open_client(cluster, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:  # TimeoutError is an OSError
            raise WorkError(
                f"No Dask scheduler answers at {cluster} ({_first_line(error)}). Check the address "
                "that `dask scheduler` printed, and that this machine can reach it."
            ) from error
    elif not isinstance(cluster, Client):
        raise ParameterError(
            "A cluster is the address of a Dask scheduler, or a Dask Client; this is a "
            f"{type(cluster).__name__}. Other workers are chosen by joblib.parallel_config()."
        )
    try:
        yield _checked_workers(client)
    finally:
        if client is not cluster:
            client.close()


def _checked_workers(client: Any) -> Pool:
    """Return the workers of a cluster, provided that they are there and have our versions."""
    address = client.scheduler.address
    try:
        client.wait_for_workers(1, timeout=WORKERS_SECONDS)
    except TimeoutError as error:
        raise WorkError(
            f"The cluster {address} has no workers. Start some with: dask worker {address}"
        ) from error
    for worker, name, there, here in _differences(client, versions):
        raise WorkError(
            f"The worker {worker} has {name} {there}, this process has {here}. Install the same "
            "versions everywhere, so that results are the same."
        )
    width = max(1, int(sum(client.nthreads().values())))
    return Pool(width, True, client.get_executor(pure=False), client=client)


def _sent(client: Any, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Send values to every worker of a cluster; return what stands for them in its calls."""
    return tuple(client.scatter(value, broadcast=True, hash=False) for value in values)


def versions() -> dict[str, str]:
    """Return the versions that decide what a job computes, of the process that asks."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {name: version(name) for name in ("geomm-plugin", "numpy")} | {"python": python}


def sizes(paths: list[str]) -> dict[str, int | None]:
    """Return the sizes of files as the process that asks sees them; None where it sees none."""
    return {path: Path(path).stat().st_size if Path(path).exists() else None for path in paths}


def _differences(
    client: Any, look: Callable[..., dict[str, Any]], *arguments: Any
) -> Iterator[tuple[str, str, Any, Any]]:
    """Yield (worker, name, what is there, what is here) where a worker sees what we do not."""
    here = look(*arguments)
    for worker, there in client.run(look, *arguments, on_error="return").items():
        if isinstance(there, BaseException):
            raise WorkError(
                f"The worker {worker} cannot run this package ({type(there).__name__}: "
                f"{_first_line(there)}). Install geomm-plugin there, in the same version."
            )
        for name in here:
            if there[name] != here[name]:
                yield worker, name, there[name], here[name]


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
