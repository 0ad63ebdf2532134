"""[export] Aligned files: fit a mapper and write every language into the shared space."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from geomm_plugin.alignment.inspection import Finding, check
    from geomm_plugin.alignment.run import Alignment, align
    from geomm_plugin.alignment.space import aligned_space

__all__ = ["Alignment", "Finding", "align", "aligned_space", "check"]

_MODULES = {
    "Alignment": "run",
    "Finding": "inspection",
    "align": "run",
    "aligned_space": "space",
    "check": "inspection",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is asked for."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
