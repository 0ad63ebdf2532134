"""Tasks give the same results in the same order, whoever does them; errors are sentences."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from geomm_plugin.errors import FormatError, ParameterError, WorkError
from geomm_plugin.work import Task, core_count, job_count, open_workers, threads_each
from geomm_plugin.work.worker_process import WorkerProcess

WAYS = {
    "here": {"jobs": 1},
    "threads": {"jobs": 2, "kind": "threads"},
    "processes": {"jobs": 2},
    "more processes than tasks": {"jobs": 9},
}


def tasks(function, *values):
    return [Task(f"Task {value}", function, (value,)) for value in values]


def square(value):
    time.sleep(0.02 if value == 0 else 0)  # the first is done last
    return value * value


def refuse(value):
    raise FormatError(f"{value} is odd.") if value % 2 else ValueError(f"no {value}")


def end_once(path):
    """End this process the first time."""
    if not Path(path).exists():
        Path(path).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


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
    with open_workers(**way) as workers:
        assert list(workers.in_order(tasks(square, *range(20)))) == [n * n for n in range(20)]
        found = dict(workers.as_completed(tasks(square, *range(5))))
        assert found == {n: n * n for n in range(5)}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_our_errors_stay_what_they_are(way):
    with open_workers(**way) as workers, pytest.raises(FormatError, match="^3 is odd"):
        list(workers.in_order(tasks(refuse, 3)))


def test_other_errors_name_the_task_and_come_as_they_are_from_this_process():
    with open_workers(2) as workers:
        with pytest.raises(WorkError, match=r"^Task 4.* failed: ValueError: no 4"):
            list(workers.in_order(tasks(refuse, 4)))
        with pytest.raises(WorkError, match=r"^Task 4: Odd: ab"):
            list(workers.in_order(tasks(raise_odd_error, 4)))
    with open_workers() as workers, pytest.raises(ValueError, match="^no 4"):
        list(workers.in_order(tasks(refuse, 4)))


def test_a_killed_process_is_replaced_and_its_task_begun_again(tmp_path):
    with open_workers(2) as workers:
        results = workers.in_order(tasks(end_once, *(str(tmp_path / f"{n}") for n in range(5))))
        assert list(results) == ["done"] * 5


def test_a_task_that_always_ends_its_process_is_named():
    with open_workers(2) as workers:
        with pytest.raises(WorkError, match=r"^Task 3: its process ended \(EXIT\(3\), 3 times\)"):
            list(workers.in_order(tasks(end_always, 3)))
        assert list(workers.in_order(tasks(square, 2))) == [4], "the others go on"


def test_what_cannot_be_sent_is_a_sentence():
    with open_workers(2) as workers:
        with pytest.raises(WorkError, match="cannot be sent to another process"):
            list(workers.in_order([Task("A lambda", lambda: 3)]))
        assert list(workers.in_order(tasks(square, 2))) == [4]


def test_processes_have_one_blas_thread_each():
    with open_workers(2) as workers:
        (counts,) = workers.in_order(tasks(blas_threads, 0))
    assert counts and set(counts) == {1}


def test_an_executor_of_ones_own_is_used_and_left_open():
    with ThreadPoolExecutor(2) as executor:
        with open_workers(cluster=executor) as workers:
            assert list(workers.in_order(tasks(square, *range(9)))) == [n * n for n in range(9)]
        assert executor.submit(square, 3).result() == 9


def test_numbers_of_jobs():
    assert job_count(None) == 1 and job_count(3) == 3 and job_count(-1) >= 1
    for jobs in (0, True, "2", 1.5):
        with pytest.raises(ParameterError, match="number of processes"):
            job_count(jobs)
    with pytest.raises(ParameterError, match="does not go with it"), open_workers(2, "tcp://x:1"):
        pass


SCRIPT = """
import os, sys, time
from pathlib import Path
from geomm_plugin.work import Task, open_workers
sys.path.insert(0, {folder!r})
from sleeper import sleep
with open_workers(2) as workers:  # without `if __name__ == "__main__"`
    print(list(workers.in_order(Task("Sleep", sleep, (t,)) for t in (0, {seconds}))))
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


def test_a_worker_that_is_still_starting_does_not_hear_of_ctrl_c(tmp_path):
    """A terminal sends it to all processes; a traceback of each worker would follow."""
    (tmp_path / "sitecustomize.py").write_text("import time\ntime.sleep(1)\n")
    path = os.pathsep.join([str(tmp_path), *sys.path])
    worker = WorkerProcess(os.environ | {"PYTHONPATH": path})
    time.sleep(0.3)
    os.kill(worker._process.pid, signal.SIGINT)
    assert worker.do(os.getpid) == worker._process.pid
    os.kill(worker._process.pid, signal.SIGINT)
    assert worker.do(partial(signal.pthread_sigmask, signal.SIG_BLOCK, [])) == set()
    worker.close()
