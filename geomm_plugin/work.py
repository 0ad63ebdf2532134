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

import mmap
import os
import platform
import re
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from geomm_plugin.errors import GeommError, ParameterError, WorkError, missing_extra
from geomm_plugin.factorization import few_threads, thread_count

T = TypeVar("T")
Cluster: TypeAlias = "str | Executor | Any"  # a scheduler's address, an Executor, a Dask Client

CONNECT_SECONDS = 5.0
WORKERS_SECONDS = 30.0  # batch systems start workers one after the other
_AHEAD = 4  # jobs handed out for each worker before the first result is waited for
_UNKNOWN_WIDTH = 8  # jobs that an executor of the user's is taken to do at a time
_THREAD_LIMITS = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR")
# A worker makes arrays of the same size again and again: what it frees it keeps (in glibc), since
# memory that is given back to the system and asked for again costs up to a fifth of its time.
_KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(2**29), "MALLOC_MMAP_THRESHOLD_": str(2**28)}
_ADVICE = "Define its mapper in a module that can be imported, or use one job."


@dataclass(frozen=True)
class Job(Generic[T]):
    """A call, and in a few words what it does: "Reading en.vec"."""

    what: str
    function: Callable[..., T]
    arguments: tuple[Any, ...] = ()


@dataclass
class Pool:
    """Who does the jobs, and how many at a time."""

    executor: Any = None  # of concurrent.futures; None: this process, or joblib's active backend
    width: int = 1
    elsewhere: bool = False  # in other processes: arguments are copied, memory is not shared
    client: Any = None  # Dask's, where the workers are a cluster's
    restart: Callable[[int], Any] | None = None  # opens processes in place of broken ones
    attempts: int = 0  # how often a job is begun again, alone, whose process ended
    shared: tuple[Any, ...] = ()  # what every worker has: arguments in front of each job's own

    def in_order(self, jobs: Iterable[Job[T]]) -> Iterator[T]:
        """Yield the results in the order of the jobs."""
        done: dict[int, tuple[Job[T], Callable[[], Any]]] = {}
        following = 0
        for number, job, answer in self._answers(jobs):
            done[number] = job, answer
            while following in done:
                yield self._result(*done.pop(following))
                following += 1

    def as_completed(self, jobs: Iterable[Job[T]]) -> Iterator[tuple[int, T | WorkError]]:
        """Yield (number of the job, result) as each is there; an error instead of a result."""
        for number, job, answer in self._answers(jobs):
            try:
                yield number, self._result(job, answer)
            except WorkError as error:
                yield number, error

    def check_files(self, paths: Iterable[os.PathLike[str]]) -> None:
        """Refuse files that some worker of a cluster does not see as we see them."""
        if self.client is None:
            return
        here = sizes([os.fspath(Path(path).absolute()) for path in paths])
        for worker, there in _run_on_each(self.client, sizes, list(here)).items():
            for path, size in here.items():
                if there[path] != size:
                    seen = "no such file" if there[path] is None else f"{there[path]} bytes"
                    raise WorkError(
                        f"The worker {worker} cannot see {path}: it sees {seen}. Put inputs and "
                        "outputs on storage that all workers see under the same path."
                    )

    def _answers(self, jobs: Iterable[Job[T]]) -> Iterator[tuple[int, Job[T], Callable[[], Any]]]:
        """Yield (number, job, what returns its answer or raises) as each is done."""
        numbered = enumerate(jobs)
        if self.executor is None and not self.elsewhere:
            for number, job in numbered:
                yield number, job, partial(job.function, *self.shared, *job.arguments)
        elif self.executor is None:
            import joblib

            every = list(numbered)
            calls = (joblib.delayed(_answer)(_pickled(job), *self.shared) for _, job in every)
            answers = joblib.Parallel(n_jobs=self.width)(calls)
            for (number, job), answer in zip(every, answers, strict=True):
                yield number, job, partial(_unpacked, answer)
        else:
            ahead = self.width if self.restart else _AHEAD * self.width
            running: dict[Future[Any], tuple[int, Job[T]]] = {}
            try:
                while True:
                    for number, job in islice(numbered, ahead - len(running)):
                        running[self._submit(job)] = number, job
                    if not running:
                        return
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        yield *running.pop(future), partial(self._received, future)
            finally:
                for future in running:
                    future.cancel()

    def _received(self, future: Future[Any]) -> Any:
        return _unpacked(future.result()) if self.elsewhere else future.result()

    def _submit(self, job: Job[T]) -> Future[Any]:
        if not self.elsewhere:
            future: Future[Any] = self.executor.submit(job.function, *self.shared, *job.arguments)
            return future
        try:
            call = _pickled(job)
            try:
                return _submit_quietly(self.executor, call, self.shared)
            except BrokenProcessPool:
                if self.restart is None:
                    raise
                self.executor.shutdown()
                self.executor = self.restart(self.width)
                return _submit_quietly(self.executor, call, self.shared)
        except (WorkError, BrokenProcessPool) as error:
            failed: Future[Any] = Future()
            failed.set_exception(error)
            return failed

    def _result(self, job: Job[T], answer: Callable[[], Any]) -> T:
        try:
            try:
                result: T = answer()
            except BrokenProcessPool as error:
                result = self._once_more(job, error)
            return result
        except WorkError as error:
            raise WorkError(f"{job.what}: {error}") from error
        except (GeommError, OSError, MemoryError):
            raise
        except Exception as error:
            if self.executor is None and not self.elsewhere:
                raise
            raise WorkError(f"{job.what} failed: {type(error).__name__}: {error}.") from error

    def _once_more(self, job: Job[T], error: BrokenProcessPool) -> Any:
        """Do a job of a broken pool again, alone, to see whether this one ended its process."""
        if self.restart is None:
            raise error
        for _ in range(self.attempts):
            alone = self.restart(1)
            try:
                return _unpacked(_submit_quietly(alone, _pickled(job), self.shared).result())
            except BrokenProcessPool as again:
                error = again
            finally:
                _end(alone)
        codes = re.search(r"{(.*)}", str(error))
        how = codes[1] if codes else type(error).__name__
        raise WorkError(f"its process ended ({how}); it may have run out of memory.") from error


@contextmanager
def process_pool(
    jobs: int | None = None,
    cluster: Cluster | None = None,
    *,
    shared: tuple[Any, ...] = (),
    blas_threads: int = 1,
    isolated: bool = False,
) -> Iterator[Pool]:
    """Give who does whole jobs (a language, a mapper) for a `with` block; at its end they end.

    Parameters
    ----------
    jobs
        How many at the same time; -1 is one for each core. None is what `joblib.parallel_config`
        says, else 1: in this process.
    cluster
        The address of a Dask scheduler ("tcp://host:8786"), a Dask Client, or any Executor of
        `concurrent.futures`; then it says how many.
    shared
        Large values, handed to each function before its own arguments. Processes map their arrays
        into memory from a file; a cluster is sent them once.
    isolated
        Whether one job at a time, too, is done in a process of its own, which may crash.
    """
    backend, given = _active_backend()
    _check_one_of(jobs, cluster)
    if cluster is None:
        cluster = getattr(backend, "client", None)
    count = job_count(given if jobs is None else jobs)
    if cluster is not None:
        with _on_cluster(cluster, shared) as pool:
            yield pool
    elif backend is not None:
        yield Pool(None, (given or 1) if jobs is None else count, elsewhere=True, shared=shared)
    elif count == 1 and not isolated:
        yield Pool(shared=shared)
    else:
        with _stored(shared) as stored:
            restart = partial(_open_processes, blas_threads=blas_threads)
            attempts = min(count, 2) - 1 if isolated else 2
            pool = Pool(restart(count), count, True, None, restart, attempts, stored)
            try:
                yield pool
            finally:
                _end(pool.executor)


_pool: ContextVar[Pool | None] = ContextVar("compute_pool", default=None)


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
    if jobs is None and cluster is None and _pool.get() is not None:
        yield
        return
    with ExitStack() as stack:
        pool = None
        if cluster is not None:
            pool = stack.enter_context(_on_cluster(cluster))
        elif (count := thread_count() if jobs is None else job_count(jobs)) > 1:
            pool = Pool(stack.enter_context(ThreadPoolExecutor(count)), count)
        token = _pool.set(pool)
        try:
            yield
        finally:
            _pool.reset(token)


def pool_size(in_memory: bool = False) -> int:
    """Return among how many the work is divided; `in_memory`: how many share our memory."""
    pool = _pool.get()
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
    pool = _pool.get()
    if pool is None or (in_memory and pool.elsewhere):
        yield from (function(*arrays, part) for part in parts)
        return
    pool = replace(pool, shared=_scattered(pool.client, arrays))
    with nullcontext() if pool.elsewhere else few_threads():
        yield from pool.in_order(Job(what, function, (part,)) for part in parts)


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
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _active_backend() -> tuple[Any, int | None]:
    """Return the backend of `joblib.parallel_config`, if it is not the default, and its jobs."""
    if "joblib" not in sys.modules:  # so nobody configured it, and it need not be imported
        return None, None
    from joblib.parallel import BACKENDS, get_active_backend

    backend, count = get_active_backend()
    return (None if isinstance(backend, BACKENDS["loky"]) else backend), count


# Processes of this machine


def _open_processes(count: int, blas_threads: int = 1) -> Executor:
    from joblib.externals.loky.process_executor import ProcessPoolExecutor

    limits = {f"{library}_NUM_THREADS": str(blas_threads) for library in _THREAD_LIMITS}
    processes: Executor = ProcessPoolExecutor(
        count,
        env={**_KEEP_MEMORY, **os.environ, **limits},
        initializer=_start,
        initargs=(os.getpid(),),
    )
    return processes


def _end(executor: Any) -> None:
    """End processes, in the midst of a job if there was an error."""
    executor.shutdown(kill_workers=sys.exc_info()[0] is not None)


def _start(parent: int) -> None:
    """Be a new worker: leave Ctrl-C to the parent, and end with it, however that may be."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])

        def end_with_parent() -> None:
            while os.getppid() == parent:
                time.sleep(0.5)
            os._exit(1)

        threading.Thread(target=end_with_parent, daemon=True).start()


def _submit_quietly(executor: Executor, call: bytes, shared: tuple[Any, ...]) -> Future[Any]:
    """Submit a call; processes that are started for it do not hear of Ctrl-C before `_start`."""
    if not hasattr(signal, "pthread_sigmask"):
        return executor.submit(_answer, call, *shared)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        return executor.submit(_answer, call, *shared)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _pickled(job: Job[Any]) -> bytes:
    from joblib.externals.loky.cloudpickle_wrapper import dumps

    try:
        call: bytes = dumps((job.function, job.arguments))
    except Exception as error:
        raise WorkError(f"it cannot be sent to another process ({error}). {_ADVICE}") from error
    return call


def _answer(call: bytes, *shared: Any) -> Any:
    """Do a pickled call in a worker; return its result or its error as (kind, value), pickled."""
    from joblib.externals.loky.cloudpickle_wrapper import dumps, loads

    try:
        function, arguments = loads(call)  # from the process that started this one
    except Exception as error:
        problem = f"it cannot be loaded in another process ({error}). {_ADVICE}"
        return dumps(("failure", problem))
    try:
        given = [_loaded(each) if isinstance(each, _Stored) else each for each in shared]
        return dumps(("result", function(*given, *arguments)))
    except BaseException as error:  # whatever it is, the other side has to know
        known = type(error).__module__ in ("builtins", "geomm_plugin.errors")
        if known and isinstance(error, Exception | KeyboardInterrupt):
            return dumps(("error", error))
        return dumps(("failure", f"{type(error).__name__}: {error}"))


def _unpacked(answer: bytes) -> Any:
    from joblib.externals.loky.cloudpickle_wrapper import loads

    kind, value = loads(answer)  # from our own worker
    if kind == "result":
        return value
    raise value if kind == "error" else WorkError(value)


@dataclass(frozen=True)
class _Stored:
    """A value in a file: pickled, but for its arrays, which workers map into memory."""

    path: str
    pickled: bytes
    ends: tuple[int, ...]  # of the arrays; each begins at the next multiple of 64

    @classmethod
    def store(cls, value: object, path: Path) -> _Stored:
        from joblib.externals.loky.cloudpickle_wrapper import dumps

        buffers: list[Any] = []
        pickled = dumps(value, protocol=5, buffer_callback=buffers.append)
        ends = []
        with path.open("wb") as stream:
            for buffer in buffers:
                stream.write(bytes(-stream.tell() % 64))
                stream.write(buffer.raw())
                ends.append(stream.tell())
        return cls(str(path), pickled, tuple(ends))


@cache
def _loaded(stored: _Stored) -> Any:
    from joblib.externals.loky.cloudpickle_wrapper import loads

    starts = (-(-end // 64) * 64 for end in (0, *stored.ends))
    with Path(stored.path).open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size  # an empty file cannot be mapped
        memory = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
    buffers = [memoryview(memory)[part] for part in map(slice, starts, stored.ends)]
    return loads(stored.pickled, buffers=buffers)


@contextmanager
def _stored(values: tuple[Any, ...]) -> Iterator[tuple[_Stored, ...]]:
    """Put values into files for a `with` block; they go, too, where this process is killed."""
    if not values:
        yield ()
        return
    from joblib.externals.loky.backend import resource_tracker

    with tempfile.TemporaryDirectory(prefix="geomm-", ignore_cleanup_errors=True) as folder:
        resource_tracker.register(folder, "folder")
        try:
            paths = (Path(folder, str(number)) for number in range(len(values)))
            yield tuple(map(_Stored.store, values, paths))
        finally:
            resource_tracker.unregister(folder, "folder")


# A cluster: reached, of our version, and seeing our files, or a sentence


def _check_one_of(jobs: int | None, cluster: Cluster | None) -> None:
    if cluster is not None and job_count(jobs) > 1:
        raise ParameterError(
            f"The cluster says how many jobs are worked on at once; jobs={jobs} does not go with "
            "it. Leave one of the two out."
        )


@contextmanager
def _on_cluster(cluster: Cluster, shared: tuple[Any, ...] = ()) -> Iterator[Pool]:
    if isinstance(cluster, Executor):
        width = getattr(cluster, "_max_workers", _UNKNOWN_WIDTH)
        yield Pool(cluster, width, not isinstance(cluster, ThreadPoolExecutor), shared=shared)
        return
    with _client_of(cluster) as client:
        width = _checked_width(client)
        executor = client.get_executor(pure=False)
        yield Pool(executor, width, True, client, shared=_scattered(client, shared))


def _scattered(client: Any, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Send values to every worker of a cluster; return what stands for them in its calls."""
    if client is None:
        return values
    return tuple(client.scatter(value, broadcast=True, hash=False) for value in values)


@contextmanager
def _client_of(cluster: Any) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError as error:
        raise missing_extra("A cluster", "cluster") from error
    if isinstance(cluster, Client):
        yield cluster
        return
    if not isinstance(cluster, str):
        raise ParameterError(
            "A cluster is the address of a Dask scheduler, a Dask Client or an Executor; this is a "
            f"{type(cluster).__name__}."
        )
    try:
        open_client: Any = Client
        client = open_client(cluster, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:  # TimeoutError is an OSError
        raise WorkError(
            f"No Dask scheduler answers at {cluster} ({_first_line(error)}). Check the address "
            "that `dask scheduler` printed, and that this machine can reach it."
        ) from error
    with client:
        yield client


def versions() -> dict[str, str]:
    """Return the versions that decide what a job computes, of the process that asks."""
    from importlib.metadata import version

    return {
        "geomm-plugin": version("geomm-plugin"),
        "numpy": version("numpy"),
        "python": ".".join(platform.python_version_tuple()[:2]),
    }


def sizes(paths: list[str]) -> dict[str, int | None]:
    """Return the sizes of files as the process that asks sees them; None where it sees none."""
    return {path: Path(path).stat().st_size if Path(path).exists() else None for path in paths}


def _checked_width(client: Any) -> int:
    address = client.scheduler.address
    try:
        client.wait_for_workers(1, timeout=WORKERS_SECONDS)
    except TimeoutError as error:
        raise WorkError(
            f"The cluster {address} has no workers. Start some with: dask worker {address}"
        ) from error
    here = versions()
    for worker, there in _run_on_each(client, versions).items():
        for name, version in here.items():
            if there[name] != version:
                raise WorkError(
                    f"The worker {worker} has {name} {there[name]}, this process has {version}. "
                    "Install the same versions everywhere, so that results are the same."
                )
    return max(1, int(sum(client.nthreads().values())))


def _run_on_each(client: Any, function: Any, *arguments: Any) -> dict[str, Any]:
    answers: dict[str, Any] = client.run(function, *arguments, on_error="return")
    for worker, answer in answers.items():
        if isinstance(answer, BaseException):
            raise WorkError(
                f"The worker {worker} cannot run this package ({type(answer).__name__}: "
                f"{_first_line(answer)}). Install geomm-plugin there, in the same version."
            )
    return answers


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
