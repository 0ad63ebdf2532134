"""A Dask cluster as workers: reached, of our version, and seeing our files, or a sentence."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from geomm_plugin.errors import ParameterError, WorkError, missing_extra

CONNECT_SECONDS = 5.0
WORKERS_SECONDS = 30.0  # batch systems start workers one after the other


@contextmanager
def connected(cluster: Any) -> Iterator[tuple[Any, int]]:
    """Give a Dask client, and how many tasks its workers do at the same time."""
    try:
        from distributed import Client
    except ImportError as error:
        raise missing_extra("A cluster", "cluster") from error
    if isinstance(cluster, Client):
        yield cluster, _checked_width(cluster)
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
        yield client, _checked_width(client)


def versions() -> dict[str, str]:
    """Return the versions that decide what a task computes, of the process that asks."""
    from importlib.metadata import version

    return {
        "geomm-plugin": version("geomm-plugin"),
        "numpy": version("numpy"),
        "python": ".".join(platform.python_version_tuple()[:2]),
    }


def sizes(paths: list[str]) -> dict[str, int | None]:
    """Return the sizes of files as the process that asks sees them; None where it sees none."""
    return {path: Path(path).stat().st_size if Path(path).exists() else None for path in paths}


def scatter(client: Any, value: object) -> Any:
    """Send a value to every worker, and return what stands for it in the arguments of tasks."""
    return client.scatter(value, broadcast=True, hash=False)


def check_files(client: Any, paths: Iterable[os.PathLike[str]]) -> None:
    """Refuse files that some worker does not see as we do."""
    here = sizes([os.fspath(Path(path).absolute()) for path in paths])
    for worker, there in _run_on_each(client, sizes, list(here)).items():
        for path, size in here.items():
            if there[path] != size:
                seen = "no such file" if there[path] is None else f"{there[path]} bytes"
                raise WorkError(
                    f"The worker {worker} cannot see {path}: it sees {seen}. Put inputs and "
                    "outputs on storage that all workers see under the same path."
                )


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
