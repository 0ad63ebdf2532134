"""Work in parts: in this process, in threads or processes, or on a cluster.

    with open_workers(jobs=4) as workers:
        for result in workers.in_order(Task(f"Part {n}", function, (n,)) for n in range(100)):
            ...

Behind it is a `concurrent.futures.Executor`. Results come in the order of the tasks, whoever did
them, so that sums and files that are made from them are the same for any number of workers.
"""

from geomm_plugin.work.crew import crew, crew_size, each_part, some_crew
from geomm_plugin.work.workers import (
    Cluster,
    Task,
    Workers,
    core_count,
    job_count,
    open_workers,
    threads_each,
)

__all__ = [
    "Cluster",
    "Task",
    "Workers",
    "core_count",
    "crew",
    "crew_size",
    "each_part",
    "job_count",
    "open_workers",
    "some_crew",
    "threads_each",
]
