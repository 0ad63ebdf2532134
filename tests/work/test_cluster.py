"""A Dask cluster of two worker processes: the same results; what is wrong with it is a sentence."""

import os
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from geomm_plugin import work
from geomm_plugin.errors import ParameterError, WorkError
from geomm_plugin.work import Job, process_pool

pytest.importorskip("distributed")


def square(value):
    return value * value


def process_of(_):
    return os.getpid()


def end_once(path):
    """End this process the first time."""
    if not Path(path).exists():
        Path(path).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def refuse(value):
    raise ValueError(f"no {value}")


def jobs(function, *values):
    return [Job(f"Job {value}", function, (value,)) for value in values]


def test_tasks_are_done_elsewhere_and_in_order(dask_cluster):
    from distributed import Client

    with Client(dask_cluster, set_as_default=False) as client:
        client.wait_for_workers(2)  # another test kills one, which is started again
    with process_pool(cluster=dask_cluster) as pool:
        assert pool.width == 2 and pool.elsewhere
        assert list(pool.in_order(jobs(square, *range(20)))) == [n * n for n in range(20)]
        assert os.getpid() not in pool.in_order(jobs(process_of, *range(4)))
        with pytest.raises(WorkError, match="Job 3 failed: ValueError: no 3"):
            list(pool.in_order(jobs(refuse, 3)))
    with process_pool(cluster=dask_cluster, shared=([1, 2, 3],)) as pool:
        assert list(pool.in_order([Job("Sum", sum)])) == [6]


def test_a_client_of_ones_own_is_used_and_left_open(dask_cluster):
    from distributed import Client

    with Client(dask_cluster, set_as_default=False) as client:
        with process_pool(cluster=client) as pool:
            assert list(pool.in_order(jobs(square, 3))) == [9]
        assert client.submit(square, 4).result() == 16


def test_a_backend_of_joblib_is_the_cluster(dask_cluster):
    import joblib
    from distributed import Client

    with Client(dask_cluster), joblib.parallel_config("dask"), process_pool() as pool:
        assert pool.client is not None
        assert list(pool.in_order(jobs(square, 3))) == [9]


def test_a_killed_worker_is_replaced_and_its_task_begun_again(dask_cluster, tmp_path):
    with process_pool(cluster=dask_cluster) as pool:
        # One of the two: where all workers end at once, Dask itself may lose a task.
        results = pool.in_order([*jobs(end_once, str(tmp_path / "ended")), *jobs(square, 3, 4)])
        assert list(results) == ["done", 9, 16]


def seen_otherwise(look, odd):
    """Return what looks as `look` does, but for this process, which finds something odd."""
    this = os.getpid()
    return lambda *given: look(*given) | (odd if os.getpid() == this else {})


def test_files_must_be_seen_by_every_worker(dask_cluster, tmp_path, monkeypatch):
    path = tmp_path / "x.vec"
    with process_pool(cluster=dask_cluster) as pool:
        pool.check_files([path])
        monkeypatch.setattr(work, "sizes", seen_otherwise(work.sizes, {str(path): 8}))
        with pytest.raises(WorkError, match=r"cannot see .*x\.vec: it sees no such file"):
            pool.check_files([path])


def test_versions_must_be_equal(dask_cluster, monkeypatch):
    monkeypatch.setattr(work, "versions", seen_otherwise(work.versions, {"numpy": "1.0"}))
    with (
        pytest.raises(WorkError, match=r"has numpy .*, this process has 1\.0"),
        process_pool(cluster=dask_cluster),
    ):
        pass


def test_an_address_that_nobody_answers_at_is_a_sentence(monkeypatch):
    monkeypatch.setattr(work, "CONNECT_SECONDS", 0.5)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    with (
        pytest.raises(WorkError, match=f"No Dask scheduler answers at {address}"),
        process_pool(cluster=address),
    ):
        pass
    with pytest.raises(WorkError, match="No Dask scheduler answers"), process_pool(cluster="x://y"):
        pass


def test_what_is_no_cluster_is_refused():
    for odd in (3, ThreadPoolExecutor(1)):
        with pytest.raises(ParameterError, match="this is a"), process_pool(cluster=odd):
            pass
