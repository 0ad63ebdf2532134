"""A Dask cluster of two worker processes: the same results; what is wrong with it is a sentence."""

import os
import signal
import socket
from pathlib import Path

import pytest

from geomm_plugin.errors import ParameterError, WorkError
from geomm_plugin.work import Task, cluster, open_workers

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


def tasks(function, *values):
    return [Task(f"Task {value}", function, (value,)) for value in values]


def test_tasks_are_done_elsewhere_and_in_order(dask_cluster):
    with open_workers(cluster=dask_cluster) as workers:
        assert workers.width == 2 and workers.elsewhere
        assert list(workers.in_order(tasks(square, *range(20)))) == [n * n for n in range(20)]
        assert os.getpid() not in workers.in_order(tasks(process_of, *range(4)))
        with pytest.raises(WorkError, match="Task 3 failed: ValueError: no 3"):
            list(workers.in_order(tasks(refuse, 3)))
        shared = workers.share([1, 2, 3])
        assert list(workers.in_order([Task("Sum", sum, (shared,))])) == [6]


def test_a_client_of_ones_own_is_used_and_left_open(dask_cluster):
    from distributed import Client

    with Client(dask_cluster, set_as_default=False) as client:
        with open_workers(cluster=client) as workers:
            assert list(workers.in_order(tasks(square, 3))) == [9]
        assert client.submit(square, 4).result() == 16


def test_a_killed_worker_is_replaced_and_its_task_begun_again(dask_cluster, tmp_path):
    with open_workers(cluster=dask_cluster) as workers:
        results = workers.in_order(tasks(end_once, *(str(tmp_path / f"{n}") for n in range(2))))
        assert list(results) == ["done"] * 2


def test_files_must_be_seen_by_every_worker(dask_cluster, tmp_path, monkeypatch):
    path = tmp_path / "x.vec"
    path.write_text("1 1\na 1\n")
    with open_workers(cluster=dask_cluster) as workers:
        workers.check_files([path])
        monkeypatch.setattr(cluster, "sizes", cluster.sizes)
        real = cluster._run_on_each
        monkeypatch.setattr(
            cluster,
            "_run_on_each",
            lambda *call: {w: dict.fromkeys(seen, None) for w, seen in real(*call).items()},
        )
        with pytest.raises(WorkError, match=r"cannot see .*x\.vec: it sees no such file"):
            workers.check_files([path])


def test_versions_must_be_equal(dask_cluster, monkeypatch):
    here = cluster.versions() | {"numpy": "1.0"}
    real = cluster._run_on_each
    versions = cluster.versions
    monkeypatch.setattr(cluster, "_run_on_each", lambda client, _: real(client, versions))
    monkeypatch.setattr(cluster, "versions", lambda: here)
    with (
        pytest.raises(WorkError, match=r"has numpy .*, this process has 1\.0"),
        open_workers(cluster=dask_cluster),
    ):
        pass


def test_an_address_that_nobody_answers_at_is_a_sentence(monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    with (
        pytest.raises(WorkError, match=f"No Dask scheduler answers at {address}"),
        open_workers(cluster=address),
    ):
        pass
    with pytest.raises(WorkError, match="No Dask scheduler answers"), open_workers(cluster="x://y"):
        pass


def test_what_is_no_cluster_is_refused():
    with pytest.raises(ParameterError, match="this is a int"), open_workers(cluster=3):
        pass
