"""[evaluate] How good a space is: tasks, the scores they give, and tables of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from geomm_plugin.lazy import names_of
from geomm_plugin.registry.hookspecs import hookimpl

if TYPE_CHECKING:
    from geomm_plugin.evaluation.calibration import Reliability, reliability
    from geomm_plugin.evaluation.comparison import compare
    from geomm_plugin.evaluation.drift import Drift
    from geomm_plugin.evaluation.metrics import Metric
    from geomm_plugin.evaluation.outcome import Comparison
    from geomm_plugin.evaluation.table import Table
    from geomm_plugin.evaluation.task import Score, Task
    from geomm_plugin.evaluation.translation import Evaluation, Translation, evaluate

__all__ = [
    "Comparison",
    "Drift",
    "Evaluation",
    "Reliability",
    "Score",
    "Table",
    "Task",
    "Translation",
    "compare",
    "evaluate",
    "reliability",
]

__getattr__ = names_of(
    __name__,
    {
        "calibration": ("Reliability", "reliability"),
        "comparison": ("compare",),
        "drift": ("Drift",),
        "outcome": ("Comparison",),
        "table": ("Table",),
        "task": ("Score", "Task"),
        "translation": ("Evaluation", "Translation", "evaluate"),
    },
)


@hookimpl
def register_metrics() -> Iterable[Metric]:
    """The built-in metrics, loaded when one is asked for."""
    from geomm_plugin.evaluation.metrics import MRR, P_AT_1, P_AT_5, P_AT_10

    return [P_AT_1, P_AT_5, P_AT_10, MRR]


@hookimpl
def register_tasks() -> Iterable[type[Task]]:
    """The built-in tasks, loaded when one is asked for."""
    from geomm_plugin.evaluation.analogy import Analogy
    from geomm_plugin.evaluation.similarity import Similarity
    from geomm_plugin.evaluation.texts import Classify, Sentences
    from geomm_plugin.evaluation.translation import Translation

    return [Sentences, Classify, Translation, Similarity, Analogy]
