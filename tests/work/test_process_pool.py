"""Jobs give the same results in the same order, whoever does them; errors are sentences."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from geomm_plugin.errors import FormatError, ParameterError, WorkError
from geomm_plugin.work import Job, core_count, job_count, process_pool, threads_each

WAYS = {
    "here": {"jobs": 1},
    "processes": {"jobs": 2},
    "one process": {"jobs": 1, "isolated": True},
    "more processes than jobs": {"jobs": 9},
}


def jobs(function, *values):
    return [Job(f"Job {value}", function, (value,)) for value in values]


def square(value):
    time.sleep(0.02 if value == 0 else 0)  # the first is done last
    return value * value


def refuse(value):
    raise FormatError(f"{value} is odd.") if value % 2 else ValueError(f"no {value}")


def raise_signal(value):
    os.kill(os.getpid(), value)


def total(array, factor):
    assert not array.flags.writeable, "it is mapped into memory"
    return float(array.sum()) * factor


def end_once(path):
    """End this process the first time."""
    if not Path(path).exists():
        Path(path).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def stop(_):
    raise KeyboardInterrupt


def end_always(code):
    os._exit(code)


def blas_threads(_):
    from threadpoolctl import threadpool_info

    np.ones((2, 2)) @ np.ones((2, 2))
    return [pool["num_threads"] for pool in threadpool_info()]


def raise_odd_error(_):
    class Odd(Exception):
        def __init__(self, one, two):
            super().__init__(one + two)

    raise Odd("a", "b")


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_results_come_in_order(way):
    with process_pool(**way) as pool:
        assert list(pool.in_order(jobs(square, *range(20)))) == [n * n for n in range(20)]
        found = dict(pool.as_completed(jobs(square, *range(5))))
        assert found == {n: n * n for n in range(5)}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_our_errors_stay_what_they_are(way):
    with process_pool(**way) as pool, pytest.raises(FormatError, match="^3 is odd"):
        list(pool.in_order(jobs(refuse, 3)))


def test_other_errors_name_the_task_and_come_as_they_are_from_this_process():
    with process_pool(2) as pool:
        with pytest.raises(WorkError, match=r"^Job 4.* failed: ValueError: no 4"):
            list(pool.in_order(jobs(refuse, 4)))
        with pytest.raises(WorkError, match=r"^Job 4: Odd: ab"):
            list(pool.in_order(jobs(raise_odd_error, 4)))
    with process_pool() as pool, pytest.raises(ValueError, match="^no 4"):
        list(pool.in_order(jobs(refuse, 4)))


def test_a_killed_process_is_replaced_and_its_job_begun_again(tmp_path):
    with process_pool(2) as pool:
        results = pool.in_order(jobs(end_once, *(str(tmp_path / f"{n}") for n in range(5))))
        assert list(results) == ["done"] * 5


@pytest.mark.parametrize("count", [1, 2])
def test_a_job_that_ends_its_process_is_named_and_costs_no_other(count):
    leaving = [Job("The third", end_always, (3,)), Job("A fault", raise_signal, (signal.SIGKILL,))]
    with process_pool(count, isolated=True) as pool:
        found = dict(pool.as_completed([*jobs(square, 0, 1), *leaving, *jobs(square, 4, 5)]))
        assert [found[n] for n in (0, 1, 4, 5)] == [0, 1, 16, 25]
        assert str(found[2]).startswith("The third: its process ended (EXIT(3))")
        assert str(found[3]).startswith("A fault: its process ended (SIGKILL(-9))")
        with pytest.raises(WorkError, match=r"^Job 3: its process ended \(EXIT\(3\)\)"):
            list(pool.in_order(jobs(end_always, 3)))
        assert list(pool.in_order(jobs(square, 2))) == [4], "the others go on"


def test_what_cannot_be_sent_is_a_sentence():
    with process_pool(2) as pool:
        with pytest.raises(WorkError, match=r"^A lock: it cannot be sent to another process"):
            list(pool.in_order([Job("A lock", square, (threading.Lock(),))]))
        assert list(pool.in_order([Job("A lambda", lambda: 3)])) == [3]


@pytest.mark.parametrize("count", [1, 2])
def test_large_values_are_mapped_into_memory_and_nothing_of_them_is_left(
    count, tmp_path, monkeypatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    array = np.arange(100_001, dtype=np.float32)
    with process_pool(count, shared=(array,), isolated=True) as pool:
        found = list(pool.in_order(jobs(total, 1.0, 2.0, 3.0)))
        assert [path.name[:6] for path in tmp_path.iterdir()] == ["geomm-"]
    assert found == [float(array.sum()) * factor for factor in (1.0, 2.0, 3.0)]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing", "sequential"])
def test_backends_of_joblib_do_the_jobs(backend):
    import joblib

    with joblib.parallel_config(backend, n_jobs=2), process_pool(shared=(10,)) as pool:
        assert pool.width == 2
        assert list(pool.in_order(jobs(divmod, *range(1, 6)))) == [
            divmod(10, n) for n in range(1, 6)
        ]
        with pytest.raises(WorkError, match=r"^Job 0 failed: ZeroDivisionError"):
            list(pool.in_order(jobs(divmod, 0)))


def test_processes_share_the_cores(monkeypatch):
    for library in ("OPENBLAS", "MKL", "OMP"):
        monkeypatch.delenv(f"{library}_NUM_THREADS", raising=False)
    with process_pool(max(2, core_count())) as pool:
        (counts,) = pool.in_order(jobs(blas_threads, 0))
    assert counts and set(counts) == {1}


def test_numbers_of_jobs():
    assert job_count(None) == 1 and job_count(3) == 3 and job_count(-1) >= 1
    for jobs in (0, True, "2", 1.5):
        with pytest.raises(ParameterError, match="number of processes"):
            job_count(jobs)
    with pytest.raises(ParameterError, match="does not go with it"), process_pool(2, "tcp://x:1"):
        pass


SCRIPT = """
import os, sys, time
from pathlib import Path
from geomm_plugin.work import Job, process_pool
sys.path.insert(0, {folder!r})
from sleeper import sleep
with process_pool(2) as pool:  # without `if __name__ == "__main__"`
    print(list(pool.in_order(Job("Sleep", sleep, (t,)) for t in (0, {seconds}))))
"""
SLEEPER = """
import os, sys, time
def sleep(seconds):
    print(os.getpid(), file=sys.stderr, flush=True)
    time.sleep(seconds)
    return seconds
"""


def start_script(folder, seconds):
    (folder / "sleeper.py").write_text(SLEEPER)
    script = folder / "script.py"
    script.write_text(SCRIPT.format(folder=str(folder), seconds=seconds))
    return subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_scripts_need_no_guard(tmp_path):
    output, errors = start_script(tmp_path, 0).communicate(timeout=60)
    assert output == "[0, 0]\n" and len(errors.splitlines()) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux about processes")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_workers_end_with_their_parent(tmp_path, number):
    running = start_script(tmp_path, 600)
    workers = [int(running.stderr.readline()) for _ in range(2)]
    running.send_signal(number)
    running.communicate(timeout=60)
    for _ in range(200):
        alive = [pid for pid in workers if not has_ended(pid)]
        if not alive:
            break
        time.sleep(0.05)
    assert not alive


def has_ended(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


def test_processes_share_the_cores_unless_the_user_says_how_many_threads(monkeypatch):
    for library in ("OPENBLAS", "MKL", "OMP"):
        monkeypatch.delenv(f"{library}_NUM_THREADS", raising=False)
    assert threads_each(1) == core_count()
    assert threads_each(10 * core_count()) == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert threads_each(1) == threads_each(100) == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "")
    assert threads_each(1) == core_count()


def test_a_job_that_begins_while_the_processes_end_leaves_no_thread_with_an_error(monkeypatch):
    """loky looks late whether it is to end: by then the next job has come, and is forgotten."""
    from joblib.externals.loky import process_executor

    thread, failed = process_executor._ExecutorManagerThread, []
    process = thread.process_result_item
    monkeypatch.setattr(
        thread, "process_result_item", lambda self, item: (process(self, item), time.sleep(0.3))
    )
    monkeypatch.setattr(threading, "excepthook", failed.append)
    with pytest.raises(KeyboardInterrupt), process_pool(1, isolated=True) as pool:
        list(pool.as_completed([*jobs(stop, 0), *jobs(time.sleep, 60)]))
    assert failed == []
