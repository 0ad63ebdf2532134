"""[evaluate] How good a space is: tasks, the scores they give, and tables of them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from geomm_plugin.evaluation.calibration import Reliability, reliability
    from geomm_plugin.evaluation.comparison import compare
    from geomm_plugin.evaluation.outcome import Comparison
    from geomm_plugin.evaluation.table import Table
    from geomm_plugin.evaluation.task import Score, Task
    from geomm_plugin.evaluation.translation import Evaluation, Translation, evaluate

__all__ = [
    "Comparison",
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

_MODULES = {
    "Comparison": "outcome",
    "Evaluation": "translation",
    "Reliability": "calibration",
    "Score": "task",
    "Table": "table",
    "Task": "task",
    "Translation": "translation",
    "compare": "comparison",
    "evaluate": "translation",
    "reliability": "calibration",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is asked for."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
